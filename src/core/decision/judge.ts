import { detect } from '../detect/detect.ts';
import { factsOfLate } from '../detect/lazy.ts';
import type { Conditions } from '../policy/conditions/facts.ts';
import { fallbackText } from '../policy/fallback.ts';
import { coveredBy, normalTag } from '../tags.ts';
import type { ToolCall } from '../types/guarded-paths.ts';
import type {
  AllowedFinding,
  Breach,
  Content,
  Coverage,
  Crossing,
  Decision,
  Finding,
  FingerprintOf,
  JudgedFinding,
  Policy,
  Rule,
  Tag,
  ToolContract,
  Verdict,
} from '../types/index.ts';
import type { Splice } from '../types/json.ts';
import { partAllowed } from './allowlist.ts';
import { contentObjections, contractOf, declaredFacts, type Removed, strip } from './contracts.ts';
import { factsNamed } from './named-facts.ts';
import type { Objection } from './objection.ts';
import { type Outcome, outcomeOfStripping, SILENCE } from './outcomes.ts';
import { redact } from './redact.ts';
import { tableFor } from './rule-table.ts';
import type { RuleTable } from './rules.ts';
import { flowBreach, sessionChange } from './taint.ts';
import { carriedBy, DECISION_OF, hear, objectionsTo, type Stripping, tagsOf } from './voices.ts';

/**
 * Decides on a crossing: in go what crosses and a policy, out comes a verdict. Synchronous, total and pure:
 * the same crossing under the same policy has the same verdict, and a fault of ours is a verdict that blocks.
 * Without `fingerprintOf` nothing is let be for its fingerprint; without `conditions` none in CEL has an answer, so
 * that rules with one restrict and never allow.
 */
export function judge(
  crossing: Crossing,
  policy: Policy,
  fingerprintOf: FingerprintOf | null = null,
  conditions: Conditions | null = null,
): Verdict {
  try {
    const stripping = strippingOf(crossing, policy);
    const seen = seenIn(crossing, stripping, policy);
    return verdictOn(crossing, policy, seen, fingerprintOf, conditions);
  } catch {
    return faulty(policy);
  }
}

/** Content that a contract takes away is not scanned: it does not go on. */
function seenIn(crossing: Crossing, stripping: Stripped | null, { detection, limits }: Policy): Seen {
  const call = callOf(crossing);
  if (stripping?.enforcement !== 'enforce')
    return { ...detect(crossing.content, detection, limits, call), stripping };
  const { content: left, leaves } = stripping;
  const { findings, coverage } = detect(left, detection, limits, call);
  const moved = findings.map((finding) => ({ ...finding, leaf: leaves[finding.leaf]! }));
  return { findings: moved, coverage, stripping };
}

/** The call whose arguments a crossing holds; `null` where it holds none. */
function callOf({ boundary, phase, tool, working_dir }: Crossing): ToolCall | null {
  return boundary === 'action' && phase === 'request' ? { tool, working_dir } : null;
}

/** What a fault comes to. Its own text is left out: it could hold what was being looked at. */
export function faulty(policy: Policy): Verdict {
  return {
    ...NOTHING,
    decision: 'block',
    action: 'block',
    rule: 'fault.internal',
    reason: 'A fault inside the service kept it from deciding, so it blocks.',
    coverage: { status: 'partial', reason: 'A fault ended the check.', bytes: 0 },
    policy_hash: policy?.hash ?? '',
    fault: true,
  };
}

/** What most verdicts hold nothing of. */
const NOTHING = Object.freeze({
  findings: Object.freeze([]),
  allowlisted_findings: Object.freeze([]),
  violations: Object.freeze([]),
  data_tags: Object.freeze([]),
  content: null,
  stripped_fields: Object.freeze([]),
  removed: Object.freeze([]),
  fallback_used: false,
  monitored: Object.freeze([]),
  approval: null,
  enforced_result: null,
  session_change: null,
});

