import type { Crossing, Verdict } from '../../core/types/index.ts';

export const APPROVAL_STATUSES = [
  'pending',
  'approved',
  'denied',
  'expired',
  'cancelled',
  'consumed',
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** The caller that requests or decides, as its credential proves it. */
export interface ApprovalCaller {
  readonly id: string;
  readonly kind: 'anonymous' | 'agent' | 'person';
  /** When a user who signed in proved a second factor last, in milliseconds since 1970. */
  readonly second_factor_ms?: number | null;
}

/** The request that a check depends on. */
export interface ApprovalState {
  readonly request_id: string;
  /** `mismatch`: the request is for another crossing. `not_found`: it does not exist, or no longer. */
  readonly status: ApprovalStatus | 'mismatch' | 'not_found';
  readonly expires_at: string | null;
}

/** A verdict after its approval was resolved. */
export interface ApprovalResolution {
  readonly verdict: Verdict;
  /** The request for approval that the verdict depends on; `null` if none is needed. */
  readonly approval: ApprovalState | null;
  /** The rules that the used approval or grant overrides. */
  readonly approved_rules?: readonly string[];
  /** The grant that was used; absent if none was. */
  readonly grant_id?: string;
}

export interface ApprovalQuestion {
  readonly judged: Verdict;
  readonly crossing: Crossing;
  readonly caller: ApprovalCaller;
  readonly approval_request_id: string | null;
  /** If true, a request for exactly this crossing counts when the named one does not match or none is named. */
  readonly reuse_approval?: boolean;
  /** The grant that this decision has used before, when its session made it decide again. It is not counted again. */
  readonly counted_grant_id?: string;
  /** Judges the same crossing again with these rules approved. */
  readonly judgeWith: (approvedRules: readonly string[]) => Verdict;
}

/** Resolves a verdict that requires approval. Must not reject. */
export type ResolveApproval = (settling: ApprovalQuestion) => Promise<ApprovalResolution>;
