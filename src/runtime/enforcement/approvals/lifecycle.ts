export const APPROVAL_STATUSES = [
  'pending',
  'approved',
  'denied',
  'expired',
  'cancelled',
  'consumed',
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** Every state of a request for approval, and to which others it may go. What is not here does not happen. */
export const TRANSITIONS: Readonly<Record<ApprovalStatus, readonly ApprovalStatus[]>> = {
  pending: ['approved', 'denied', 'expired', 'cancelled'],
  approved: ['consumed', 'expired'],
  denied: [],
  expired: [],
  cancelled: [],
  consumed: [],
};

/** Those that time ends. */
export const OPEN_STATUSES = APPROVAL_STATUSES.filter((status) => isTransitionAllowed(status, 'expired'));

/** Whether the table has a way from one state to another. */
export function isTransitionAllowed(from: ApprovalStatus, to: ApprovalStatus): boolean {
  return TRANSITIONS[from].includes(to);
}
