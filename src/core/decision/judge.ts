import { detect } from '../detect/detect.ts';
import { collectToolFactsOnDemand } from '../detect/lazy.ts';
import { checkFlowOnDemand, computeValuesChangeOnDemand, hasForeignValueOnDemand } from '../flow/lazy.ts';
import type { FlowCheck } from '../flow/sinks.ts';
import { usesSources, usesValues } from '../flow/uses-values.ts';
import { memoize } from '../memoize.ts';
import type { ConditionEvaluator } from '../policy/conditions/facts.ts';
import { renderFallback } from '../policy/fallback.ts';
import { isCoveredBy, normalizeTag } from '../tags.ts';
import type { ToolCall } from '../types/crossing.ts';
import type {
  AllowlistedFinding,
  Content,
  Coverage,
  Crossing,
  Decision,
  Detection,
  Finding,
  Fingerprinter,
  JudgedFinding,
  Policy,
  Tag,
  ValuesChange,
  Verdict,
  Violation,
} from '../types/index.ts';
import type { Splice } from '../types/json.ts';
import { applyAllowlist, markAllowedFindings } from './allowlist.ts';
import { addClassification } from './classifier-findings.ts';
import {
  findContentRestrictions,
  listDeclaredFacts,
  listFlowRestrictions,
  type StrippedContent,
  stripFields,
} from './contracts.ts';
import {
  collectTaggedData,
  collectTags,
  DECISIONS_BY_ACTION,
  evaluateRules,
  type FieldStripping,
  findRestrictions,
  type RuleEvaluationInput,
} from './evaluate-rules.ts';
import { type ContractMatch, findContract } from './find-contract.ts';
import { listNamedFacts } from './named-facts.ts';
import {
  buildStrippingOutcome,
  DEFAULT_ALLOW,
  type FindingEvaluation,
  type RuleOutcome,
} from './outcomes.ts';
import { redact } from './redact.ts';
import type { Restriction } from './restriction.ts';
import { getRuleTableForCrossing } from './rule-table.ts';
import {
  buildMissingPersonViolation,
  listConditionResults,
  type RuleContext,
  type RuleTable,
} from './rules.ts';
import { buildFlowViolation, computeTaintChange } from './taint.ts';

/**
 * Decides on a crossing under a policy. Synchronous and pure: the same input gives the same verdict. Never throws: an
 * internal fault gives a verdict that blocks. Without `computeFingerprint` no finding is allowlisted. Without
 * `conditions` no condition in CEL can be evaluated, so rules with a condition restrict and never allow. A caller that
 * has looked up the contract of the crossing passes it as `knownContract`.
 */
export function judge(
  crossing: Crossing,
  policy: Policy,
  computeFingerprint: Fingerprinter | null = null,
  conditions: ConditionEvaluator | null = null,
  knownContract?: ContractMatch,
): Verdict {
  try {
    const contract = knownContract === undefined ? findContract(crossing, policy) : knownContract;
    const stripping = computeStripping(crossing, contract, policy);
    const scan = scanCrossing(crossing, contract, stripping, policy);
    const rest = scan.is_full === true ? scanForOtherFamilies(crossing, policy, scan, conditions) : scan;
    return judgeScan(crossing, policy, addClassification(rest, crossing), computeFingerprint, conditions);
  } catch {
    return buildFaultVerdict(policy);
  }
}

/** Scans the content without the fields that a contract removes, because they are not passed on. */
function scanCrossing(
  crossing: Crossing,
  contract: ContractMatch,
  stripping: StrippingResult | null,
  { detection, limits }: Policy,
): LeftScan {
  const call = buildToolCall(crossing);
  if (stripping?.enforcement !== 'enforce')
    return { ...detect(crossing.content, detection, limits, call), contract, stripping };
  const { content: left, leaves } = stripping;
  const { findings, coverage, is_full } = detect(left, detection, limits, call);
  const mapped = findings.map((finding) => ({ ...finding, leaf: leaves[finding.leaf]! }));
  return { findings: mapped, coverage, is_full, contract, stripping };
}

