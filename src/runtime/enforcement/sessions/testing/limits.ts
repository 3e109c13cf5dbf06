import type { SessionLimits } from '../types.ts';

/** The default limits: twelve hours and seven days. */
export const LIMITS: SessionLimits = { idle_ms: 12 * 3_600_000, age_ms: 7 * 86_400_000 };
