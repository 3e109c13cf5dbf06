import { getScopeTerms, parseGrantOffer } from './grant-terms.ts';
import { countActiveGrants, type GrantChoice } from './grants.ts';
import type { ApprovalsParts } from './parts.ts';
import type { ApprovalRequestRow, StoreTransaction, VoteRow } from './rows.ts';
import type { RequestedGrant } from './types.ts';

/** Completes an approver’s choice, or returns why it cannot be granted. */
export async function findGrantChoice(
  trx: StoreTransaction,
  row: ApprovalRequestRow,
  { scope, uses_max, ttl_ms }: RequestedGrant,
  { limits, now_ms }: ApprovalsParts,
): Promise<GrantChoice | 'scope_not_proposed' | 'grant_limit' | 'too_many_grants'> {
  const offer = parseGrantOffer(row.grant_offer);
  if (offer?.scopes.includes(scope) !== true) return 'scope_not_proposed';
  const terms = getScopeTerms(scope, limits);
  const choice = { scope, uses_max: uses_max ?? terms.uses_max, ttl_ms: ttl_ms ?? terms.ttl_ms };
  if (choice.uses_max > limits.grant_uses_max || choice.ttl_ms > limits.grant_ttl_ms_max)
    return 'grant_limit';
  const active = await countActiveGrants(trx, row, now_ms());
  return active >= limits.grants_per_agent_max ? 'too_many_grants' : choice;
}

/** Returns the columns of a vote that hold its choice. */
export function getVoteColumns(
  choice: GrantChoice | null,
): Pick<VoteRow, 'grant_scope' | 'grant_uses_max' | 'grant_ttl_ms'> {
  return {
    grant_scope: choice?.scope ?? null,
    grant_uses_max: choice?.uses_max ?? null,
    grant_ttl_ms: choice?.ttl_ms ?? null,
  };
}

/** Returns the grant on which all approvals agree, with the fewest uses and the shortest lifetime; `null` if they do not. */
export function findCommonChoice(approvals: readonly VoteRow[]): GrantChoice | null {
  const scope = approvals[0]?.grant_scope ?? null;
  if (scope === null || approvals.some((each) => each.grant_scope !== scope)) return null;
  return {
    scope,
    uses_max: Math.min(...approvals.map((each) => each.grant_uses_max ?? 0)),
    ttl_ms: Math.min(...approvals.map((each) => each.grant_ttl_ms ?? 0)),
  };
}
