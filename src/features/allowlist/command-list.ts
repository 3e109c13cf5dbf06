import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const allowlistCommands: FeatureCommands = {
  commands: [
    {
      name: 'allow',
      summary: 'allow the findings of a detector for a time',
      load: async () => (await import('./commands.ts')).defineAllow,
    },
  ],
};
