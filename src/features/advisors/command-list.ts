import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const advisorCommands: FeatureCommands = {
  commands: [
    {
      name: 'intelligence',
      summary: 'get proposals from the advisory layer (off by default)',
      load: async () => (await import('./commands/index.ts')).defineIntelligence,
    },
  ],
};
