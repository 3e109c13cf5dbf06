import { durationMs } from '../../core/compile/duration.ts';
import type { Config } from '../config/index.ts';
import type { SessionLimits } from './types.ts';

/** How long sessions are remembered, as the configuration says. */
export function sessionLimits({ idle, age_max }: Config['sessions']): SessionLimits {
  return { idle_ms: durationMs(idle), age_ms: durationMs(age_max) };
}