/**
 * Scans content again in which a scan found too much. If all personal data in it is only flagged here, as in a table
 * that a tool returns, more of it changes nothing: the second scan searches for all else, to the end.
 */
function scanForOtherFamilies(
  crossing: Crossing,
  policy: Policy,
  scan: LeftScan,
  conditions: ConditionEvaluator | null,
): LeftScan {
  const judged = judgeScan(crossing, policy, { ...scan, coverage: FULL }, null, conditions).findings;
  const personal = judged.filter(({ tags }) => tags.every((tag) => isCoveredBy(PERSONAL, tag)));
  if (personal.length === 0 || !personal.every(({ action }) => action === 'flag' || action === 'allow'))
    return scan;
  const detection = withoutPersonalData(policy.detection);
  const rest = scanCrossing(crossing, scan.contract, scan.stripping, { ...policy, detection });
  if (rest.coverage.status !== 'full') return scan;
  const kept = scan.findings.filter(({ tags }) => tags.every((tag) => isCoveredBy(PERSONAL, tag)));
  const findings = [...kept, ...rest.findings].sort((a, b) => a.leaf - b.leaf || a.start - b.start);
  return { ...scan, findings, coverage: FULL };
}

const withoutPersonalData = memoize(
  (detection: Detection): Detection => ({ ...detection, pii_protection: false }),
);

/** Returns the tool call whose arguments a crossing holds; `null` if it holds none. */
function buildToolCall({ boundary, phase, tool, working_dir }: Crossing): ToolCall | null {
  return boundary === 'action' && phase === 'request' ? { tool, working_dir } : null;
}

/** Returns the verdict for an internal fault. It omits the error's text, which could hold scanned content. */
export function buildFaultVerdict(policy: Policy): Verdict {
  return {
    ...EMPTY_VERDICT,
    decision: 'block',
    action: 'block',
    rule: 'fault.internal',
    reason: 'A fault inside the service kept it from deciding, so it blocks.',
    coverage: { status: 'partial', reason: 'A fault ended the check.', bytes: 0 },
    policy_hash: policy?.hash ?? '',
    fault: true,
  };
}

/** Default values of the members that are empty in most verdicts. */
const EMPTY_VERDICT = Object.freeze({
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
  taint_change: null,
  values_change: null,
});

/** Findings in the content of a crossing, and how much of it was scanned. */
export interface CrossingScan {
  readonly findings: readonly Finding[];
  readonly coverage: Coverage;
  /** True if the scan ended because there were too many findings. */
  readonly is_full?: boolean;
  /** The tool's contract; absent if it is not looked up yet. */
  readonly contract?: ContractMatch;
  /** Fields that a contract removed before the scan. */
  readonly stripping?: StrippingResult | null;
}

/** A scan after the contract has removed fields. */
type LeftScan = CrossingScan & Required<Pick<CrossingScan, 'contract' | 'stripping'>>;

/** Judges a crossing whose content was scanned. Unlike `judge`, it throws on a fault. */
export function judgeScan(
  given: Crossing,
  policy: Policy,
  {
    findings: found,
    coverage: scanned,
    contract = findContract(given, policy),
    stripping = null,
  }: CrossingScan,
  computeFingerprint: Fingerprinter | null,
  conditions: ConditionEvaluator | null = null,
): Verdict {
  const crossing = checkTaskSources(given);
  const personal = dropIdentityFindings(found, crossing);
  const { findings: counted, allowlisted_findings } = applyAllowlist(
    crossing,
    policy.detection,
    personal,
    computeFingerprint,
  );
  const findings = markAllowedFindings(crossing, policy.detection, counted);
  const table = getRuleTableForCrossing(policy, crossing);
  const left = stripping?.enforcement === 'enforce' ? { ...crossing, content: stripping.content } : crossing;
  const facts = collectFacts(left, policy, table, contract);
  const coverage = facts === null && scanned.status === 'full' ? UNKNOWN_FACTS : scanned;
  const declared = addDeclaredTags(facts ?? NO_TAGS, crossing);
  const known = { crossing, policy, table, contract, conditions, sent: left.content };
  const flow = checkOrigins(left, contract);
  const input = { ...known, findings, allowlisted_findings, declared, coverage, stripping, flow };
  if (isClean(input)) return buildAllowVerdict(input);
  return buildVerdict(input);
}

