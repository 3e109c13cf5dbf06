import type { CodingAgent } from '../../../coding-agents/record/coding-agent.ts';
import type { Machine } from '../../../coding-agents/record/settings.ts';
import { type PastCall, readPastCalls } from '../../../coding-agents/transcripts/read-calls.ts';
import type { SkipCounter } from '../../../coding-agents/transcripts/read-lines.ts';
import { isNeverAllowed } from '../../../core/decision/allowlist.ts';
import { explainDenial } from '../../../core/decision/denial-help.ts';
import { judge } from '../../../core/decision/judge.ts';
import { buildShownAction } from '../../../core/decision/shown-action.ts';
import type { Action, Crossing, Decision, Policy, Verdict } from '../../../core/types/index.ts';
import type { ActionMarks } from '../../../runtime/audit/types.ts';
import type { Config } from '../../../runtime/config/index.ts';
import { loadConditionsOrNull } from '../../../runtime/enforcement/enforce.ts';
import { openFingerprints } from '../../../runtime/policies/fingerprints.ts';
import { buildHookCrossing } from '../../hook/judge-checks.ts';

/** The calls that are judged at most: the newest ones. */
export const CALLS_MAX = 2_000;
/** The time in milliseconds after which no further call is read. */
export const REPLAY_MS_MAX = 20_000;

/** A call that the policy does not allow unchanged. Its text is masked as in the audit log. */
export interface PastDecision {
  readonly coding_agent: string;
  /** In ISO 8601; `null` if the transcript does not say. */
  readonly at: string | null;
  readonly tool: string;
  readonly decision: Decision;
  readonly action: Action;
  readonly rule: string;
  readonly reason: string;
  /** The detectors that decided. */
  readonly rule_ids: readonly string[];
  /** `null` if masks may not hide everything. */
  readonly action_shown: string | null;
  readonly action_marks: ActionMarks;
  /** The commands that together allow such a call; none if a secret, the guard or another rule decided. */
  readonly allow: readonly string[];
}

/** A policy's decisions on the calls in this machine's transcripts. */
export interface PastReport {
  readonly calls: number;
  readonly stopped: number;
  readonly asked: number;
  readonly changed: number;
  /** Files and lines that could not be read or are too long. */
  readonly skipped: number;
  /** The limit that was reached; `null` if all calls were judged. */
  readonly limit: 'calls' | 'time' | null;
  readonly decisions: readonly PastDecision[];
}

/** The policy, and the agents and the machine whose calls it judges. */
export interface PastRequest {
  readonly agents: readonly CodingAgent[];
  readonly machine: Machine;
  readonly config: Config;
  readonly policy: Policy;
  readonly now_ms: () => number;
}

/**
 * Judges the calls in the agents' own transcripts, each alone: without sessions, budgets and approvals. Writes nothing,
 * and no call reaches the audit log.
 */
export async function judgePastCalls(request: PastRequest): Promise<PastReport> {
  const { agents, machine, now_ms } = request;
  const judgeCall = await openJudge(request);
  const deadlineMs = now_ms() + REPLAY_MS_MAX;
  const isLate = () => now_ms() >= deadlineMs;
  const counter: SkipCounter = { skipped_count: 0 };
  const decisions: PastDecision[] = [];
  let calls = 0;
  let limit: PastReport['limit'] = null;
  reading: for await (const batch of readPastCalls(agents, machine, counter, isLate))
    for (const call of batch) {
      if (calls === CALLS_MAX) limit = 'calls';
      else if (isLate()) limit = 'time';
      if (limit !== null) break reading;
      calls += 1;
      const decided = judgeCall(call);
      if (decided !== null) decisions.push(decided);
    }
  if (limit === null && isLate()) limit = 'time';
  const count = (matches: (each: PastDecision) => boolean) => decisions.filter(matches).length;
  const asked = count(isAsked);
  return {
    calls,
    stopped: count(({ decision }) => decision === 'block') - asked,
    asked,
    changed: count(({ decision }) => decision === 'modify'),
    skipped: counter.skipped_count,
    limit,
    decisions,
  };
}

/** Returns whether the call needs an approval. */
export function isAsked({ action }: PastDecision): boolean {
  return action === 'require_approval';
}

async function openJudge({
  config,
  policy,
  now_ms,
}: PastRequest): Promise<(call: PastCall) => PastDecision | null> {
  const conditions = await loadConditionsOrNull(policy);
  const fingerprintOf = openFingerprints(config, policy);
  return (call) => {
    const crossing = buildPastCrossing(call, now_ms());
    const verdict = judge(crossing, policy, fingerprintOf, conditions);
    return verdict.decision === 'allow' ? null : describeDecision(call, crossing, verdict, policy);
  };
}

function buildPastCrossing({ agent, tool, input, working_dir }: PastCall, nowMs: number): Crossing {
  const event = {
    dialect: agent.name,
    event: '',
    agent_id: agent.dialect.agent_id,
    tenant_id: 'default',
    session_id: null,
    tool_use_id: null,
    approval_request_id: null,
    ...(working_dir !== null && { working_dir }),
    checks: [],
  };
  return buildHookCrossing({ kind: 'call', tool, input }, event, nowMs);
}

function describeDecision(
  { agent, at_ms, tool }: PastCall,
  { content }: Crossing,
  verdict: Verdict,
  policy: Policy,
): PastDecision {
  const { decision, action, rule, reason, findings } = verdict;
  const decisive = findings.filter((finding) => finding.action === action);
  const ruleIds = [...new Set(decisive.map(({ rule_id }) => rule_id))];
  const isAllowable = decisive.every(({ tags, source }) => source === undefined && !isNeverAllowed(tags));
  const shown = buildShownAction(tool, content, verdict, policy.redaction.typed);
  return {
    coding_agent: agent.name,
    at: at_ms === null ? null : new Date(at_ms).toISOString(),
    tool,
    decision,
    action,
    rule,
    reason: [reason, explainDenial(verdict, policy.rules, null)].filter((part) => part !== null).join(' '),
    rule_ids: ruleIds,
    action_shown: shown?.text ?? null,
    action_marks: shown?.marks ?? [],
    allow: isAllowable ? ruleIds.map((id) => `customshouse allow ${id}`) : [],
  };
}
