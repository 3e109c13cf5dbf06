import type {
  Action,
  Boundary,
  Content,
  Crossing,
  Decision,
  FingerprintOf,
  Json,
  MemoryField,
  MemorySchema,
  Policy,
  Tag,
  Verdict,
} from '../core/types/index.ts';
import type { JsonSource } from '../core/types/json.ts';
import type { FindAgentBlock } from './agent-blocks/list-file.ts';
import type { AgentBlocks } from './agent-blocks/types.ts';
import type { ApprovalState, Approvals, Settle } from './approvals/types.ts';
import type { Activity, ActivityAsked } from './audit/activity.ts';
import type { Capabilities } from './capabilities/types.ts';
import type { Costs } from './costs/types.ts';
import type { EventStream } from './events/types.ts';
import type { Forwarder } from './forward/envelope.ts';
import type { PluginsInUse } from './plugins/types.ts';
import type { Secrets } from './secrets/secrets.ts';
import type { ResetTarget, SessionPorts } from './sessions/types.ts';
import type { Store } from './store/index.ts';
import type { Telemetry } from './telemetry/types.ts';

/** What a caller may ask for. `person` permissions are never given to an agent's credential. */
export const PERMISSIONS = [
  'check',
  'memory:use',
  'policy:read',
  'audit:read_own',
  'audit:read',
  'metrics:read',
  'policy:reload',
  'memory:purge',
  'approvals:own',
  'approvals:read',
  'approvals:decide',
  'capabilities:read',
  'capabilities:issue',
  'secrets:resolve',
  'secrets:check',
  'sessions:reset',
  'agents:block',
  'costs:own',
  'costs:read',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The permissions that decide and change; only a person's credential carries them. */
export const PERSON_PERMISSIONS: readonly Permission[] = [
  'policy:reload',
  'memory:purge',
  'approvals:decide',
  'capabilities:issue',
  'secrets:check',
  'sessions:reset',
  'agents:block',
];

/** Who asks, as far as a credential or an address proves it. */
export interface Caller {
  /** `loopback`, `operator`, `agent-token`, `key:<id>`, `jwt:<subject>`, `cli:<user>`, `mcp:<user>`. Recorded as `caller_id`. */
  readonly id: string;
  readonly kind: 'anonymous' | 'agent' | 'person';
  readonly permissions: readonly Permission[];
  /** Which tenants and agents it may name; `*` any. */
  readonly tenants: '*' | readonly string[];
  readonly agents: '*' | readonly string[];
}

/** What somebody is who looks at the service. */
export const ROLES = ['viewer', 'auditor', 'approver', 'billing', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Somebody who may look, as the configuration names them. */
export interface User {
  readonly user_id: string;
  readonly role: Role;
  /** Tenants that they see; `*` among them: all. */
  readonly tenants: readonly string[];
}

/** One line of the audit trail: what was decided, never what the text was. Plain JSON. */
export interface AuditEvent {
  /** `evt_` and 24 hex digits, which sort by time. */
  readonly event_id: string;
  /** ISO 8601, UTC, milliseconds: `2026-01-31T12:00:00.000Z`. */
  readonly timestamp: string;
  readonly boundary: Boundary | 'memory';
  readonly decision: Decision;
  readonly action: Action;
  /** The rule that decided. */
  readonly policy_name: string;
  readonly reason: string;
  readonly data_tags: readonly Tag[];
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly tool_name: string | null;
  readonly session_id: string | null;
  readonly source_agent_id: string | null;
  readonly destination_agent_id: string | null;
  readonly caller_id: string;
  /** `sha256:` and hex over the canonical JSON (RFC 8785) of the fields that `contextHash` names. */
  readonly context_hash: string;
  readonly policy_hash: string;
  readonly coverage: 'full' | 'partial';
  /** `phase` and what else belongs to the event; strings, numbers and booleans, or lists of strings. */
  readonly metadata: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
}

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
export interface Ports {
  readonly policy: Policy;
  /** Made with the key of the fingerprints; without it no value is known by one. */
  readonly fingerprintOf?: FingerprintOf | null;
  readonly now_ms: () => number;
  readonly new_event_id: (now_ms: number) => string;
  /** Resolves when the event is durable. A rejection becomes a block. */
  readonly record: (event: AuditEvent) => Promise<void>;
  /** Which redacted texts stand in the audit trail, visibly; without it, none. */
  readonly logged?: { readonly inputs: boolean; readonly outputs: boolean };
  /** Settles what asks for approval; without it that stays a block. Must not reject. */
  readonly settle?: Settle | undefined;
  /** Finds the agents that an operator has blocked; without it none is. */
  readonly findAgentBlock?: FindAgentBlock;
  /** Told of every ruling, and the seconds that `judge` took. Must not throw. */
  readonly observe?: (ruling: Ruling, crossing: Crossing, endpoint: Endpoint, scan_seconds: number) => void;
  /** Told of every ruling for a collector; `null` or absent where telemetry is off. */
  readonly telemetry?: Pick<Telemetry, 'checked'> | null;
  /** What keeps sessions and counts calls; without it nothing that depends on them goes through. */
  readonly sessions?: SessionPorts;
  /** Told why a session could not be read or kept, for the log of the service. Must not throw. */
  readonly unkept?: (fault: unknown) => void;
  /** Told why an event could not be recorded, for the log of the service. Must not throw. */
  readonly unrecorded?: (fault: unknown) => void;
}

/** What an event says beside its decision, and which approvals count. */
export interface Extras {
  /** Stands in the event's metadata: values of ours, or names in which nothing was found. */
  readonly about?: (verdict: Verdict) => AuditEvent['metadata'];
  /** Whether an approved request for exactly this crossing counts where the caller names none that is for it. */
  readonly reuse_approval?: boolean;
  /** Stands for the name of the tool in everything that is recorded, where something was found in the name. */
  readonly shown_tool?: string;
}

/** Filters of an audit query; all are joined with AND. Times are ISO 8601 or durations, see `query`. */
export interface AuditFilter {
  readonly boundary?: string;
  readonly action?: string;
  readonly decision?: string;
  readonly policy_name?: string;
  readonly agent_id?: string;
  readonly tool_name?: string;
  /** Finds the tag and its descendants. */
  readonly data_tag?: string;
  readonly phase?: string;
  readonly session_id?: string;
  readonly event_id?: string;
  readonly source_agent_id?: string;
  readonly destination_agent_id?: string;
  readonly tenant_id?: string;
  readonly caller_id?: string;
  readonly metadata_key?: string;
  readonly metadata_value?: string;
  /** A rule in monitor mode that would have acted; `*` for any. */
  readonly monitored?: string;
  readonly since?: string;
  readonly until?: string;
  /** `15m`, `24h`, `7d`: overrides `since` and `until`. */
  readonly last?: string;
  readonly limit?: number;
  readonly newest_first?: boolean;
  /** Where a page before ended (`next_cursor`); empty for the first of several pages. */
  readonly cursor?: string;
  /** What the caller may read: the events that count as searched if none matches. Everything, if it is left out. */
  readonly scope?: Readonly<Partial<Record<'tenant_id' | 'agent_id' | 'caller_id', string>>>;
}

export interface AuditPage {
  readonly events: readonly AuditEvent[];
  readonly count: number;
  /** Where the next page begins; `null` or absent where there are no more events. It survives a rebuild of the index. */
  readonly next_cursor?: string | null;
  /** The number of events in the time range and scope, if no event matches and the query is not paged. */
  readonly events_searched?: number;
}

/** Why a reload failed: the configuration or a policy is not valid, or the service could not exchange it. */
export type ReloadFailure = 'policy_invalid' | 'reload_failed';

/** What a reload came to. A refusal keeps the policy that was there, everywhere. */
export type ReloadReport =
  | {
      readonly reloaded: true;
      readonly policy_hash: string;
      readonly generation: number;
      readonly changed: boolean;
      readonly warnings: readonly string[];
    }
  | {
      readonly reloaded: false;
      readonly policy_hash: string;
      readonly problems: readonly { file: string; path: string; message: string }[];
    };

/**
 * What operations reach. One per process that answers: a worker, the parent behind its socket, or a command
 * line that runs without a service. Whatever it reports holds for the whole service, not for one worker.
 */
export interface Runtime {
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
    extras?: Extras,
  ) => Promise<Ruling>;
  /** Loaded and opened with the first question. */
  readonly approvals: () => Promise<Approvals>;
  /** Prices, budgets and what was spent. Loaded with the first question. */
  readonly costs: () => Promise<Costs>;
  /**
   * What is remembered beside the journal. Rejects with a `StoreFailure` while it cannot be had; an operation need
   * not catch that one, nor those of the store's own questions.
   */
  readonly store: () => Promise<Store>;
  /** What watches for an OpenTelemetry collector; `null` where telemetry is off. */
  readonly telemetry: Telemetry | null;
  /** Tokens that let agents do one thing for a while. Loaded with the first question. */
  readonly capabilities: () => Promise<Capabilities>;
  /** The secret backend; `null` where none is configured. */
  readonly secrets: {
    readonly backend: 'env' | 'vault' | 'cloud' | 'plugin';
    /** Rejects with a `SecretUnread` where it cannot be opened; it is tried again with the next question. */
    readonly open: () => Promise<Secrets>;
  } | null;
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
  readonly resetSession: (target: ResetTarget, caller: Caller) => Promise<number>;
  /** Why the last policy reload failed; \`null\` if it did not, or if the service does not answer in time. */
  readonly reloadFailure: () => Promise<ReloadFailure | null>;
  /** The kill switch of agents. Rejects where the store cannot be opened. */
  readonly agentBlocks: () => Promise<AgentBlocks>;
  /** Sees every event whose answer was given before the call. */
  readonly queryAudit: (filter: AuditFilter) => Promise<AuditPage>;
  /** Who did something lately; sees what `queryAudit` sees. */
  readonly activity: (asked: ActivityAsked) => Promise<Activity>;
  /** What happens, as it happens; loaded with the first reader. `null` where no audit trail is kept, for it is read from that. */
  readonly events: (() => Promise<EventStream>) | null;
  /** What agents remember. Loaded with the first call that asks for it. */
  readonly memory: () => Promise<Memory>;
  /** Single calls to what stands behind the service. Loaded with the first one. */
  readonly forward: () => Promise<Forwarder>;
}

/** What agents may ask of their memory. All is written down before it is answered; all rejects with `Unavailable`. */
export interface Memory {
  readonly write: (asking: MemoryAsking, caller: Caller, request: MemoryWrite) => Promise<MemoryWritten>;
  /** One key: its value, or for an encrypted field the handle in its place. */
  readonly readKey: (
    asking: MemoryAsking,
    caller: Caller,
    key: string,
    schema: string | null,
  ) => Promise<MemoryRead>;
  /** All that there is, without values. */
  readonly list: (
    asking: MemoryAsking,
    caller: Caller,
    schema: string | null,
    limit: number,
  ) => Promise<MemoryRead>;
  readonly resolve: (asking: MemoryAsking, caller: Caller, handle_id: string) => Promise<MemoryRead>;
  /** Deletes what has expired, of all agents; gives how many entries. */
  readonly purge: (caller: Caller) => Promise<number>;
}

/** Whose memory is asked for, and by whom, after the credential's scope had its say. */
export interface MemoryAsking {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly user_id: string | null;
  readonly source_agent_id: string | null;
  readonly destination_agent_id: string | null;
}

export interface MemoryWrite {
  readonly key: string;
  readonly value: Json;
  /** The text that the value was sent as; without it, it is as `JSON.stringify` writes it. */
  readonly source?: JsonSource;
  /** The memory document; `null` takes the first that has the key. */
  readonly schema: string | null;
  readonly declared_tags: readonly Tag[];
}

/** What came of a write. Nothing is stored where `entry` is `null`. */
export interface MemoryWritten {
  readonly ruling: Ruling;
  /** For the places of findings in an answer. */
  readonly crossing: Crossing;
  readonly entry: { readonly entry_id: string; readonly expires_at_ms: number } | null;
  /** What was stored instead of the value, where the policy changed it. */
  readonly changed: Content | null;
}

/** What came of a read or of a handle. */
export interface MemoryRead {
  readonly ruling: Ruling;
  readonly crossing: Crossing;
  /** The value as the policy lets it be; `null` where none is given, for no field holds `null`. */
  readonly value: Json;
  readonly entries: readonly MemoryListed[];
  /** There are more than were asked for. */
  readonly truncated: boolean;
  /** Required fields that have no entry. */
  readonly missing: readonly string[];
}

/** An entry without its value. */
export interface MemoryListed {
  readonly entry_id: string;
  readonly schema_name: string;
  readonly scope: MemorySchema['scope'];
  readonly field: MemoryField;
  readonly data_tags: readonly Tag[];
  readonly value_bytes: number;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
}

/** The metric label of a check. */
export type Endpoint =
  | 'scan_input'
  | 'scan_structured'
  | 'scan_file'
  | 'guard_output'
  | 'intercept_tool'
  | 'intercept_agent_message'
  | 'secrets_resolve'
  | 'memory_write'
  | 'memory_read'
  | 'memory_resolve_handle'
  | 'llm_request'
  | 'llm_response'
  | 'llm_tool_call'
  | 'llm_tool_result'
  | 'proxy_forward';
