import type { Crossing, Verdict } from '../../../core/types/index.ts';
import type { ApprovalStatus } from './lifecycle.ts';

/** Who asks or decides, as far as a credential proves it. */
export interface ApprovalCaller {
  readonly id: string;
  readonly kind: 'anonymous' | 'agent' | 'person';
}

/** One request for approval, as people and programs see it. Times are ISO 8601, UTC. */
export interface ApprovalRecord {
  readonly request_id: string;
  readonly status: ApprovalStatus;
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly source_agent_id: string | null;
  readonly destination_agent_id: string | null;
  readonly session_id: string | null;
  readonly tool: string | null;
  readonly boundary: string;
  readonly phase: string | null;
  readonly rule: string;
  readonly rules: readonly string[];
  readonly reason: string;
  readonly data_tags: readonly string[];
  /** JSON with every finding masked; where it was cut, its beginning. */
  readonly arguments: string;
  readonly arguments_bytes: number;
  readonly arguments_truncated: boolean;
  readonly min_approvals: number;
  readonly votes: readonly ApprovalVote[];
  readonly requested_by: string;
  readonly requested_at: string;
  readonly expires_at: string;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
  readonly consumed_at: string | null;
}

export interface ApprovalVote {
  readonly vote: 'approve' | 'deny';
  /** Who, as far as a credential proves it. */
  readonly caller_id: string;
  /** The name that was given beside it. */
  readonly approver: string | null;
  readonly comment: string | null;
  readonly voted_at: string;
}

/** Filters of the list; all are joined with AND. */
export interface ApprovalFilter {
  readonly status?: ApprovalStatus | undefined;
  readonly agent_ids?: readonly string[] | undefined;
  readonly tool?: string | undefined;
  readonly tenant_ids?: readonly string[] | undefined;
  readonly limit: number;
}

/** What a check tells of the request that it depends on. */
export interface ApprovalState {
  readonly request_id: string;
  /** `mismatch`: it is for something else. `not_found`: there is none, or none any more. */
  readonly status: ApprovalStatus | 'mismatch' | 'not_found';
  readonly expires_at: string | null;
}

/** What a person says of a request. */
export interface VoteInput {
  readonly request_id: string;
  readonly vote: 'approve' | 'deny';
  readonly caller: ApprovalCaller;
  readonly approver: string | null;
  readonly comment: string | null;
}

/** Why a request was not moved on. `record` is what it is instead. */
export type TransitionResult =
  | { readonly moved: true; readonly record: ApprovalRecord }
  | {
      readonly moved: false;
      readonly cause: 'not_found' | 'not_pending' | 'own_request' | 'already_voted';
      readonly record: ApprovalRecord | null;
    };

/** Whom a caller may see: `null` of a caller that sees the requests of others too. */
export type ApprovalVisibility = (record: ApprovalRecord) => boolean;

/** Requests for approval of the whole service, whichever process asks. Rejects with a StoreFailure or `Unrecorded`. */
export interface Approvals {
  /** Settles what a verdict that asks for approval comes to. Never rejects: a fault is a verdict that blocks. */
  readonly resolve: ResolveApproval;
  /** Newest first. */
  readonly list: (filter: ApprovalFilter) => Promise<readonly ApprovalRecord[]>;
  readonly find: (request_id: string) => Promise<ApprovalRecord | null>;
  /** The request as soon as it is not pending any more, at the latest after `wait_ms` or when `signal` says so. */
  readonly wait: (request_id: string, wait_ms: number, signal: AbortSignal | null) => Promise<WaitResult>;
  readonly vote: (vote: VoteInput, may: ApprovalVisibility) => Promise<TransitionResult>;
  readonly cancel: (
    request_id: string,
    caller: ApprovalCaller,
    may: ApprovalVisibility,
  ) => Promise<TransitionResult>;
  /** All who wait get what is known now, and nobody waits any more. */
  readonly release: () => void;
}

export type WaitResult =
  | { readonly waited: true; readonly record: ApprovalRecord | null }
  | { readonly waited: false; readonly cause: 'too_many' };

/** A verdict after approvals had their say. */
export interface ResolvedVerdict {
  readonly verdict: Verdict;
  readonly approval: ApprovalState | null;
  /** The rules that were granted, where an approval was used. */
  readonly approved_rules?: readonly string[];
}

export interface ApprovalQuestion {
  readonly judged: Verdict;
  readonly crossing: Crossing;
  readonly caller: ApprovalCaller;
  readonly approval_request_id: string | null;
  /** Whether a request for exactly this crossing counts where the named one is for another, or none is named. */
  readonly reuse_approval?: boolean;
  /** Judges the same crossing again, with these rules granted. */
  readonly judgeWith: (approved_rules: readonly string[]) => Verdict;
}
export type ResolveApproval = (settling: ApprovalQuestion) => Promise<ResolvedVerdict>;
