import { APPROVAL_DEFAULT } from '../policy/compile/builtin.ts';
import type { Conditions } from '../policy/conditions/facts.ts';
import { isFact } from '../tags.ts';
import type {
  Action,
  ApprovalWanted,
  Coverage,
  Decision,
  DecisionResult,
  Envelope,
  Finding,
  JudgedFinding,
  Monitored,
  Policy,
  Tag,
  ToolContract,
} from '../types/index.ts';
import { capabilityObjections } from './capability.ts';
import { contractObjections, contractOf, maskOfResult } from './contracts.ts';
import { identityObjections } from './identities.ts';
import type { Carried, Objection } from './objection.ts';
import {
  type Judged,
  judgeFinding,
  type Outcome,
  outcomeOf,
  outcomeOfCoverage,
  outcomeOfDeclared,
  SILENCE,
} from './outcomes.ts';
import {
  type Circumstances,
  circumstancesOf,
  granted,
  note,
  oncePerTag,
  type RuleTable,
  ruleForCrossing,
  ruleForTag,
  strictest,
  type Tried,
} from './rules.ts';

/** All that may speak about a crossing. Nothing in here is text, so that a recorded decision can be heard again. */
export interface Hearing {
  readonly crossing: Envelope;
  readonly policy: Policy;
  readonly table: RuleTable;
  readonly findings: readonly Finding[];
  /** Tags that stand for no place in the content: what the caller says, and facts. */
  readonly declared: readonly Tag[];
  readonly coverage: Coverage;
  /** What contracts and identities have against it; none where not all was looked at. */
  readonly objections: readonly Objection[];
  /** What it comes to that a contract takes fields away; `null` where none does. */
  readonly stripping: Stripping | null;
  /** What evaluates conditions in CEL; without it they restrict and never allow. */
  readonly conditions: Conditions | null;
}

/** What a contract that takes fields away has to say. */
export interface Stripping {
  readonly outcome: Outcome;
  readonly enforcement: Objection['enforcement'];
}

/** What was said, and who decides. */
export interface Heard {
  readonly winner: Outcome;
  readonly judged: readonly Judged[];
  /** The findings whose own action is `redact`. */
  readonly masked: readonly JudgedFinding[];
  /** What contracts and identities have against it, and is no trial. */
  readonly objections: readonly Objection[];
  readonly monitored: readonly Monitored[];
  readonly enforced_result: DecisionResult | null;
  /** What the rules were asked with. */
  readonly circumstances: Circumstances;
  /** What people would have to grant, where that is all that is in the way. */
  readonly approval: ApprovalWanted | null;
}

/** Asks everyone; the strictest wins, the first of equals. `tried` is told of each rule that is asked. */
export function hear(hearing: Hearing, tried?: Tried): Heard {
  const monitored: Monitored[] = [];
  const heard = askThrough(hearing, monitored, false, tried);
  const enforced_result = monitored.length === 0 ? null : toResult(askThrough(hearing, [], true).winner);
  return { ...heard, monitored, enforced_result };
}

/** More names than this no person reads before agreeing. */
const RULES_ASKING_MAX = 32;

/**
 * Asks everyone, and finds all that asks for approval. Of several that ask only the first is seen, so each that was
 * seen is granted, and the rest asked again, until nothing asks any more. Where that comes to a block, nobody needs
 * to be asked.
 */
function askThrough(hearing: Hearing, monitored: Monitored[], heeds_monitored: boolean, tried?: Tried) {
  const first = ask(hearing, monitored, heeds_monitored, tried);
  if (first.winner.action !== 'require_approval') return { ...first, approval: null };
  const approved_rules: string[] = [];
  let ttl_ms = Number.POSITIVE_INFINITY;
  let min_approvals = 1;
  for (;;) {
    const crossing = { ...hearing.crossing, approved_rules };
    const next = ask({ ...hearing, crossing }, [], heeds_monitored);
    if (next.winner.action === 'block') return { ...next, approval: null };
    if (next.winner.action !== 'require_approval')
      return { ...first, approval: { rules: approved_rules, ttl_ms, min_approvals } };
    if (approved_rules.length >= RULES_ASKING_MAX) return { ...first, approval: null };
    const terms = next.winner.approval ?? APPROVAL_DEFAULT;
    approved_rules.push(next.winner.rule);
    ttl_ms = Math.min(ttl_ms, terms.ttl_ms);
    min_approvals = Math.max(min_approvals, terms.min_approvals);
  }
}

