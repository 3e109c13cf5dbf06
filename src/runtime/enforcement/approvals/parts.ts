import { parseDurationMs } from '../../../core/policy/compile/duration.ts';
import type { Policy } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';
import type { AuditPorts } from '../../audit/audit-ports.ts';
import type { AuditEvent } from '../../audit/types.ts';
import type { Config } from '../../config/index.ts';

/** The bounds of what waits and of what is kept. */
export interface ApprovalLimits {
  readonly ttl_ms_max: number;
  readonly pending_max: number;
  readonly pending_per_agent_max: number;
  readonly arguments_bytes_max: number;
  readonly keep_ms: number;
}

/** What approvals need of the process that they are in. */
export interface ApprovalsParts {
  readonly store: () => Promise<Store>;
  /** Resolves when the event is durable. */
  readonly record: (event: AuditEvent) => Promise<void>;
  readonly now_ms: () => number;
  readonly limits: ApprovalLimits;
  /** By which people's words are masked, and how masks look. */
  readonly policy: () => Policy;
  /** Whether there is somebody to tell; without it nothing is put aside for them. */
  readonly has_webhook: boolean;
  /** Told what does not work, and why where something failed, for the log of the service. Must not throw. */
  readonly reportFault: ReportFault;
}

export type ReportFault = (what: string, fault?: unknown) => void;

/** What a process has, of which the parts are made. */
export interface ApprovalsEnvironment {
  readonly config: Pick<Config, 'approvals'>;
  readonly store: () => Promise<Store>;
  /** What holds now. */
  readonly ports: () => Pick<AuditPorts, 'record' | 'now_ms' | 'policy'>;
}

/** The parts as a configuration asks for them. */
export function buildApprovalsParts(
  { config, store, ports }: ApprovalsEnvironment,
  reportFault: ReportFault,
): ApprovalsParts {
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
    },
    policy: () => ports().policy,
    has_webhook: webhook !== undefined,
    reportFault,
  };
}
