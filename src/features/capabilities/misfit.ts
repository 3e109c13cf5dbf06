import { matchesAny, matchesName } from '../../core/tags.ts';
import { findLifetimeEnd } from '../../operations/lifetime.ts';
import type { Row } from '../../platform/store/define-table.ts';
import type { CapabilityPresentation } from '../../runtime/enforcement/capability.ts';
import type { capabilityTokens } from './tables.ts';
import type { CapabilityCause, CapabilityScope } from './types.ts';

export type CapabilityRow = Row<typeof capabilityTokens>;

/** Returns the first condition of a known token that the presentation violates; `null` if it is valid. */
export function findMisfit(
  row: CapabilityRow,
  presented: CapabilityPresentation,
  nowMs: number,
): CapabilityCause | null {
  const { tool, action, secret_key, session_id } = presented;
  const scope = readScope(row);
  const end = findLifetimeEnd({ ...row, begins_ms: row.issued_ms }, nowMs);
  if (end !== null) return end;
  if (presented.tenant_id !== row.tenant_id) return 'tenant';
  if (presented.agent_id !== row.agent_id) return 'agent';
  if (!matchesName(scope.tool_name, tool)) return 'tool';
  if (!matchesAny(scope.actions, action.toLowerCase())) return 'action';
  if (row.session_id !== null && session_id !== row.session_id) return 'session';
  if (secret_key !== null && !matchesAny(scope.secret_keys, secret_key)) return 'secret_key';
  return null;
}

/** Reads the scope from a row. */
export function readScope({ tool_name, actions, secret_keys }: CapabilityRow): CapabilityScope {
  return {
    tool_name,
    actions: JSON.parse(actions) as string[],
    secret_keys: JSON.parse(secret_keys) as string[],
  };
}

/** The message of each cause, for the caller that presented the token. */
export const CAUSE_MESSAGES: Readonly<Record<CapabilityCause, string>> = {
  unknown: 'The capability token is not known.',
  revoked: 'The capability token was revoked.',
  expired: 'The capability token has expired.',
  not_yet_valid: 'The capability token is from later than now: a clock is wrong.',
  tenant: 'The capability token is for another tenant.',
  agent: 'The capability token is for another agent.',
  tool: 'The capability token is not for this tool.',
  action: 'The capability token does not allow this action.',
  session: 'The capability token is for another session.',
  secret_key: 'The capability token does not allow this secret.',
  throttled: 'Too many wrong capability tokens: none is accepted for a minute.',
};
