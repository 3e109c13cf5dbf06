import type { Row, Shown } from '../../platform/store/define-table.ts';
import type { ActionMarks } from '../../runtime/audit/types.ts';
import type { ApprovalCaller, ApprovalStatus, ResolveApproval } from '../../runtime/enforcement/approval.ts';
import type { GrantFilter, GrantRecord } from './grant-types.ts';
import type { ApprovalScope, GrantScope } from './scope-names.ts';
import type { approvalRequests, approvalVotes } from './tables.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** Loads and opens approvals on the first call. */
    readonly approvals: () => Promise<Approvals>;
  }
}

/** A request for approval, as callers see it. */
export interface ApprovalRecord extends Shown<typeof approvalRequests> {
  /** The dangerous parts of `action_shown`. */
  readonly action_marks: ActionMarks;
  readonly arguments_truncated: boolean;
  readonly votes: readonly Shown<typeof approvalVotes>[];
  /** An approver’s choices, the narrowest first; empty once the request is not pending. */
  readonly grants_proposed: readonly ProposedGrant[];
}

/** One choice of an approver. */
export interface ProposedGrant {
  readonly scope: ApprovalScope;
  /** The calls that it covers, in one sentence with argument names and no value. */
  readonly sentence: string;
  readonly uses_max: number;
  /** A duration, such as `1h`; `null`: until the request expires. */
  readonly ttl: string | null;
}

/** Filters of the list, joined with AND. */
export interface ApprovalFilter {
  readonly status?: ApprovalStatus | undefined;
  readonly agent_ids?: readonly string[] | undefined;
  readonly tool?: string | undefined;
  readonly tenant_ids?: readonly string[] | undefined;
  /** The last request of the page before; absent for the first page. */
  readonly after?: { readonly requested_at: string; readonly request_id: string } | undefined;
  readonly limit: number;
}

/** A vote, as a caller sends it. */
export interface VoteInput {
  readonly request_id: string;
  readonly vote: 'approve' | 'deny';
  readonly caller: ApprovalCaller;
  readonly approver: string | null;
  readonly comment: string | null;
  /** The grant that the approver chose; absent for this one call. */
  readonly grant?: RequestedGrant | undefined;
}

/** A grant as an approver asks for it. `null`: the scope’s default. */
export interface RequestedGrant {
  readonly scope: GrantScope;
  readonly uses_max: number | null;
  readonly ttl_ms: number | null;
}

/** The result of a change: the new record, or why it did not change. `record` is the current state. */
export type TransitionResult =
  | { readonly moved: true; readonly record: ApprovalRecord }
  | {
      readonly moved: false;
      readonly cause:
        | 'not_found'
        | 'not_pending'
        | 'own_request'
        | 'already_voted'
        | 'second_factor_required'
        | 'scope_not_proposed'
        | 'grant_limit'
        | 'too_many_grants';
      readonly record: ApprovalRecord | null;
    };

/** A way to need no more approvals, for a request that was approved often. */
export interface RuleProposal {
  /** `rule`: a policy can say it. `grant`: only a grant can, because a rule would have to hold argument values. */
  readonly kind: 'rule' | 'grant';
  readonly reason: string;
  /** A policy document in YAML; `null` for a grant. */
  readonly policy: string | null;
  /** The longest grant that is proposed. */
  readonly grant: { readonly scope: GrantScope; readonly uses_max: number; readonly ttl: string } | null;
}

/** The parts of a request on which a proposal depends. */
export type ProposalSubject = Pick<
  Row<typeof approvalRequests>,
  'request_id' | 'tenant_id' | 'agent_id' | 'tool_name' | 'rules' | 'grant_offer'
>;

export interface ProposalForRequest {
  readonly subject: ProposalSubject;
  /** `null` if too few equal requests were approved. */
  readonly proposal: RuleProposal | null;
}

/** Returns whether the caller may see a request; `null` for a caller that may see all. */
export type ApprovalVisibility = (record: ApprovalRecord) => boolean;

/**
 * The requests for approval of the whole service, from any of its processes. Calls reject with `StoreFailure`
 * or `RecordingFailure`.
 */
export interface Approvals {
  /** Resolves a verdict that requires approval. Never rejects: a fault is a block. */
  readonly resolve: ResolveApproval;
  /** Newest first. */
  readonly list: (filter: ApprovalFilter) => Promise<readonly ApprovalRecord[]>;
  readonly find: (requestId: string) => Promise<ApprovalRecord | null>;
  /** Returns the request once it is not pending, at the latest after `waitMs` or when `signal` aborts. */
  readonly wait: (requestId: string, waitMs: number, signal: AbortSignal | null) => Promise<WaitResult>;
  readonly vote: (vote: VoteInput, may: ApprovalVisibility) => Promise<TransitionResult>;
  readonly cancel: (
    requestId: string,
    caller: ApprovalCaller,
    may: ApprovalVisibility,
  ) => Promise<TransitionResult>;
  /** Proposes a rule for a request, if its equals were approved often; `null` if there is no such request. */
  readonly propose: (requestId: string) => Promise<ProposalForRequest | null>;
  /** Newest first. */
  readonly listGrants: (filter: GrantFilter) => Promise<readonly GrantRecord[]>;
  readonly findGrant: (grantId: string) => Promise<GrantRecord | null>;
  /** Revokes a grant at once, in all processes; `null` for an unknown one, or one that the caller may not see. */
  readonly revokeGrant: (
    grantId: string,
    callerId: string,
    may: (record: GrantRecord) => boolean,
  ) => Promise<GrantRecord | null>;
  /** Ends all waiting: each waiting caller gets the current record. */
  readonly release: () => void;
}

export type WaitResult =
  | { readonly waited: true; readonly record: ApprovalRecord | null }
  | { readonly waited: false; readonly cause: 'too_many' };