/** What was found in a crossing's content, and how much of it was looked at. */
export interface Seen {
  readonly findings: readonly Finding[];
  readonly coverage: Coverage;
  /** What a contract removed before anything was looked for; without it nothing. */
  readonly stripping?: Stripped | null;
}

/** The verdict on a crossing in which this was seen. Unlike `judge` it throws where there is a fault. */
export function verdictOn(
  crossing: Crossing,
  policy: Policy,
  { findings: found, coverage, stripping = null }: Seen,
  fingerprintOf: FingerprintOf | null,
  conditions: Conditions | null = null,
): Verdict {
  const personal = withoutIdentities(found, crossing);
  const { findings, allowlisted_findings } = partAllowed(crossing, policy.detection, personal, fingerprintOf);
  const table = tableFor(policy, crossing);
  const contract = contractOf(crossing, policy);
  const left = stripping?.enforcement === 'enforce' ? { ...crossing, content: stripping.content } : crossing;
  const facts = factsIn(left, policy, table, contract);
  const said = declaredTags(crossing);
  const declared = said.length + facts.length === 0 ? NONE : [...new Set([...said.map(normalTag), ...facts])];
  const what = { crossing, policy, table, contract, conditions };
  const asked = { ...what, findings, allowlisted_findings, declared, coverage, stripping };
  if (isClean(asked)) return allowed(asked);
  return weigh(asked);
}

/** The findings without addresses by which an agent signs. Anything else that is found there, or in a part of it, stays. */
function withoutIdentities(found: readonly Finding[], { identity_places }: Crossing): readonly Finding[] {
  if (identity_places === undefined || identity_places.length === 0) return found;
  const isIdentity = ({ tags, leaf, start, end }: Finding): boolean =>
    tags.every((tag) => coveredBy(PERSONAL, tag)) &&
    identity_places.some((place) => place.leaf === leaf && place.start === start && place.end === end);
  return found.filter((finding) => !isIdentity(finding));
}

const PERSONAL = ['personal'];

/** What is looked for where a rule names it, and no finding. */
function factsIn(
  crossing: Crossing,
  policy: Policy,
  table: RuleTable,
  contract: Asked['contract'],
): readonly Tag[] {
  const { phase } = crossing;
  if (phase !== 'request' && phase !== 'response') return NONE;
  const named = factsNamed(table);
  if (named.length === 0) return NONE;
  const seen = phase === 'request' ? factsOfLate(crossing, named, policy.limits) : NONE;
  return [...seen, ...declaredFacts(contract, phase)];
}

const NONE: readonly Tag[] = [];

function declaredTags({ declared_tags, memory }: Crossing): readonly Tag[] {
  return memory === undefined || memory.tag === null ? declared_tags : [...declared_tags, memory.tag];
}

/** All that is known when the rules are asked. */
interface Asked {
  readonly crossing: Crossing;
  readonly policy: Policy;
  readonly table: RuleTable;
  readonly contract: ToolContract | 'undeclared' | null;
  readonly conditions: Conditions | null;
  readonly findings: readonly Finding[];
  readonly allowlisted_findings: readonly AllowedFinding[];
  /** Tags that stand for no place in the content: what the caller says, and facts. */
  readonly declared: readonly Tag[];
  readonly coverage: Coverage;
  /** What a contract takes away, unless it is in monitor mode. */
  readonly stripping: Stripped | null;
}

/** Whether there is nothing that any rule, contract or identity could speak about. */
function isClean({ crossing, table, findings, declared, coverage }: Asked): boolean {
  return (
    crossing.boundary !== 'action' &&
    findings.length === 0 &&
    declared.length === 0 &&
    coverage.status === 'full' &&
    table.about_crossing.length === 0 &&
    table.marks.length === 0
  );
}

function allowed({ policy, allowlisted_findings }: Asked): Verdict {
  return {
    ...NOTHING,
    allowlisted_findings,
    decision: 'allow',
    action: 'allow',
    rule: SILENCE.rule,
    reason: SILENCE.reason,
    coverage: FULL,
    policy_hash: policy.hash,
    fault: false,
  };
}

