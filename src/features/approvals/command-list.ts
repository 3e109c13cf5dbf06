import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const approvalCommands: FeatureCommands = {
  commands: [
    {
      name: 'approvals',
      summary: 'list and decide approval requests',
      load: async () => (await import('./commands.ts')).defineApprovals,
    },
  ],
};