function ask(hearing: Hearing, monitored: Monitored[], heeds_monitored: boolean, tried?: Tried) {
  const { crossing, policy, table, findings, declared, coverage } = hearing;
  const { approved_rules } = crossing;
  const accepted = crossing.memory?.tag ?? null;
  const objections = hearing.objections.filter((each) => counts(each, heeds_monitored, monitored));
  const stripping = hearing.stripping;
  const strips =
    stripping !== null &&
    counts({ ...stripping.outcome, enforcement: stripping.enforcement }, heeds_monitored, monitored);
  const data_tags = () => tagsOf(findings, declared);
  const known = { data_tags, findings: findings.length, conditions: hearing.conditions };
  const circumstances = { ...circumstancesOf(crossing, known), heeds_monitored };
  const about = ruleForCrossing(table, circumstances, monitored, tried);
  const ruleFor = oncePerTag((tagged) => ruleForTag(table, tagged, circumstances, monitored, tried));
  const contract = crossing.phase === 'response' && findings.length > 0 ? contractOf(crossing, policy) : null;
  const judged = findings.map((finding) =>
    judgedByContract(
      judgeFinding(finding, policy, ruleFor, crossing),
      maskOfResult(contract, crossing, policy, finding.tags),
    ),
  );
  const masked = judged.map(({ finding }) => finding).filter(({ action }) => action === 'redact');
  const outcomes: Outcome[] = [
    ...(coverage.status === 'full' ? [] : [outcomeOfCoverage(coverage)]),
    ...objections.map(({ action, rule, reason }) =>
      granted({ action, rule, reason, fallback_template: null }, rule, approved_rules),
    ),
    ...(about === null ? [] : [outcomeOf(about)]),
    ...judged.flatMap(({ outcome }) => outcome ?? []),
    ...declared.flatMap((tag) => outcomeOfDeclared(tag, policy, ruleFor, masked, accepted, crossing)),
    ...(strips ? [stripping.outcome] : []),
  ];
  return { winner: strictest(outcomes) ?? SILENCE, judged, masked, objections, circumstances };
}

/** A finding as the contract of its tool judges it: one that is only to be masked is, unless a rule does more. */
function judgedByContract(judged: Judged, mask: Pick<Outcome, 'rule' | 'reason'> | null): Judged {
  if (mask === null) return judged;
  const outcome: Outcome = { action: 'redact', fallback_template: null, ...mask };
  if (judged.outcome !== null && strictest([judged.outcome, outcome]) === judged.outcome) return judged;
  return { finding: { ...judged.finding, action: 'redact', rule: mask.rule }, outcome };
}

/** Whether it has a say. What is in monitor mode is noted, and has none. */
function counts(
  { rule, action, enforcement }: Pick<Objection, 'rule' | 'action' | 'enforcement'>,
  heeds_monitored: boolean,
  monitored: Monitored[],
): boolean {
  if (enforcement === 'enforce' || heeds_monitored) return true;
  note(monitored, { rule, action, tag: null });
  return false;
}

function toResult({ action, rule }: Outcome): DecisionResult {
  return { decision: DECISION_OF[action], action, rule };
}

/** What the decision is where an action wins. */
export const DECISION_OF: Readonly<Record<Action, Decision>> = {
  allow: 'allow',
  flag: 'allow',
  redact: 'modify',
  require_approval: 'block',
  block: 'block',
};

/**
 * What contracts and identities have against an action. `of_content` is what the contract has against the
 * content itself, which stands beside what it has against the tags.
 */
export function objectionsTo(
  crossing: Envelope,
  policy: Policy,
  contract: ToolContract | 'undeclared' | null,
  { tags: data_tags, findings }: Carried,
  of_content: readonly Objection[],
): readonly Objection[] {
  if (crossing.boundary !== 'action') return [];
  const tags = data_tags.filter((tag) => !isFact(tag));
  const identity = [
    ...capabilityObjections(crossing),
    ...identityObjections(crossing, policy, { tags, findings }),
  ];
  return contract === null
    ? identity
    : [...identity, ...contractObjections(contract, crossing, { tags, findings }, of_content)];
}

/**
 * Returns what contracts and identities are asked about. A result loses what a rule redacts, so nothing is held against
 * that; a call is held to all that its arguments carry.
 */
export function carriedBy(hearing: Omit<Hearing, 'objections' | 'stripping'>): Carried {
  const { crossing, findings, declared } = hearing;
  const is_result = crossing.boundary === 'action' && crossing.phase === 'response';
  if (!is_result || findings.length === 0) return { tags: tagsOf(findings, declared), findings };
  const { judged } = ask({ ...hearing, objections: [], stripping: null }, [], false);
  const left = findings.filter((_finding, at) => judged[at]!.finding.action !== 'redact');
  return { tags: tagsOf(left, declared), findings: left };
}

/** Declared and found tags, each once, sorted. */
export function tagsOf(findings: readonly Finding[], declared: readonly Tag[]): readonly Tag[] {
  return [...new Set([...declared, ...findings.flatMap((finding) => finding.tags)])].sort();
}
