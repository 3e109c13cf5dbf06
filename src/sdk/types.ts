import type { ViolationReply } from '../core/decision/violation-reply.ts';
import type { Action, Decision } from '../core/types/index.ts';

/** Checks that a guard makes. The names are those of the operations of the service. */
export type GuardOperation =
  | 'scan_input'
  | 'scan_structured'
  | 'guard_output'
  | 'intercept_tool'
  | 'intercept_agent_message';

/** The request for approval that a verdict depends on. */
export interface ApprovalReference {
  /** `apr_…` */
  readonly request_id: string;
  /** `pending`, `approved`, `denied`, `expired`, `cancelled`, `consumed`, `mismatch` or `not_found`. */
  readonly status: string;
  /** ISO 8601; `null` if the request is not known. */
  readonly expires_at: string | null;
}

/** The decision on one text, tool call, tool result or message. It is the same for both kinds of guard. */
export interface GuardVerdict {
  /** `allow`: use the content as it is. `modify`: use the changed content. `block`: use nothing of it. */
  readonly decision: Decision;
  readonly action: Action;
  /** Name of the rule that decided. Names that begin with `sdk.` are from the SDK itself, which then blocks. */
  readonly rule: string;
  /** One sentence. It never holds matched text. */
  readonly reason: string;
  readonly violations: readonly ViolationReply[];
  /** The audit event of the decision; `null` if the service did not give an answer. */
  readonly event_id: string | null;
  /** `partial` if a limit kept a part of the content from being scanned; such content is blocked. */
  readonly coverage: 'full' | 'partial';
  /** The request for approval that this depends on; `null` if there is none. */
  readonly approval: ApprovalReference | null;
  /** `true` if a fault, and no rule, led to this decision. */
  readonly fault: boolean;
  /** The text to use instead of an input or an output. */
  readonly modified_text?: string;
  /** The value to use instead of a structured input. */
  readonly modified_payload?: unknown;
  /** The arguments to call the tool with. */
  readonly modified_input?: unknown;
  /** The result to give to the agent. */
  readonly modified_output?: unknown;
  /** The message to deliver. */
  readonly modified_message?: string;
  /** Fields that a tool contract removed. */
  readonly stripped_fields?: readonly string[];
  /** `true` if the text of a rule replaces the content. */
  readonly fallback_used?: boolean;
  /** `data`: a tool result passes with instructions in it that are not the user's. Show it to the model as data. */
  readonly marks?: readonly 'data'[];
}

/** The person and the agents behind a check. A service takes the person as proved only if the key may act for them. */
export interface PrincipalOptions {
  readonly user_id?: string;
  /** The agents that act, the one next to the person first, the caller last. At most 16. */
  readonly chain?: readonly string[];
  readonly agent_tier?: 'interactive' | 'subagent' | 'background' | 'api';
  /** The task that the calls belong to, `tsk_…`. Only a service can check it. */
  readonly task_id?: string;
  /** Correlates the events of one request. */
  readonly trace_id?: string;
}

/** Names that a check concerns. Absent names are those of the guard. */
export interface SubjectOptions extends PrincipalOptions {
  readonly agent_id?: string;
  /** `null` means no session. */
  readonly session_id?: string | null;
  readonly tenant_id?: string;
  /** The tool that a text is for, or comes from. */
  readonly tool?: string;
  /** The agent that acts, if it is not `agent_id`. */
  readonly source_agent_id?: string;
  readonly destination_agent_id?: string;
  /** Tags of the data that only the caller knows: `personal.health`. At most 64. */
  readonly data_tags?: readonly string[];
  /** The approved request, for the same call again. */
  readonly approval_request_id?: string;
  /** A capability token, `svc_cap_…`, that must allow a tool call. Only a service can check it. */
  readonly capability_token_id?: string;
  readonly capability_action?: string;
}

/** The agents of a message. */
export interface MessageSubject extends SubjectOptions {
  readonly source_agent_id: string;
  readonly destination_agent_id: string;
}

/** Options that both kinds of guard have. */
export interface GuardOptions {
  /** The name of the agent in rules and in the audit log. Default: `SERVICE_AGENT_ID`, else `agent`. */
  readonly agent_id?: string;
  /** Default: a random name, so that one guard is one session. `null` means no session. */
  readonly session_id?: string | null;
  readonly tenant_id?: string;
  /** `true`: a check that blocks rejects with `BlockedError` instead of returning the verdict. Default `false`. */
  readonly raise_on_block?: boolean;
  /**
   * Behaviour of `run`, `protect` and the adapters if a rule requires an approval: wait for it, or raise
   * `ApprovalRequiredError` at once. Default `wait`.
   */
  readonly on_approval?: 'wait' | 'raise';
  /** Time to wait for an approver, in seconds. Default: `SERVICE_APPROVAL_SECONDS`, else 300. */
  readonly approval_timeout_seconds?: number;
}

/** The next piece of a guarded stream. */
export interface StreamPiece {
  /** Text that may be shown now, with what a rule masks masked. May be empty. */
  readonly text: string;
  /** The verdict on the whole text. Set once, when the stream ends, also if a block ended it early. */
  readonly verdict: GuardVerdict | null;
}

/** A text that is guarded while it arrives. */
export interface GuardStream {
  /** Takes the next piece of text and returns what may be shown. After a block it returns nothing more. */
  readonly push: (text: string) => Promise<StreamPiece>;
  /** Ends the text. Returns the rest of it and the verdict. */
  readonly end: () => Promise<StreamPiece>;
}
