import type { SessionLimits } from '../types.ts';

/** Twelve hours and seven days, as where nobody says otherwise. */
export const LIMITS: SessionLimits = { idle_ms: 12 * 3_600_000, age_ms: 7 * 86_400_000 };
