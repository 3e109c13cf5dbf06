import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import type { Policy } from '../../core/types/index.ts';
import { type EventBus, openLocalBus } from '../../platform/cluster/event-bus.ts';
import type { Store } from '../../platform/store/index.ts';
import type { AuditPorts } from '../../runtime/audit/service-event.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { Config } from '../../runtime/config/index.ts';
import { readFingerprintSecret } from '../../runtime/policies/fingerprints.ts';
import type { ApprovalLinks } from './link.ts';

/** The limits of pending and stored requests. */
export interface ApprovalLimits {
  readonly ttl_ms_max: number;
  readonly pending_max: number;
  readonly pending_per_agent_max: number;
  readonly arguments_bytes_max: number;
  readonly keep_ms: number;
  /** The age of a second factor up to which it counts for an approval. */
  readonly second_factor_ms_max: number;
  /** The longest lifetime of a grant. */
  readonly grant_ttl_ms_max: number;
  /** The most uses of a grant. */
  readonly grant_uses_max: number;
  /** Active grants for one agent. */
  readonly grants_per_agent_max: number;
}

/** The dependencies of approvals. */
export interface ApprovalsParts {
  readonly store: () => Promise<Store>;
  /** Resolves when the event is durable. */
  readonly record: (event: AuditEvent) => Promise<void>;
  readonly now_ms: () => number;
  readonly limits: ApprovalLimits;
  /** The active policy: its detectors mask comments, and it sets the style of masks. */
  readonly policy: () => Policy;
  /** True if a webhook is configured. Without one, no message is queued. */
  readonly has_webhook: boolean;
  /** Builds the links in messages about pending requests; `null` leaves them out. */
  readonly links: Pick<ApprovalLinks, 'build'> | null;
  /** Returns the secret from which the keys of argument hashes are derived. */
  readonly secret: () => string;
  /** Notifies waiting callers in all processes and nodes. */
  readonly bus: Pick<EventBus, 'publish' | 'subscribe'>;
  /** Receives a message and its cause for the service log. Must not throw. */
  readonly reportFault: ReportFault;
}

/** No configuration makes grants live longer. */
const GRANT_TTL_MS_LIMIT = 30 * 86_400_000;

/** Reads the secret once, when the first value is hashed. */
function createSecretReader(config: Config): () => string {
  let secret: string | null = null;
  return () => {
    secret ??= readFingerprintSecret(config);
    return secret;
  };
}

export type ReportFault = (what: string, fault?: unknown) => void;

/** The parts of a process from which the dependencies are built. */
export interface ApprovalsEnvironment {
  readonly config: Config;
  readonly store: () => Promise<Store>;
  /** Returns the active ports; a reload replaces them. */
  readonly ports: () => Pick<AuditPorts, 'record' | 'now_ms' | 'policy'>;
  readonly links?: Pick<ApprovalLinks, 'build'>;
  /** Absent in a process that answers no waiting callers. */
  readonly bus?: ApprovalsParts['bus'];
}

/** Builds the parts from the configuration. */
export function buildApprovalsParts(
  { config, store, ports, links, bus = openLocalBus() }: ApprovalsEnvironment,
  reportFault: ReportFault,
): ApprovalsParts {
  const { second_factor_ttl, grant_ttl_max, grant_uses_max, grants_per_agent_max } = config.approvals;
  const { ttl_max, retention, pending_max, pending_per_agent_max, arguments_bytes_max, webhook } =
    config.approvals;
  return {
    store,
    record: (event) => ports().record(event),
    now_ms: () => ports().now_ms(),
    limits: {
      pending_max,
      pending_per_agent_max,
      arguments_bytes_max,
      ttl_ms_max: parseDurationMs(ttl_max),
      keep_ms: parseDurationMs(retention),
      second_factor_ms_max: parseDurationMs(second_factor_ttl),
      grant_ttl_ms_max: Math.min(parseDurationMs(grant_ttl_max), GRANT_TTL_MS_LIMIT),
      ...{ grant_uses_max, grants_per_agent_max },
    },
    policy: () => ports().policy,
    has_webhook: webhook !== undefined,
    links: links ?? null,
    secret: createSecretReader(config),
    bus,
    reportFault,
  };
}
