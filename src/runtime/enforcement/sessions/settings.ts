import { parseDurationMs } from '../../../core/policy/compile/duration.ts';
import type { Store } from '../../../platform/store/index.ts';
import type { Config } from '../../config/index.ts';
import { openSessionClock } from './clock.ts';
import type { SessionLimits, SessionPorts } from './types.ts';

/** How long sessions are remembered, as the configuration says. */
export function readSessionLimits({ idle_timeout, age_max }: Config['sessions']): SessionLimits {
  return { idle_ms: parseDurationMs(idle_timeout), age_ms: parseDurationMs(age_max) };
}

/** What one process needs to keep sessions; made once, for its clock runs from then on. */
export function openSessionPorts(
  { sessions }: Pick<Config, 'sessions'>,
  store: () => Promise<Store>,
): SessionPorts {
  return { store, limits: readSessionLimits(sessions), timeOf: openSessionClock() };
}
