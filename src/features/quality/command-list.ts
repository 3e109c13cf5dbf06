import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const qualityCommands: FeatureCommands = {
  commands: [
    {
      name: 'bench',
      summary: 'measure detection on labelled texts of your own',
      load: async () => (await import('./commands.ts')).defineBench,
    },
  ],
};
