import {
  findRuleForCrossing,
  findRuleForTag,
  findScopeMismatch,
  getEnforcementPoint,
  RULE_SCOPES,
  type RuleContext,
  type RuleMismatch,
  type TagOccurrence,
} from '../decision/rules.ts';
import type { Action, Policy, Rule } from '../types/index.ts';
import { buildRecordContext, getRecordRuleTable } from './evaluate-record.ts';
import type { RecordedDecision } from './recorded-decision.ts';

/** Maximum number of rules in one trace. The others are only counted. */
const TRACE_MAX = 200;
/** Maximum number of names in one sentence. */
const NAMES_MAX = 5;

/** One rule that was evaluated. */
export interface RuleTraceEntry {
  readonly rule: string;
  readonly action: Action;
  readonly tenant_id: string | null;
  readonly builtin: boolean;
  /**
   * `monitored`: the rule matched in monitor mode and has no effect. `not_reached`: an earlier rule of its list
   * matched.
   */
  readonly outcome: 'matched' | 'monitored' | 'not_matched' | 'not_reached';
  /** One sentence. */
  readonly reason: string;
}

/** The rules that were evaluated for one tag or check, in order. */
export interface RuleTrace {
  /** The rule that decides; `null` if none matches. */
  readonly deciding_rule: Rule | null;
  readonly entries: readonly RuleTraceEntry[];
  /** Number of rules that were left out. */
  readonly truncated: number;
}

/** Evaluates the rules for a tag, or for the crossing itself if it is `null`, and records why a rule does not match. */
export function traceRules(
  record: RecordedDecision,
  policy: Policy,
  tagged: TagOccurrence | null,
): RuleTrace {
  const circumstances = buildRecordContext(record, policy);
  const table = getRecordRuleTable(record, policy);
  const mismatches = new Map<Rule, RuleMismatch | null>();
  const tried = (rule: Rule, mismatch: RuleMismatch | null) => void mismatches.set(rule, mismatch);
  const decidingRule =
    tagged === null
      ? findRuleForCrossing(table, circumstances, [], tried)
      : findRuleForTag(table, tagged, circumstances, [], tried);
  const streams =
    tagged === null ? table.crossing_rules : [...table.tag_rules, table.builtin_rules, ...table.flow_rules];
  const entries: RuleTraceEntry[] = [];
  let count = 0;
  for (const stream of streams) {
    const isBuiltin = stream === table.builtin_rules;
    let before = isBuiltin && !stream.some((rule) => mismatches.has(rule)) ? decidingRule : null;
    for (const rule of stream) {
      count += 1;
      if (entries.length < TRACE_MAX)
        entries.push(traceRule(rule, isBuiltin, mismatches, before, tagged, circumstances));
      if (mismatches.get(rule) === null && rule.enforcement === 'enforce') before = rule;
    }
  }
  return { deciding_rule: decidingRule, entries, truncated: count - entries.length };
}

function traceRule(
  rule: Rule,
  builtin: boolean,
  mismatches: ReadonlyMap<Rule, RuleMismatch | null>,
  before: Rule | null,
  tagged: TagOccurrence | null,
  circumstances: RuleContext,
): RuleTraceEntry {
  const { name, action, tenant_id, enforcement } = rule;
  const about = { rule: name, action, tenant_id, builtin };
  const mismatch = mismatches.get(rule);
  if (mismatch === undefined)
    return { ...about, outcome: 'not_reached', reason: `\`${before?.name ?? ''}\` matched first.` };
  if (mismatch !== null)
    return {
      ...about,
      outcome: 'not_matched',
      reason: explainMismatch(rule, mismatch, tagged, circumstances),
    };
  if (enforcement === 'monitor')
    return {
      ...about,
      outcome: 'monitored',
      reason: 'It matches and is in monitor mode, so it does not decide.',
    };
  return { ...about, outcome: 'matched', reason: `It matches, with the action \`${action}\`.` };
}

