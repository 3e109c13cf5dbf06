import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const secretCommands: FeatureCommands = {
  commands: [
    {
      name: 'secrets',
      summary: 'check whether the secret backend answers',
      load: async () => (await import('./commands.ts')).defineSecrets,
    },
  ],
};
