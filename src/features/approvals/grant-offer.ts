import { canonicalizeJson } from '../../core/policy/compile/canonical-json.ts';
import {
  type ApprovalRequirement,
  type Crossing,
  NO_PRINCIPAL,
  type Policy,
  type Verdict,
} from '../../core/types/index.ts';
import { hashText } from '../../platform/hash-text.ts';
import { maskComment } from '../../runtime/enforcement/mask-comment.ts';
import { findAskingRules } from './asking-rules.ts';
import { type BoundArguments, findBoundArguments } from './bound-arguments.ts';
import { hashArguments, readNamedCall } from './call-arguments.ts';
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

/** Builds the offer for a call; `null` if only this one call can be approved. */
export function buildGrantOffer(
  { rules }: ApprovalRequirement,
  judged: Verdict,
  crossing: Crossing,
  policy: Policy,
  secret: () => string,
): GrantOffer | null {
  const call = readNamedCall(crossing);
  // A policy that was replaced meanwhile is not the one that asked.
  if (call === null || policy.hash !== judged.policy_hash) return null;
  const asking = findAskingRules(rules, crossing, policy);
  if (asking === null) return null;
  const bound = findBoundArguments(call, asking, judged);
  if (bound === null) return null;
  // The names are shown and stored, so they must hold no secret.
  const isShowable = Object.keys(call.arguments).every((name) => maskComment(name, policy) === name);
  if (!isShowable) return null;
  const scopes = bound.scopes.filter((scope) => scope === 'agent' || crossing.session_id !== null);
  return {
    ...bound,
    scopes,
    rules_hash: asking.content_hash,
    ...readPerson(crossing),
    bound_hashes: hashArguments(call, bound.bound, secret(), crossing.tenant_id),
  };
}

/** Returns for whom a call is made: the proved person, the chain of agents, and the task. */
export function readPerson({ principal = NO_PRINCIPAL }: Pick<Crossing, 'principal'>): {
  readonly user_id: string | null;
  readonly chain: readonly string[];
  readonly task_id: string | null;
} {
  return {
    user_id: principal.user?.user_id ?? null,
    chain: principal.chain,
    task_id: principal.task_id,
  };
}

/** Returns the key that equal questions share: the same tenant, agent, tool, rules and bound values. */
export function buildQuestionKey(
  { rules }: ApprovalRequirement,
  { tenant_id, agent_id, tool }: Crossing,
  { rules_hash, bound_hashes, user_id }: GrantOffer,
): string {
  const question = { tenant_id, agent_id, tool, user_id, rules: rules.toSorted(), rules_hash, bound_hashes };
  return hashText(canonicalizeJson(question));
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
