import { parseDurationMs } from '../../../core/policy/compile/duration.ts';
import type { Store } from '../../../platform/store/index.ts';
import type { Config } from '../../config/index.ts';
import { openSessionClock } from './clock.ts';
import type { SessionLimits, SessionPorts } from './types.ts';

/** Reads the session limits from the configuration. */
export function readSessionLimits({ idle_timeout, age_max }: Config['sessions']): SessionLimits {
  return { idle_ms: parseDurationMs(idle_timeout), age_ms: parseDurationMs(age_max) };
}

/** Opens the session ports of a process. Call it once, because its clock starts here. */
export function openSessionPorts(
  { sessions }: Pick<Config, 'sessions'>,
  store: () => Promise<Store>,
): SessionPorts {
  return { store, limits: readSessionLimits(sessions), timeOf: openSessionClock() };
}
