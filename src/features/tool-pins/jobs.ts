import type { Store } from '../../platform/store/index.ts';
import type { MaintenanceJob } from '../../platform/store/maintenance.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import { deleteOldSnapshots } from './tool-list-snapshots.ts';

const EVERY_MS = 30 * 60_000;

interface Parts {
  readonly store: () => Promise<Store>;
  readonly ports: () => Pick<EnforcementPorts, 'now_ms'>;
}

/** Returns the job that deletes old tool list snapshots. */
export function buildToolPinJobs({ store, ports }: Parts): readonly MaintenanceJob[] {
  const run = async () => deleteOldSnapshots((await store()).db, ports().now_ms());
  return [{ name: 'mcp: forget old looks', every_ms: EVERY_MS, run }];
}
