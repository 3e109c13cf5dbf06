import type { Store } from '../../platform/store/index.ts';
import type { MaintenanceJob } from '../../platform/store/maintenance.ts';
import type { Config } from '../../runtime/config/index.ts';
import { openSessionClock } from '../../runtime/enforcement/sessions/clock.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import { chargeExpiredReservations, deleteOldCosts } from './expiry.ts';

const BOOK_EVERY_MS = 15_000;
const FORGET_EVERY_MS = 10 * 60_000;

interface Parts {
  readonly config: Pick<Config, 'cost'>;
  readonly store: () => Promise<Store>;
  readonly ports: () => Pick<EnforcementPorts, 'now_ms'>;
}

/**
 * Returns the jobs that charge expired reservations and delete old rows. They use a session clock, so a system clock
 * that is set forward by mistake does not age all rows at once.
 */
export function buildCostJobs({ config: { cost }, store, ports }: Parts): readonly MaintenanceJob[] {
  const timeOf = openSessionClock();
  const nowMs = () => timeOf(ports().now_ms());
  return [
    {
      name: 'costs: charge expired reservations',
      every_ms: BOOK_EVERY_MS,
      run: async () => chargeExpiredReservations(await store(), nowMs()),
    },
    {
      name: 'costs: forget what is old',
      every_ms: FORGET_EVERY_MS,
      run: async () => deleteOldCosts(await store(), cost.retention_days, nowMs()),
    },
  ];
}