/** Checks where a call's values come from; `null` if the contract does not require it. */
function checkOrigins(crossing: Crossing, contract: ContractMatch): FlowCheck | null {
  if (contract === null || contract === 'undeclared' || crossing.phase !== 'request') return null;
  const { flow } = contract;
  return flow === undefined ? null : checkFlowOnDemand(crossing, { ...contract, flow });
}

/** Refuses a call for its task if a value in it comes from another source than those that the task lists. */
function checkTaskSources(crossing: Crossing): Crossing {
  const { task, phase, content, values_seen: seen } = crossing;
  if (task?.is_source === undefined || task.refusal !== null || phase !== 'request') return crossing;
  const reason =
    seen === undefined
      ? 'The task lists sources, and this session does not keep where values come from: no contract has `flow`.'
      : hasForeignValueOnDemand(content, seen)
        ? 'A value in the call comes from a result that is no source of the task.'
        : null;
  return reason === null
    ? crossing
    : { ...crossing, task: { ...task, refusal: { rule: 'task.sources', reason } } };
}

/** Returns the values that a passed crossing adds to its session; `null` if no active rule reads them. */
function listNewValues({ crossing, policy, contract }: JudgeInput): ValuesChange | null {
  if (crossing.values_seen === undefined || !usesValues(policy, crossing.tenant_id)) return null;
  const terms = contract === 'undeclared' ? null : contract;
  return computeValuesChangeOnDemand(crossing, terms, policy.limits, usesSources(policy));
}

/**
 * Drops findings of personal data that are exactly an agent's own identity, such as the address it signs with.
 * Findings of other kinds, or of a part of that place, stay.
 */
function dropIdentityFindings(found: readonly Finding[], { identity_places }: Crossing): readonly Finding[] {
  if (identity_places === undefined || identity_places.length === 0) return found;
  const isIdentity = ({ tags, leaf, start, end }: Finding): boolean =>
    tags.every((tag) => isCoveredBy(PERSONAL, tag)) &&
    identity_places.some((place) => place.leaf === leaf && place.start === start && place.end === end);
  return found.filter((finding) => !isIdentity(finding));
}

const PERSONAL = ['personal'];

const UNKNOWN_FACTS: Coverage = {
  status: 'partial',
  reason:
    'The targets of the call take more steps to read than are allowed, or a script in it exceeds a limit.',
  bytes: 0,
};

/**
 * Collects the facts of a tool call or result that some rule names. Facts are not findings. Returns `null` if a call
 * takes more steps than it may, or a script in it exceeds a limit.
 */
function collectFacts(
  crossing: Crossing,
  policy: Policy,
  table: RuleTable,
  contract: JudgeInput['contract'],
): readonly Tag[] | null {
  const { phase } = crossing;
  if (phase !== 'request' && phase !== 'response') return NO_TAGS;
  const named = listNamedFacts(table);
  if (named.length === 0) return NO_TAGS;
  const seen = phase === 'request' ? collectToolFactsOnDemand(crossing, named, policy.limits) : NO_TAGS;
  return seen === null ? null : [...seen, ...listDeclaredFacts(contract, phase)];
}

const NO_TAGS: readonly Tag[] = [];

/** Returns the facts and what the caller declares, each tag once. */
function addDeclaredTags(facts: readonly Tag[], crossing: Crossing): readonly Tag[] {
  const listed = listDeclaredTags(crossing);
  return listed.length + facts.length === 0 ? NO_TAGS : [...new Set([...listed.map(normalizeTag), ...facts])];
}

function listDeclaredTags({ declared_tags, memory }: Crossing): readonly Tag[] {
  return memory === undefined || memory.tag === null ? declared_tags : [...declared_tags, memory.tag];
}

