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
import { findBoundArguments } from './bound-arguments.ts';
import { hashArguments, readNamedCall } from './call-arguments.ts';
import type { GrantOffer } from './grant-terms.ts';

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
