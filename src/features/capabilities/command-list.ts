import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const capabilityCommands: FeatureCommands = {
  commands: [
    {
      name: 'capabilities',
      summary: 'issue, list and revoke capability tokens of agents',
      load: async () => (await import('./commands.ts')).defineCapabilities,
    },
  ],
};