/** Input of the evaluation, after the scan and the allowlist. */
interface JudgeInput {
  readonly crossing: Crossing;
  readonly policy: Policy;
  readonly table: RuleTable;
  readonly contract: ContractMatch;
  readonly conditions: ConditionEvaluator | null;
  /** The content without the fields that a contract removes. */
  readonly sent: Content;
  readonly findings: readonly Finding[];
  readonly allowlisted_findings: readonly AllowlistedFinding[];
  /** Tags without a position in the content: declared tags and facts. */
  readonly declared: readonly Tag[];
  readonly coverage: Coverage;
  /** Fields that a contract removes. In monitor mode they stay in the content. */
  readonly stripping: StrippingResult | null;
  /** The origins of the arguments; `null` if the contract does not check them. */
  readonly flow: FlowCheck | null;
}

/** Returns whether no rule, contract or identity can match. */
function isClean({ crossing, table, findings, declared, coverage }: JudgeInput): boolean {
  return (
    crossing.boundary !== 'action' &&
    findings.length === 0 &&
    declared.length === 0 &&
    coverage.status === 'full' &&
    table.crossing_rules.length === 0 &&
    table.taint_rules.length === 0
  );
}

function buildAllowVerdict(input: JudgeInput): Verdict {
  const { policy, allowlisted_findings } = input;
  return {
    ...EMPTY_VERDICT,
    values_change: listNewValues(input),
    allowlisted_findings,
    decision: 'allow',
    action: 'allow',
    rule: DEFAULT_ALLOW.rule,
    reason: DEFAULT_ALLOW.reason,
    coverage: FULL,
    policy_hash: policy.hash,
    fault: false,
  };
}

const FULL: Coverage = Object.freeze({ status: 'full' });

function buildVerdict(input: JudgeInput): Verdict {
  const { findings, declared, coverage } = input;
  const isFull = coverage.status === 'full';
  const dataTags = collectTags(findings, declared);
  const restrictions = isFull ? findAllRestrictions(input) : [];
  const stripping = isFull ? input.stripping : null;
  const stripped = stripping?.enforcement === 'enforce' ? stripping : null;
  const evaluation = evaluateRules({
    ...input,
    restrictions,
    stripping,
    buildEnforcedInput: () => buildEnforcedInput(input, stripping),
  });
  const { winner, masked, context } = evaluation;
  const judged = evaluation.evaluations.map(({ finding }) => finding);
  const allowed = evaluation.evaluations.filter(isAllowed).map(({ finding }) => finding);
  const kept = allowed.length === 0 ? judged : listCounted(evaluation.evaluations);
  const decision = DECISIONS_BY_ACTION[winner.action];
  const taintChange =
    decision === 'block'
      ? null
      : computeTaintChange({ ...input, findings: judged, data_tags: dataTags, context });
  const conditionResults = listConditionResults(context);
  const { content, fallback_used } = buildContent(
    winner,
    decision,
    input,
    masked,
    stripped?.splices ?? [],
    dataTags,
  );
  return {
    decision,
    action: winner.action,
    rule: winner.rule,
    reason: winner.reason,
    findings: kept,
    allowlisted_findings: [...input.allowlisted_findings, ...allowed],
    violations: listViolations(evaluation.restrictions, coverage, context),
    data_tags: allowed.length === 0 ? dataTags : collectTags(kept, declared),
    content,
    stripped_fields: decision === 'modify' && stripped !== null ? stripped.stripped_fields : [],
    removed: stripped?.splices ?? [],
    fallback_used,
    ...(winner.severity !== undefined && winner.action !== 'allow' && { rule_severity: winner.severity }),
    coverage,
    monitored: evaluation.monitored,
    enforced_result: evaluation.enforced_result,
    approval: evaluation.approval,
    ...(input.flow !== null && { argument_labels: input.flow.labels }),
    values_change: decision === 'block' ? null : listNewValues(input),
    taint_change: taintChange,
    ...(conditionResults.length > 0 && { condition_results: conditionResults }),
    policy_hash: input.policy.hash,
    fault: false,
  };
}

/** Returns whether a finding's detector is allowlisted, and neither a rule nor a contract acts on it. */
function isAllowed({ finding, outcome }: FindingEvaluation): boolean {
  return finding.allowed_by !== undefined && outcome === null;
}

