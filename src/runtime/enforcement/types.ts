import type { Crossing, Fingerprinter, Verdict } from '../../core/types/index.ts';
import type { AuditPorts } from '../audit/audit-ports.ts';
import type { AuditEvent } from '../audit/types.ts';
import type { Endpoint } from '../observability/endpoint.ts';
import type { Telemetry } from '../observability/telemetry/types.ts';
import type { FindAgentBlock } from './agent-blocks/agent-list.ts';
import type { ApprovalState, ResolveApproval } from './approvals/types.ts';
import type { SessionPorts } from './sessions/types.ts';

/** What `enforce` gives back: the verdict, and where it is written down. */
export interface Ruling {
  readonly verdict: Verdict;
  /** The request for approval that it depends on; `null` where nobody is asked. */
  readonly approval: ApprovalState | null;
  readonly event_id: string;
  /** Whole milliseconds that `judge` took, rounded. */
  readonly scan_duration_ms: number;
}

/** What `enforce` needs of the world; the service, the hook and a test each bring their own. */
export interface EnforcementPorts extends AuditPorts {
  /** Made with the key of the fingerprints; without it no value is known by one. */
  readonly fingerprintOf?: Fingerprinter | null;
  /** Which redacted texts stand in the audit trail, visibly; without it, none. */
  readonly logged_texts?: { readonly inputs: boolean; readonly outputs: boolean };
  /** Settles what asks for approval; without it that stays a block. Must not reject. */
  readonly resolveApproval?: ResolveApproval | undefined;
  /** Finds the agents that an operator has blocked; without it none is. */
  readonly findAgentBlock?: FindAgentBlock;
  /** Told of every ruling, and the seconds that `judge` took. Must not throw. */
  readonly onRuling?: (ruling: Ruling, crossing: Crossing, endpoint: Endpoint, scan_seconds: number) => void;
  /** Told of every ruling for a collector; `null` or absent where telemetry is off. */
  readonly telemetry?: Pick<Telemetry, 'recordCheck'> | null;
  /** What keeps sessions and counts calls; without it nothing that depends on them goes through. */
  readonly sessions?: SessionPorts;
  /** Told why a session could not be read or kept, for the log of the service. Must not throw. */
  readonly onSessionFault?: (fault: unknown) => void;
  /** Told why an event could not be recorded, for the log of the service. Must not throw. */
  readonly onRecordFault?: (fault: unknown) => void;
}

/** What an event says beside its decision, and which approvals count. */
export interface EnforcementExtras {
  /** Stands in the event's metadata: values of ours, or names in which nothing was found. */
  readonly buildMetadata?: (verdict: Verdict) => AuditEvent['metadata'];
  /** Whether an approved request for exactly this crossing counts where the caller names none that is for it. */
  readonly reuse_approval?: boolean;
  /** Stands for the name of the tool in everything that is recorded, where something was found in the name. */
  readonly recorded_tool?: string;
}
