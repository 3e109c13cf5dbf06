import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const complianceCommands: FeatureCommands = {
  commands: [
    {
      name: 'compliance',
      summary: 'report on controls of a framework, with evidence and gaps',
      load: async () => (await import('./commands.ts')).defineCompliance,
    },
  ],
};
