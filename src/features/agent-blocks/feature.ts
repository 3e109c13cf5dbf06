import type { Feature } from '../../operations/feature.ts';
import { describeStoreFault } from '../../platform/store/lazy.ts';
import { followAgentBlocks, mirrorAgentBlocks, openAgentBlocks } from './agent-blocks.ts';
import { agentBlockMigrations } from './tables.ts';

export const agentBlocksFeature: Feature = {
  migrations: agentBlockMigrations,
  open: ({ config: { state_dir }, store, ports }) => ({
    members: { agentBlocks: async () => openAgentBlocks({ state_dir, store, ports }) },
  }),
  copyToState: mirrorAgentBlocks,
  openBackground: ({ config: { state_dir }, store, log }) =>
    followAgentBlocks({ state_dir, store }, (fault) =>
      log.error(
        'the list of blocked agents could not be read from the store, and stays as it was',
        describeStoreFault(fault),
      ),
    ),
};
