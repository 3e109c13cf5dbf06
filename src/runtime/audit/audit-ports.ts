import type { Policy } from '../../core/types/index.ts';
import type { AuditEvent } from './types.ts';

/** The dependencies of a component that writes audit events of its own. */
export interface AuditPorts {
  readonly policy: Policy;
  readonly now_ms: () => number;
  readonly new_event_id: (now_ms: number) => string;
  /** Resolves when the event is durable. A rejection becomes a block. */
  readonly record: (event: AuditEvent) => Promise<void>;
}
