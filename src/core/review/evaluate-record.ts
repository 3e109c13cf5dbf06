import { selectDetected } from '../decision/classifier-findings.ts';
import { buildRecordedRestriction, listDeclaredFacts } from '../decision/contracts.ts';
import {
  collectTaggedData,
  collectTags,
  DECISIONS_BY_ACTION,
  evaluateRules,
  findRestrictions,
  type RuleEvaluation,
  type RuleEvaluationInput,
} from '../decision/evaluate-rules.ts';
import { type ContractMatch, findContract, isUndeclared } from '../decision/find-contract.ts';
import { listNamedFacts } from '../decision/named-facts.ts';
import { buildStrippingOutcome } from '../decision/outcomes.ts';
import { getRuleTableForCrossing as rulesFor } from '../decision/rule-table.ts';
import {
  buildRuleContext,
  type ConditionalRule,
  type ConditionResult,
  type RuleContext,
  type RuleObserver,
  type RuleTable,
} from '../decision/rules.ts';
import { usesSessionTags } from '../decision/taint.ts';
import { covers, isFactTag } from '../tags.ts';
import type { DecisionResult, Phase, Policy, ToolContract } from '../types/index.ts';
import { openRecordedResults } from './condition-results.ts';
import type { ContentRecord, RecordedDecision } from './recorded-decision.ts';

/** Evaluates a recorded decision again, with the code that judged it. */
export function evaluateRecord(
  record: RecordedDecision,
  policy: Policy,
  tried?: RuleObserver,
): RuleEvaluation {
  return evaluateRules(buildEvaluationInput(record, policy), tried);
}

/** Builds the input of an evaluation from a recorded decision and a policy. */
export function buildEvaluationInput(record: RecordedDecision, policy: Policy): RuleEvaluationInput {
  const { findings, declared, coverage, content } = record;
  const table = getRecordRuleTable(record, policy);
  const contract = findContract(record.crossing, policy);
  const crossing = addScopes(record, contract);
  const hasTerms = contract !== null && contract !== 'undeclared';
  const ofContent = hasTerms ? content.broken.map((name) => buildRecordedRestriction(name, contract)) : [];
  const isFull = coverage.status === 'full';
  const { conditions } = record;
  const findRecordedResult = getResultFinder(record);
  const known = {
    ...{ crossing, policy, table, contract, findings, declared, coverage },
    ...{ conditions, findRecordedResult },
  };
  const findAll = (heedsMonitored: boolean) =>
    isFull
      ? findRestrictions(crossing, policy, contract, collectTaggedData(known, heedsMonitored), ofContent)
      : [];
  return {
    ...known,
    restrictions: findAll(false),
    buildEnforcedInput: () => ({ findings, declared, restrictions: findAll(true) }),
    stripping:
      isFull && hasTerms && content.strips === true
        ? { outcome: buildStrippingOutcome(crossing.phase), enforcement: contract.enforcement }
        : null,
  };
}

/** Returns the crossing with the scopes that its contract requires, if the person had them. */
function addScopes({ crossing, lacks_scopes: lacks }: RecordedDecision, contract: ContractMatch) {
  const { principal } = crossing;
  const scopes = lacks ? [] : listRequiredScopes(contract);
  if (scopes.length === 0 || principal?.user == null) return crossing;
  return { ...crossing, principal: { ...principal, user: { ...principal.user, scopes } } };
}

function listRequiredScopes(contract: ContractMatch): readonly string[] {
  return contract === null || contract === 'undeclared' ? [] : (contract.required_scopes ?? []);
}

/** Builds the context in which rules match a recorded decision. */
export function buildRecordContext(record: RecordedDecision, policy: Policy): RuleContext {
  const { crossing, findings, declared, conditions } = record;
  const detected = selectDetected(findings);
  const dataTags = () => collectTags(detected, declared);
  const isWithoutContract = isUndeclared(crossing, findContract(crossing, policy));
  const known = { data_tags: dataTags, findings_count: detected.length, conditions };
  return buildRuleContext(crossing, {
    ...known,
    is_undeclared: isWithoutContract,
    findRecordedResult: getResultFinder(record),
  });
}

