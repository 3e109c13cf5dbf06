import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const evidenceCommands: FeatureCommands = {
  loadPacks: () => import('./pack-commands.ts'),
};