function listCounted(evaluations: readonly FindingEvaluation[]): readonly JudgedFinding[] {
  return evaluations.filter((each) => !isAllowed(each)).map(({ finding }) => finding);
}

/** Returns what is judged if all that is in monitor mode were enforced. */
function buildEnforcedInput(
  input: JudgeInput,
  stripping: StrippingResult | null,
): ReturnType<NonNullable<RuleEvaluationInput['buildEnforcedInput']>> {
  const left = stripping?.enforcement === 'monitor' ? stripInput(input, stripping) : input;
  const { findings, declared, coverage, sent } = left;
  return {
    findings,
    declared,
    sent,
    restrictions: coverage.status === 'full' ? findAllRestrictions(left, true) : [],
  };
}

/** Returns what is left to judge if the contract of the tool removed its fields. */
function stripInput(input: JudgeInput, { leaves, content }: StrippingResult): JudgeInput {
  const { crossing, policy, table, contract } = input;
  const kept = new Set(leaves);
  const facts = collectFacts({ ...crossing, content }, policy, table, contract);
  return {
    ...input,
    sent: content,
    findings: input.findings.filter(({ leaf, is_whole }) => is_whole === true || kept.has(leaf)),
    declared: addDeclaredTags(facts ?? NO_TAGS, crossing),
  };
}

function findAllRestrictions(input: JudgeInput, heedsMonitored = false): readonly Restriction[] {
  const { crossing, policy, contract, flow } = input;
  const hasTerms = contract !== null && contract !== 'undeclared';
  const contentRestrictions = hasTerms
    ? [
        ...findContentRestrictions(contract, crossing, policy),
        ...(flow === null ? [] : listFlowRestrictions(contract, flow)),
      ]
    : [];
  return findRestrictions(
    crossing,
    policy,
    contract,
    collectTaggedData(input, heedsMonitored),
    contentRestrictions,
  );
}

/** Result of a contract that removes fields from a call or a result. */
type StrippingResult = FieldStripping & StrippedContent;

function computeStripping(
  crossing: Crossing,
  contract: ContractMatch,
  policy: Policy,
): StrippingResult | null {
  if (contract === null || contract === 'undeclared') return null;
  const stripped = stripFields(contract, crossing, policy);
  if (stripped === null) return null;
  return { ...stripped, enforcement: contract.enforcement, outcome: buildStrippingOutcome(crossing.phase) };
}

function listViolations(
  restrictions: readonly Restriction[],
  coverage: Coverage,
  { matched_flow_rules, rules_without_person }: RuleContext,
): readonly Violation[] {
  const violations = [
    ...restrictions.flatMap(({ violation }) => violation ?? []),
    ...matched_flow_rules.map(buildFlowViolation),
    ...rules_without_person.map(buildMissingPersonViolation),
  ];
  if (coverage.status === 'full') return violations;
  const exceeded: Violation = {
    type: 'coverage_exceeded',
    rule: 'coverage.exceeded',
    severity: 'high',
    path: null,
    reason: coverage.reason,
  };
  return [exceeded, ...violations];
}

interface ChangedContent {
  readonly content: Content | null;
  readonly fallback_used: boolean;
}

/**
 * Returns the content to use instead: the rule's own text, or the masked and stripped content; `null` for no change.
 */
function buildContent(
  winner: RuleOutcome,
  decision: Decision,
  { crossing, policy, findings }: JudgeInput,
  masked: readonly JudgedFinding[],
  removed: readonly Splice[],
  dataTags: readonly Tag[],
): ChangedContent {
  const { typed } = policy.redaction;
  const isChanged = decision === 'modify';
  const content = isChanged ? redact(crossing.content, masked, typed, removed) : null;
  const { fallback_template } = winner;
  const mayReplace = crossing.boundary === 'output' && (isChanged || winner.action === 'block');
  if (fallback_template === null || !mayReplace) return { content, fallback_used: false };
  const text = renderFallback(fallback_template, {
    ...winner,
    agent_id: crossing.agent_id,
    data_tags: dataTags,
    detections: findings.length,
    redacted: content,
  });
  return { content: { kind: 'text', text }, fallback_used: true };
}
