import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const costCommands: FeatureCommands = {
  commands: [
    {
      name: 'cost',
      summary: 'show what model calls cost and what is left of budgets',
      load: async () => (await import('./commands.ts')).defineCost,
    },
  ],
};
