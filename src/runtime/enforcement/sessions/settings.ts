import { parseDurationMs } from '../../../core/policy/compile/duration.ts';
import type { Store } from '../../../platform/store/index.ts';
import type { Config } from '../../config/index.ts';
import { readFingerprintSecret } from '../../policies/fingerprints.ts';
import { openValueIndex } from '../values/index.ts';
import { openSessionClock } from './clock.ts';
import type { SessionLimits, SessionPorts } from './types.ts';

/** Reads the session limits from the configuration. */
export function readSessionLimits({ idle_timeout, age_max }: Config['sessions']): SessionLimits {
  return { idle_ms: parseDurationMs(idle_timeout), age_ms: parseDurationMs(age_max) };
}

/** Opens the session ports of a process. Call it once, because its clock starts here. */
export function openSessionPorts(
  config: Pick<Config, 'sessions' | 'state_dir' | 'origin' | 'detection'>,
  store: () => Promise<Store>,
): SessionPorts {
  return {
    store,
    limits: readSessionLimits(config.sessions),
    timeOf: openSessionClock(),
    values: openValueIndex(() => readFingerprintSecret(config)),
  };
}
