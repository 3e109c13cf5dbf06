import type { Policy } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import type { CapabilityParts } from '../capabilities.ts';

/** A clock that a test sets, and the recorded events. */
export interface CapabilityWorld {
  readonly parts: CapabilityParts;
  readonly clock: { now_ms: number };
  readonly events: AuditEvent[];
  /** Makes the journal fail. */
  readonly journal: { refuses: boolean };
}

/**
 * Returns the dependencies of tokens over a store. The clock is the machine's until a test sets another time.
 */
export function createCapabilityParts(store: Store, limits: Partial<CapabilityParts> = {}): CapabilityWorld {
  const events: AuditEvent[] = [];
  const clock = { now_ms: Date.now() };
  const journal = { refuses: false };
  const ports = {
    policy: { hash: 'sha256:0' } as Policy,
    now_ms: () => clock.now_ms,
    record: async (event: AuditEvent) => {
      if (journal.refuses) throw new Error('the journal refuses');
      events.push(event);
    },
  };
  const parts: CapabilityParts = {
    store: async () => store,
    ports: () => ports,
    ttl_default_ms: 600_000,
    ttl_max_ms: 3_600_000,
    active_max: 1_000_000,
    steady_ms: () => clock.now_ms,
    ...limits,
  };
  return { parts, clock, events, journal };
}
