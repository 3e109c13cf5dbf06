import type { Store } from '../../platform/store/index.ts';
import type { MaintenanceJob } from '../../platform/store/maintenance.ts';
import { copyLegalHolds } from './hold-store.ts';

const EVERY_MS = 30_000;

interface Parts {
  readonly config: { readonly state_dir: string };
  readonly store: () => Promise<Store>;
}

/**
 * Returns the job that copies legal holds from the store into the state folder, so that a hold that another node added is
 * respected here. Retention deletes nothing while the copy is not recent.
 */
export function buildEvidenceJobs({ config, store }: Parts): readonly MaintenanceJob[] {
  return [
    {
      name: 'evidence: copy legal holds',
      every_ms: EVERY_MS,
      runs_on_each_node: true,
      run: async () => {
        await copyLegalHolds(config.state_dir, await store(), Date.now());
        return false;
      },
    },
  ];
}
