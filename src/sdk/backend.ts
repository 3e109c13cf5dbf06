import type { ServiceApi } from './service-api.ts';
import type {
  ApprovalReference,
  GuardOperation,
  GuardStream,
  GuardVerdict,
  PrincipalOptions,
} from './types.ts';

/** The body of a check, as the service takes it. Members that are `undefined` are absent. */
export interface CheckBody {
  readonly text?: string;
  readonly payload?: unknown;
  readonly message?: string;
  readonly tool?: string;
  readonly phase?: 'request' | 'response';
  readonly input?: unknown;
  readonly output?: unknown;
  readonly agent_id?: string | undefined;
  readonly session_id?: string | null | undefined;
  readonly tenant_id?: string | undefined;
  readonly source_agent_id?: string | undefined;
  readonly destination_agent_id?: string | undefined;
  readonly data_tags?: readonly string[] | undefined;
  readonly context?: (PrincipalOptions & { readonly tool?: string; readonly origin?: 'user' }) | undefined;
  readonly approval_request_id?: string | undefined;
  readonly capability_token_id?: string | undefined;
  readonly capability_action?: string | undefined;
}

/** Names of the advisors that `guard.intelligence` asks. */
export type AdvisorName = 'auto_config' | 'recommend' | 'explain' | 'compliance' | 'integrate';

/** The decider: a service over HTTP, or the decision engine in this process. */
export interface GuardBackend {
  readonly kind: 'client' | 'local';
  /** Decides and records. Never rejects: whatever goes wrong is a verdict that blocks. */
  readonly check: (operation: GuardOperation, body: CheckBody) => Promise<GuardVerdict>;
  /** Opens a guarded stream. Its methods never reject. */
  readonly openStream: (boundary: 'input' | 'output', body: CheckBody) => GuardStream;
  /**
   * Returns the state of a request for approval, after up to `waitSeconds` while it is pending. Rejects if it cannot
   * be read.
   */
  readonly findApproval: (requestId: string, waitSeconds: number) => Promise<ApprovalReference>;
  /** Asks an advisor. Rejects with `AIBackendNotConfiguredError` if there is no model back end. */
  readonly advise: (
    advisor: AdvisorName,
    body: Readonly<Record<string, unknown>>,
  ) => Promise<ServiceApi['intelligence_recommend']['response']>;
  /** Writes what is not written yet and releases what it holds. May be called twice. */
  readonly close: () => Promise<void>;
}

/** Returns the verdict for content that the SDK itself blocks, because it could not be judged. */
export function buildFailedVerdict(rule: string, reason: string): GuardVerdict {
  return {
    decision: 'block',
    action: 'block',
    rule,
    reason,
    violations: [],
    event_id: null,
    coverage: 'partial',
    approval: null,
    fault: true,
  };
}
