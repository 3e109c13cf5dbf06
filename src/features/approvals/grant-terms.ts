import type { BoundArguments } from './bound-arguments.ts';
import type { ApprovalLimits } from './parts.ts';
import type { GrantScope } from './scope-names.ts';

/** The terms of the grants that are proposed for a request. Stored with it; holds no value of an argument. */
export interface GrantOffer extends BoundArguments {
  readonly rules_hash: string;
  readonly user_id: string | null;
  readonly chain: readonly string[];
  readonly task_id: string | null;
  /** Keyed hashes of the bound values, by name. */
  readonly bound_hashes: Readonly<Record<string, string>>;
}

/** Parses an offer’s column. */
export function parseGrantOffer(column: string | null): GrantOffer | null {
  return column === null ? null : (JSON.parse(column) as GrantOffer);
}

const HOUR_MS = 3_600_000;

/** A grant’s uses and lifetime if the approver states none. */
const SCOPE_TERMS: Readonly<Record<GrantScope, { readonly uses_max: number; readonly ttl_ms: number }>> = {
  session: { uses_max: 20, ttl_ms: HOUR_MS },
  agent: { uses_max: 50, ttl_ms: 24 * HOUR_MS },
  any_arguments: { uses_max: 20, ttl_ms: HOUR_MS },
};

/** Returns the uses and the lifetime of a grant within the configured limits. */
export function getScopeTerms(
  scope: GrantScope,
  limits: Pick<ApprovalLimits, 'grant_ttl_ms_max' | 'grant_uses_max'>,
): { readonly uses_max: number; readonly ttl_ms: number } {
  const { uses_max, ttl_ms } = SCOPE_TERMS[scope];
  return {
    uses_max: Math.min(uses_max, limits.grant_uses_max),
    ttl_ms: Math.min(ttl_ms, limits.grant_ttl_ms_max),
  };
}

/** Describes the calls that an offer’s scope covers, in one sentence with argument names and no value. */
export function describeScope(
  scope: GrantScope,
  call: { readonly tool: string; readonly agent_id: string; readonly session_id?: string | null },
  { bound, free, permits_others }: BoundArguments,
): string {
  const { tool, agent_id, session_id = null } = call;
  const session = session_id === null ? 'this session' : `the session \`${session_id}\``;
  const calls = `Calls of \`${tool}\` by \`${agent_id}\` in ${scope === 'agent' ? 'any session' : session}`;
  if (scope === 'any_arguments') return `${calls}, with any arguments.`;
  const same = bound.length === 0 ? 'without arguments' : `with the same ${formatNames(bound)}`;
  const others = permits_others
    ? ' The contract checks the other arguments.'
    : free.length === 0
      ? ''
      : ` Free: ${formatNames(free)}.`;
  return `${calls} ${same}.${others}`;
}

/** The names in a sentence. More are counted. */
const NAMES_MAX = 12;

function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_MAX).map((name) => `\`${name}\``);
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
