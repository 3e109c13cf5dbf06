/** The scopes of a grant, the narrowest first. */
export const GRANT_SCOPES = ['session', 'agent', 'any_arguments'] as const;
export type GrantScope = (typeof GRANT_SCOPES)[number];

/** The choices of an approver. `once` creates no grant. */
export const APPROVAL_SCOPES = ['once', ...GRANT_SCOPES] as const;
export type ApprovalScope = (typeof APPROVAL_SCOPES)[number];
