import { capabilityObjections } from './capability.ts';
import type { Conditions } from './conditions/facts.ts';
import { type Carried, contractObjections } from './contracts.ts';
import { identityObjections } from './identities.ts';
import type { Objection } from './objection.ts';
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
import { isFact } from './tags.ts';
import type {
  Action,
  Coverage,
  Decision,
  Envelope,
  Finding,
  JudgedFinding,
  Monitored,
  Policy,
  Tag,
  ToolContract,
  WouldBe,
} from './types.ts';

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
  readonly would_be: WouldBe | null;
  /** What the rules were asked with. */
  readonly circumstances: Circumstances;
}

/** Asks everyone; the strictest wins, the first of equals. `tried` is told of each rule that is asked. */
export function hear(hearing: Hearing, tried?: Tried): Heard {
  const monitored: Monitored[] = [];
  const heard = ask(hearing, monitored, false, tried);
  const would_be = monitored.length === 0 ? null : wouldBe(ask(hearing, [], true).winner);
  return { ...heard, monitored, would_be };
}

function ask(hearing: Hearing, monitored: Monitored[], heeds_monitored: boolean, tried?: Tried) {
  const { crossing, policy, table, findings, declared, coverage } = hearing;
  const { approved_rules } = crossing;
  const objections = hearing.objections.filter((each) => counts(each, heeds_monitored, monitored));
  const stripping = hearing.stripping;
  const strips =
    stripping !== null &&
    counts({ ...stripping.outcome, enforcement: stripping.enforcement }, heeds_monitored, monitored);
  const data_tags = tagsOf(findings, declared);
  const known = { data_tags, findings: findings.length, conditions: hearing.conditions };
  const circumstances = { ...circumstancesOf(crossing, known), heeds_monitored };
  const about = ruleForCrossing(table, circumstances, monitored, tried);
  const ruleFor = oncePerTag((tagged) => ruleForTag(table, tagged, circumstances, monitored, tried));
  const judged = findings.map((finding) => judgeFinding(finding, policy, ruleFor, approved_rules));
  const masked = judged.map(({ finding }) => finding).filter(({ action }) => action === 'redact');
  const outcomes = [
    ...(coverage.status === 'full' ? [] : [outcomeOfCoverage(coverage)]),
    ...objections.map(({ action, rule, reason }) =>
      granted({ action, rule, reason, fallback_template: null }, rule, approved_rules),
    ),
    ...(about === null ? [] : [outcomeOf(about)]),
    ...judged.flatMap(({ outcome }) => outcome ?? []),
    ...declared.flatMap((tag) => outcomeOfDeclared(tag, policy, ruleFor, masked, approved_rules)),
    ...(strips ? [stripping.outcome] : []),
  ];
  return { winner: strictest(outcomes) ?? SILENCE, judged, masked, objections, circumstances };
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

function wouldBe({ action, rule }: Outcome): WouldBe {
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
  const identity = [...capabilityObjections(crossing), ...identityObjections(crossing, policy, tags)];
  return contract === null
    ? identity
    : [...identity, ...contractObjections(contract, crossing, { tags, findings }, of_content)];
}

/** Declared and found tags, each once, sorted. */
export function tagsOf(findings: readonly Finding[], declared: readonly Tag[]): readonly Tag[] {
  return [...new Set([...declared, ...findings.flatMap((finding) => finding.tags)])].sort();
}
