import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const alertCommands: FeatureCommands = {
  commands: [
    {
      name: 'alerts',
      summary: 'manage alert rules, alerts and their deliveries',
      load: async () => (await import('./commands.ts')).defineAlerts,
    },
  ],
};