function explainMismatch(
  rule: Rule,
  mismatch: RuleMismatch,
  tagged: TagOccurrence | null,
  circumstances: RuleContext,
): string {
  switch (mismatch) {
    case 'tag':
      return `It is for ${formatNameList(rule.data_tags)}, which does not cover \`${tagged?.tag ?? ''}\`.`;
    case 'severity':
      return `It is for findings of severity ${rule.severity_min} or worse, and this is ${tagged?.severity}.`;
    case 'detector':
      return tagged?.rule_id === undefined
        ? `It is for findings of ${formatNameList(rule.rule_ids ?? [])}, and no detector found this.`
        : `It is for findings of ${formatNameList(rule.rule_ids ?? [])}, and \`${tagged.rule_id}\` found this.`;
    case 'tool':
      return circumstances.tool === null
        ? `It is for the tool ${formatNameList(rule.tools)}, and no tool is named.`
        : `It is for the tool ${formatNameList(rule.tools)}, and this is \`${circumstances.tool}\`.`;
    case 'agent':
      return rule.action === 'allow' && circumstances.agents.length > 1
        ? `It allows ${formatNameList(rule.agents)}, and not all who act are that: ${formatNameList(circumstances.agents)}.`
        : `It is for the agent ${formatNameList(rule.agents)}, and ${formatNameList(circumstances.agents)} acts.`;
    case 'user':
      return circumstances.principal.user === null
        ? 'It is for particular people, and the call proves no person.'
        : 'It is for other people.';
    case 'agent_tier':
      return `It is for the tier ${formatNameList(rule.agent_tiers ?? [])}, which the call does not prove.`;
    case 'session_tags':
      return `It is for sessions with the taint tags ${formatNameList(rule.session_tags)}, and this session lacks one.`;
    case 'when':
      return 'Its condition `when` does not hold.';
  }
}

/** Formats a list as `` `a`, `b` and 3 more``. */
export function formatNameList(list: readonly string[]): string {
  const first = list.slice(0, NAMES_MAX).map((each) => `\`${each}\``);
  return list.length > NAMES_MAX
    ? `${first.join(', ')} and ${list.length - NAMES_MAX} more`
    : first.join(', ');
}

/** A rule that was not evaluated, because it is for another boundary, phase or tenant. */
export interface UnevaluatedRule {
  readonly rule: string;
  readonly tenant_id: string | null;
  readonly mismatch: 'boundary' | 'phase' | 'tenant';
  readonly reason: string;
}

/**
 * Returns the configured rules that are in no list of this enforcement point, up to a maximum, and the number of
 * those left out.
 */
export function listUnevaluatedRules(
  { crossing }: RecordedDecision,
  policy: Policy,
): { readonly rules: readonly UnevaluatedRule[]; readonly truncated: number } {
  const scopes = RULE_SCOPES[getEnforcementPoint(crossing.boundary, crossing.phase)];
  const rules: UnevaluatedRule[] = [];
  let count = 0;
  for (const rule of policy.rules) {
    const { name, tenant_id, boundaries, phases } = rule;
    const misses = scopes.map((scope) => findScopeMismatch(rule, scope));
    const isForeign = tenant_id !== null && tenant_id !== crossing.tenant_id;
    if (!isForeign && misses.includes(null)) continue;
    count += 1;
    if (rules.length >= TRACE_MAX) continue;
    if (isForeign) {
      const reason = `It is for the tenant \`${tenant_id}\`, and this is \`${crossing.tenant_id}\`.`;
      rules.push({ rule: name, tenant_id, mismatch: 'tenant', reason });
    } else if (misses.includes('phase')) {
      const reason = `It is for the phase ${formatNameList(phases)}, and this is \`${crossing.phase}\`.`;
      rules.push({ rule: name, tenant_id, mismatch: 'phase', reason });
    } else {
      const reason = `It is for ${formatNameList(boundaries)}, and this is \`${crossing.boundary}\`.`;
      rules.push({ rule: name, tenant_id, mismatch: 'boundary', reason });
    }
  }
  return { rules, truncated: count - rules.length };
}
