/** The lifetime of something that an operator grants: a capability token, a task. In milliseconds since 1970. */
export interface Lifetime {
  readonly begins_ms: number;
  readonly expires_ms: number;
  readonly revoked_ms: number | null;
}

/** The clock difference that is tolerated between machines with one store. */
const CLOCK_MS = 60_000;

/** Returns why a grant is not valid at this time; `null` if it is. */
export function findLifetimeEnd(
  { begins_ms, expires_ms, revoked_ms }: Lifetime,
  nowMs: number,
): 'revoked' | 'expired' | 'not_yet_valid' | null {
  if (revoked_ms !== null) return 'revoked';
  if (nowMs >= expires_ms) return 'expired';
  // If the clock was set back, the grant would live longer than its time to live.
  return nowMs < begins_ms - CLOCK_MS ? 'not_yet_valid' : null;
}

/** Returns a grant's state as lists show it. */
export function getLifetimeStatus(
  { expires_ms, revoked_ms }: Omit<Lifetime, 'begins_ms'>,
  nowMs: number,
): 'active' | 'expired' | 'revoked' {
  if (revoked_ms !== null) return 'revoked';
  return nowMs >= expires_ms ? 'expired' : 'active';
}
