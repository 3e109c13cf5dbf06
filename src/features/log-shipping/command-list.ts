import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const logShippingCommands: FeatureCommands = {
  loadShipping: () => import('./commands.ts'),
};
