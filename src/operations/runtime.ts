import type { Crossing, Policy } from '../core/types/index.ts';
import type { Store } from '../platform/store/index.ts';
import type { Caller, User } from '../runtime/access/types.ts';
import type { EventStream } from '../runtime/audit/events/types.ts';
import type { AuditEvent, AuditQueries } from '../runtime/audit/types.ts';
import type { AgentBlocks } from '../runtime/enforcement/agent-blocks/types.ts';
import type { Approvals } from '../runtime/enforcement/approvals/types.ts';
import type { Capabilities } from '../runtime/enforcement/capabilities/types.ts';
import type { SessionResetTarget } from '../runtime/enforcement/sessions/types.ts';
import type { EnforcementExtras, Ruling } from '../runtime/enforcement/types.ts';
import type { Endpoint } from '../runtime/observability/endpoint.ts';
import type { Telemetry } from '../runtime/observability/telemetry/types.ts';
import type { PluginsInUse } from '../runtime/plugins/types.ts';
import type { ReloadFailure, ReloadReport } from '../runtime/policies/reload-report.ts';

/**
 * What operations reach. One per process that answers: a worker, the parent behind its socket, or a command
 * line that runs without a service. Whatever it reports holds for the whole service, not for one worker. A feature
 * adds what its operations need to this interface, next to its own types (`declare module`).
 */
export interface Runtime extends AuditQueries {
  readonly version: string;
  readonly mode: 'sidecar' | 'gateway';
  /** Milliseconds since 1970 at which the service started. */
  readonly started_ms: number;
  readonly limits: {
    readonly body_bytes_max: number;
    /** Folders from which files may be read for a caller. */
    readonly file_roots: readonly string[];
    /** The service's own state, from which none is, whatever the roots are. */
    readonly state_dir: string;
  };
  readonly now_ms: () => number;
  /** Who may look; empty: those whom everybody has. */
  readonly users: readonly User[];
  /** The policy in force. A request takes it once and keeps it. */
  readonly policy: () => Policy;
  /** The policy with that hash: the one in force, or one that was saved when it was; `null` where it is gone. */
  readonly policyOf: (hash: string) => Promise<Policy | null>;
  /** Judge and record. Never rejects: a fault is a verdict that blocks. */
  readonly enforce: (
    crossing: Crossing,
    caller: Caller,
    endpoint: Endpoint,
    approval_request_id?: string | null,
    extras?: EnforcementExtras,
  ) => Promise<Ruling>;
  /** Loaded and opened with the first question. */
  readonly approvals: () => Promise<Approvals>;
  /**
   * What is remembered beside the journal. Rejects with a `StoreFailure` while it cannot be had; an operation need
   * not catch that one, nor those of the store's own questions.
   */
  readonly store: () => Promise<Store>;
  /** What watches for an OpenTelemetry collector; `null` where telemetry is off. */
  readonly telemetry: Telemetry | null;
  /** Tokens that let agents do one thing for a while. Loaded with the first question. */
  readonly capabilities: () => Promise<Capabilities>;
  /** Writes down what no crossing tells of. Rejects with `Unavailable` where the journal refuses. */
  readonly note: (event: AuditEvent) => Promise<void>;
  /** `true` when all stores are open and answer. */
  readonly ready: () => Promise<boolean>;
  /** Agent ids seen by any worker since the start, sorted, at most 1,000. */
  readonly agentsSeen: () => Promise<readonly string[]>;
  /** The metrics of all workers, in the text format 0.0.4. */
  readonly metricsText: () => Promise<string>;
  /** The plug-ins of the configuration, and the templates that they bring. */
  readonly plugins: () => Promise<PluginsInUse>;
  readonly reload: (caller: Caller) => Promise<ReloadReport>;
  /** Forgets what sessions have read, and gives how many had read something; durable when it resolves. */
  readonly resetSession: (target: SessionResetTarget, caller: Caller) => Promise<number>;
  /** Why the last policy reload failed; \`null\` if it did not, or if the service does not answer in time. */
  readonly reloadFailure: () => Promise<ReloadFailure | null>;
  /** The kill switch of agents. Rejects where the store cannot be opened. */
  readonly agentBlocks: () => Promise<AgentBlocks>;
  /** What happens, as it happens; loaded with the first reader. `null` where no audit trail is kept, for it is read from that. */
  readonly events: (() => Promise<EventStream>) | null;
}
