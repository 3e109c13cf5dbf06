import { APPROVAL_STATUSES, type ApprovalStatus } from '../../runtime/enforcement/approval.ts';

/** The transitions of a request. A transition that is not listed never happens. */
export const TRANSITIONS: Readonly<Record<ApprovalStatus, readonly ApprovalStatus[]>> = {
  pending: ['approved', 'denied', 'expired', 'cancelled'],
  approved: ['consumed', 'expired'],
  denied: [],
  expired: [],
  cancelled: [],
  consumed: [],
};

/** The statuses that expiry ends. */
export const OPEN_STATUSES = APPROVAL_STATUSES.filter((status) => isTransitionAllowed(status, 'expired'));

/** Returns whether the table allows a transition. */
export function isTransitionAllowed(from: ApprovalStatus, to: ApprovalStatus): boolean {
  return TRANSITIONS[from].includes(to);
}