function getResultFinder({
  condition_results,
  findRecordedResult,
}: RecordedDecision): (rule: ConditionalRule) => ConditionResult {
  return findRecordedResult ?? (({ name }) => condition_results.get(name) ?? null);
}

/** Returns the rules for a recorded decision. */
export function getRecordRuleTable({ crossing }: RecordedDecision, policy: Policy): RuleTable {
  return rulesFor(policy, crossing);
}

/** Returns the decision of an evaluation. */
export function getDecisionResult({ winner }: Pick<RuleEvaluation, 'winner'>): DecisionResult {
  return { decision: DECISIONS_BY_ACTION[winner.action], action: winner.action, rule: winner.rule };
}

/** Reason why the record alone does not determine the decision of another policy. */
export type NotReplayableReason =
  | 'detection_differs'
  | 'limits_differ'
  | 'facts_not_recorded'
  | 'session_not_recorded'
  | 'arguments_not_recorded'
  | 'contract_differs';

/** Returns what another policy would have decided, or why the record does not determine it. */
export function replayUnder(
  record: RecordedDecision,
  was: Policy,
  next: Policy,
): DecisionResult | NotReplayableReason {
  if (was === next) return getDecisionResult(evaluateRecord(record, next));
  if (!hasSameDetection(was, next)) return 'detection_differs';
  if (!hasSameLimits(was, next)) return 'limits_differ';
  if (!hasSameFacts(record, was, next)) return 'facts_not_recorded';
  if (!hasSameSession(record, was, next)) return 'session_not_recorded';
  if (!hasSameTerms(record, was, next) || !hasSameFields(record, was, next)) return 'contract_differs';
  const { condition_results, crossing } = record;
  const keepsFields = listFieldLists(crossing, was, next).length === 1;
  const recorded = openRecordedResults(condition_results, was, crossing.tenant_id, keepsFields);
  const results = listPossibleContents(record, was, next).map((content) =>
    getDecisionResult(evaluateRecord({ ...record, content, findRecordedResult: recorded.find }, next)),
  );
  if (recorded.is_missing()) return 'arguments_not_recorded';
  const [first] = results as [DecisionResult];
  return results.every(({ action }) => action === first.action) ? first : 'contract_differs';
}

function hasSameDetection(was: Policy, next: Policy): boolean {
  return getText(was, 'detection') === getText(next, 'detection');
}

function hasSameLimits(was: Policy, next: Policy): boolean {
  return getText(was, 'limits') === getText(next, 'limits');
}

const known = new WeakMap<object, string>();

/** Serializes a part of a policy. Compiled settings have a fixed member order, so equal settings give equal text. */
function getText(policy: Policy, part: 'detection' | 'limits'): string {
  const value = policy[part];
  const text = known.get(value) ?? JSON.stringify(value);
  known.set(value, text);
  return text;
}

/**
 * Returns whether the record holds the facts that the next policy needs. Facts are collected only if a rule names
 * one, and hosts only if a rule names them.
 */
function hasSameFacts(record: RecordedDecision, was: Policy, next: Policy): boolean {
  const { phase } = record.crossing;
  if (phase !== 'request' && phase !== 'response') return true;
  const wanted = listNamedFacts(getRecordRuleTable(record, next));
  if (wanted.length === 0) return true;
  const lookedFor = listNamedFacts(getRecordRuleTable(record, was));
  const hosts = wanted.filter((tag) => covers('host', tag));
  return lookedFor.length > 0 && hosts.every((tag) => lookedFor.includes(tag));
}

/**
 * Returns whether the record holds the taint tags that the next policy needs. They are recorded only if a rule uses
 * them.
 */
function hasSameSession({ crossing: { tenant_id } }: RecordedDecision, was: Policy, next: Policy): boolean {
  return !usesSessionTags(next, tenant_id) || usesSessionTags(was, tenant_id);
}

