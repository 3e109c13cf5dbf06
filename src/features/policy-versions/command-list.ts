import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const policyVersionCommands: FeatureCommands = {
  commands: [
    {
      name: 'wrong',
      summary: 'collect a wrong decision as a test case',
      load: async () => (await import('./wrong-command.ts')).defineWrong,
    },
  ],
};
