import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const consoleCommands: FeatureCommands = {
  commands: [
    {
      name: 'check',
      summary: 'decide on a tool call without making it',
      load: async () => (await import('./check-command.ts')).defineCheck,
    },
    {
      name: 'observe',
      summary: 'show what agents and sessions did',
      load: async () => (await import('./observe-commands.ts')).defineObserve,
    },
  ],
};
