import type { Chore } from '../../../platform/store/housekeeping.ts';
import type { Store } from '../../../platform/store/index.ts';
import type { EventPorts } from '../../audit/event-ports.ts';
import type { Config } from '../../config/index.ts';
import { sessionClock } from './clock.ts';
import { forgetSessions } from './forget.ts';
import { sessionLimits } from './settings.ts';

const EVERY_MS = 5 * 60_000;

interface Parts {
  readonly config: Pick<Config, 'sessions'>;
  readonly store: () => Promise<Store>;
  readonly ports: () => Pick<EventPorts, 'now_ms'>;
}

/** Removes what has expired. Nobody reads it any more; it only takes room. */
export function sessionChores({ config, store, ports }: Parts): readonly Chore[] {
  const limits = sessionLimits(config.sessions);
  const timeOf = sessionClock();
  return [
    {
      name: 'sessions: forget what has expired',
      every_ms: EVERY_MS,
      run: async () => forgetSessions(await store(), limits, timeOf(ports().now_ms())),
    },
  ];
}
