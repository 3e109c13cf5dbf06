import type { Shown } from '../../platform/store/define-table.ts';
import type { ActionMarks } from '../../runtime/audit/types.ts';
import type { ApprovalCaller, ApprovalStatus, ResolveApproval } from '../../runtime/enforcement/approval.ts';
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
        | 'second_factor_required';
      readonly record: ApprovalRecord | null;
    };

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
  /** Ends all waiting: each waiting caller gets the current record. */
  readonly release: () => void;
}

export type WaitResult =
  | { readonly waited: true; readonly record: ApprovalRecord | null }
  | { readonly waited: false; readonly cause: 'too_many' };