const FULL: Coverage = Object.freeze({ status: 'full' });

function weigh(asked: Asked): Verdict {
  const { findings, declared, coverage } = asked;
  const is_full = coverage.status === 'full';
  const data_tags = tagsOf(findings, declared);
  const objections = is_full ? objectionsOf(asked) : [];
  const stripping = is_full ? asked.stripping : null;
  const stripped = stripping?.enforcement === 'enforce' ? stripping : null;
  const heard = hear({ ...asked, objections, stripping });
  const { winner, masked, circumstances } = heard;
  const judged = heard.judged.map(({ finding }) => finding);
  const decision = DECISION_OF[winner.action];
  const { content, fallback_used } = contentOf(
    winner,
    decision,
    asked,
    masked,
    stripped?.splices ?? [],
    data_tags,
  );
  return {
    decision,
    action: winner.action,
    rule: winner.rule,
    reason: winner.reason,
    findings: judged,
    allowlisted_findings: asked.allowlisted_findings,
    violations: breachesOf(heard.objections, coverage, circumstances.flow_spoke),
    data_tags,
    content,
    stripped_fields: decision === 'modify' && stripped !== null ? stripped.stripped : [],
    removed: stripped?.splices ?? [],
    fallback_used,
    coverage,
    monitored: heard.monitored,
    enforced_result: heard.enforced_result,
    approval: heard.approval,
    session_change:
      decision === 'block' ? null : sessionChange({ ...asked, findings: judged, data_tags, circumstances }),
    policy_hash: asked.policy.hash,
    fault: false,
  };
}

function objectionsOf(asked: Asked): readonly Objection[] {
  const { crossing, policy, contract } = asked;
  const has_terms = contract !== null && contract !== 'undeclared';
  const of_content = has_terms ? contentObjections(contract, crossing, policy) : [];
  return objectionsTo(crossing, policy, contract, carriedBy(asked), of_content);
}

/** What the contract of a tool takes away from a call or a result. */
type Stripped = Stripping & Removed;

function strippingOf(crossing: Crossing, policy: Policy): Stripped | null {
  const contract = contractOf(crossing, policy);
  if (contract === null || contract === 'undeclared') return null;
  const kept = strip(contract, crossing, policy);
  if (kept === null) return null;
  return { ...kept, enforcement: contract.enforcement, outcome: outcomeOfStripping(crossing.phase) };
}

function breachesOf(
  objections: readonly Objection[],
  coverage: Coverage,
  flow_spoke: readonly Rule[],
): readonly Breach[] {
  const violations = [...objections.flatMap(({ breach }) => breach ?? []), ...flow_spoke.map(flowBreach)];
  if (coverage.status === 'full') return violations;
  const exceeded: Breach = {
    type: 'coverage_exceeded',
    rule: 'coverage.exceeded',
    severity: 'high',
    path: null,
    reason: coverage.reason,
  };
  return [exceeded, ...violations];
}

interface Changed {
  readonly content: Content | null;
  readonly fallback_used: boolean;
}

/** The content to use instead: a rule's own text, or the masked and stripped content; `null` for no change. */
function contentOf(
  winner: Outcome,
  decision: Decision,
  { crossing, policy, findings }: Asked,
  masked: readonly JudgedFinding[],
  removed: readonly Splice[],
  data_tags: readonly Tag[],
): Changed {
  const { typed } = policy.redaction;
  const isChanged = decision === 'modify';
  const content = isChanged ? redact(crossing.content, masked, typed, removed) : null;
  const { fallback_template } = winner;
  const mayReplace = crossing.boundary === 'output' && (isChanged || winner.action === 'block');
  if (fallback_template === null || !mayReplace) return { content, fallback_used: false };
  const text = fallbackText(fallback_template, {
    ...winner,
    agent_id: crossing.agent_id,
    data_tags,
    detections: findings.length,
    redacted: content,
  });
  return { content: { kind: 'text', text }, fallback_used: true };
}
