import type { Store } from '../../platform/store/index.ts';
import type { MaintenanceJob } from '../../platform/store/maintenance.ts';
import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import { buildDetectorEvent } from './detector-event.ts';
import { deleteAllowedDetector, listAllowedDetectorRows } from './detector-store.ts';

const EVERY_MS = 5_000;

interface Parts {
  readonly store: () => Promise<Store>;
  readonly ports: () => Pick<EnforcementPorts, 'now_ms' | 'policy' | 'record' | 'new_event_id'>;
}

/** Builds the job that removes expired entries for detectors, and records each expiry. */
export function buildAllowlistJobs({ store, ports }: Parts): readonly MaintenanceJob[] {
  const run = async () => expireDetectors(await store(), ports());
  return [{ name: 'allowlist: expire detectors', every_ms: EVERY_MS, run }];
}

async function expireDetectors(
  { db, transaction }: Store,
  { now_ms: readClock, policy, record, new_event_id }: ReturnType<Parts['ports']>,
): Promise<boolean> {
  const nowMs = readClock();
  const expired = (await listAllowedDetectorRows(db)).filter(({ expires_ms }) => expires_ms <= nowMs);
  for (const row of expired)
    await transaction(async (trx) => {
      if (!(await deleteAllowedDetector(trx, row.id))) return;
      const event = buildDetectorEvent('allowlist_detector_expire', 'An allowlisted detector expired.', [
        row,
      ]);
      const own = { event_id: new_event_id(nowMs), now_ms: nowMs, caller_id: 'service:clock', done: true };
      await record(buildServiceEvent({ ...event, ...own, policy_hash: policy.hash }));
    });
  return false;
}