/**
 * Returns whether the record holds the declared facts, scopes and call counts that the next policy needs. The contract of
 * that time determined which facts were recorded and whether calls were counted.
 */
function hasSameTerms(record: RecordedDecision, was: Policy, next: Policy): boolean {
  const { crossing } = record;
  const [before, after] = [findContract(crossing, was), findContract(crossing, next)];
  const facts = (contract: typeof before) => listDeclaredFacts(contract, crossing.phase).join(' ');
  const counted = (contract: typeof before) =>
    contract === null || contract === 'undeclared' ? null : contract.max_calls_per_minute;
  const [had, required] = [listRequiredScopes(before), listRequiredScopes(after)];
  const isKnown = record.lacks_scopes
    ? had.every((scope) => required.includes(scope))
    : required.every((scope) => had.includes(scope));
  const isScopeKnown = required.length === 0 || crossing.principal?.user == null || isKnown;
  const sameFacts =
    facts(before) === facts(after) || listNamedFacts(getRecordRuleTable(record, next)).length === 0;
  return isScopeKnown && sameFacts && (counted(after) === null || counted(before) !== null);
}

/**
 * Returns whether the record determines the decision under the fields that the next policy's contract keeps.
 * Contracts remove fields before the scan. The record does not hold removed content, nor the field of a finding.
 */
function hasSameFields(record: RecordedDecision, was: Policy, next: Policy): boolean {
  const { crossing, content, findings, declared } = record;
  const [before, after] = [was, next].map((policy) =>
    listKeptFields(findContract(crossing, policy), crossing.phase),
  );
  if (JSON.stringify(before) === JSON.stringify(after)) return true;
  const isAllRecorded = before!.length === 0 || content.strips === false;
  return isAllRecorded && (after!.length === 0 || (findings.length === 0 && !declared.some(isFactTag)));
}

/** Returns the different field lists that two policies' contracts keep, as JSON. */
function listFieldLists(crossing: RecordedDecision['crossing'], was: Policy, next: Policy): string[] {
  const lists = [was, next].map((policy) =>
    JSON.stringify(listKeptFields(findContract(crossing, policy), crossing.phase)),
  );
  return [...new Set(lists)];
}

/** Returns the fields that a contract keeps; empty if it keeps all. */
function listKeptFields(contract: ReturnType<typeof findContract>, phase: Phase | null): readonly string[] {
  if (contract === null || contract === 'undeclared') return [];
  return (phase === 'response' ? contract.emits.fields : contract.accepts.fields) ?? [];
}

/**
 * Returns the possible content records under the contract that the next policy has for the tool. If the record
 * determines it, there is exactly one.
 */
function listPossibleContents(record: RecordedDecision, was: Policy, next: Policy): readonly ContentRecord[] {
  const { crossing, content } = record;
  const before = findContract(crossing, was);
  const after = findContract(crossing, next);
  if (after === null || after === 'undeclared') return [{ broken: [], strips: false }];
  const terms = serializeContentTerms(after, crossing.phase);
  if (before !== null && before !== 'undeclared' && terms === serializeContentTerms(before, crossing.phase)) {
    return content.strips === null
      ? [
          { ...content, strips: false },
          { ...content, strips: true },
        ]
      : [content];
  }
  const clean = { broken: [], strips: false };
  if (terms === NO_TERMS) return [clean];
  return [clean, { broken: [], strips: true }, { broken: [getContentTerm(crossing.phase)], strips: false }];
}

/** Serializes the terms of a contract on the content itself. */
function serializeContentTerms(
  { arguments: schema, accepts, emits, flow }: ToolContract,
  phase: Phase | null,
): string {
  if (phase === 'response') return JSON.stringify([null, emits.fields]);
  return JSON.stringify(flow === undefined ? [schema, accepts.fields] : [schema, accepts.fields, flow]);
}

const NO_TERMS = JSON.stringify([null, []]);

function getContentTerm(phase: Phase | null): string {
  return phase === 'response' ? 'emits.fields' : 'arguments';
}
