import type { ApprovalRequirement, Crossing, Policy } from '../../core/types/index.ts';
import { findLifetimeEnd } from '../../operations/lifetime.ts';
import type { ApprovalQuestion, ApprovalResolution } from '../../runtime/enforcement/approval.ts';
import { findAskingRules } from './asking-rules.ts';
import { hashArguments, type NamedCall, readNamedCall } from './call-arguments.ts';
import { readPerson } from './grant-offer.ts';
import type { GrantRow } from './grant-types.ts';
import { countGrantUse } from './grants.ts';
import type { ApprovalsParts } from './parts.ts';
import { isCovered } from './requests.ts';
import { parseListColumn } from './rows.ts';

/** The grants that one call is compared with, the newest first. */
const COMPARED_MAX = 100;

/**
 * Uses a grant that covers the call, and counts the use. Returns `null` if none does, and approval is requested then. A
 * call that another rule blocks stays blocked and uses nothing.
 */
export async function useGrant(
  wanted: ApprovalRequirement,
  { judged, crossing, caller, judgeWith, counted_grant_id }: ApprovalQuestion,
  parts: ApprovalsParts,
): Promise<ApprovalResolution | null> {
  const call = readNamedCall(crossing);
  if (call === null) return null;
  const { db } = await parts.store();
  const nowMs = parts.now_ms();
  const rows = await db
    .selectFrom('approval_grants')
    .selectAll()
    .where('tenant_id', '=', crossing.tenant_id)
    .where('agent_id', '=', crossing.agent_id)
    .where('tool_name', '=', call.tool)
    .where('expires_ms', '>', nowMs)
    .where('revoked_ms', 'is', null)
    .orderBy('granted_ms', 'desc')
    .limit(COMPARED_MAX)
    .execute();
  const policy = parts.policy();
  // A policy that was replaced meanwhile is not the one that asked.
  if (rows.length === 0 || policy.hash !== judged.policy_hash) return null;
  const use: GrantUse = { crossing, call, caller_id: caller.id, wanted, policy, now_ms: nowMs };
  const fitting = rows.filter((row) => findGrantMisfit(row, use, parts.secret) === null);
  if (fitting.length === 0) return null;
  const verdict = judgeWith(wanted.rules);
  if (verdict.decision === 'block') return { verdict, approval: null };
  for (const { grant_id } of fitting)
    if (grant_id === counted_grant_id || (await countGrantUse(db, grant_id, nowMs)))
      return { verdict, approval: null, approved_rules: wanted.rules, grant_id };
  return null;
}

/** A call that a grant could cover. */
export interface GrantUse {
  readonly crossing: Crossing;
  readonly call: NamedCall;
  readonly caller_id: string;
  readonly wanted: ApprovalRequirement;
  readonly policy: Policy;
  readonly now_ms: number;
}

/** Why a grant does not cover a call. */
export type GrantMisfit =
  | 'lifetime'
  | 'agent'
  | 'session'
  | 'caller'
  | 'own_call'
  | 'person'
  | 'rules'
  | 'rule_content'
  | 'arguments';

/** Returns the first term of a grant that a call does not fit; `null` if the grant covers the call. Uses are not checked. */
export function findGrantMisfit(row: GrantRow, use: GrantUse, secret: () => string): GrantMisfit | null {
  const { crossing, caller_id, wanted, policy, now_ms } = use;
  if (findLifetimeEnd({ ...row, begins_ms: row.granted_ms }, now_ms) !== null) return 'lifetime';
  const isAgent =
    row.tenant_id === crossing.tenant_id &&
    row.agent_id === crossing.agent_id &&
    row.source_agent_id === crossing.source_agent_id &&
    row.destination_agent_id === crossing.destination_agent_id;
  if (!isAgent || row.tool_name !== use.call.tool) return 'agent';
  if (row.scope !== 'agent' && (row.session_id === null || row.session_id !== crossing.session_id))
    return 'session';
  if (row.caller_id !== caller_id) return 'caller';
  if (parseListColumn(row.approved_by).includes(caller_id)) return 'own_call';
  const person = readPerson(crossing);
  const isSamePerson =
    row.user_id === person.user_id &&
    row.task_id === person.task_id &&
    row.chain === JSON.stringify(person.chain);
  if (!isSamePerson) return 'person';
  if (!isCovered(wanted, row)) return 'rules';
  const asking = findAskingRules(parseListColumn(row.rules), crossing, policy);
  if (asking?.content_hash !== row.rules_hash) return 'rule_content';
  return fitsArguments(row, use.call, secret) ? null : 'arguments';
}

/** Returns whether the bound arguments have the granted values, and no argument is there that the grant leaves open. */
function fitsArguments(row: GrantRow, call: NamedCall, secret: () => string): boolean {
  if (row.scope === 'any_arguments') return true;
  const bound = parseListColumn(row.bound_arguments);
  if (!bound.every((name) => Object.hasOwn(call.arguments, name))) return false;
  const known = [...bound, ...parseListColumn(row.free_arguments)];
  if (row.permits_others !== 1 && !Object.keys(call.arguments).every((name) => known.includes(name)))
    return false;
  const granted = JSON.parse(row.bound_hashes) as Readonly<Record<string, string>>;
  const hashes = hashArguments(call, bound, secret(), row.tenant_id);
  return bound.every((name) => Object.hasOwn(granted, name) && granted[name] === hashes[name]);
}
