import type { Store } from '../../../platform/store/index.ts';
import type { MaintenanceJob } from '../../../platform/store/maintenance.ts';
import type { AuditPorts } from '../../audit/service-event.ts';
import type { Config } from '../../config/index.ts';
import { openSessionClock } from './clock.ts';
import { deleteExpiredSessions } from './expiry.ts';
import { readSessionLimits } from './settings.ts';

const EVERY_MS = 5 * 60_000;

interface Parts {
  readonly config: Pick<Config, 'sessions'>;
  readonly store: () => Promise<Store>;
  readonly ports: () => Pick<AuditPorts, 'now_ms'>;
}

/** Builds the job that deletes expired sessions, which only take space. */
export function buildSessionJobs({ config, store, ports }: Parts): readonly MaintenanceJob[] {
  const limits = readSessionLimits(config.sessions);
  const timeOf = openSessionClock();
  return [
    {
      name: 'sessions: forget what has expired',
      every_ms: EVERY_MS,
      run: async () => deleteExpiredSessions(await store(), limits, timeOf(ports().now_ms())),
    },
  ];
}
