import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const taskCommands: FeatureCommands = {
  commands: [
    {
      name: 'tasks',
      summary: 'create, list and revoke tasks of agents',
      load: async () => (await import('./commands.ts')).defineTasks,
    },
  ],
};
