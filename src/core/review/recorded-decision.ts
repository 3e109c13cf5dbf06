import { isOriginRule } from '../flow/rule-names.ts';
import type { ConditionEvaluator } from '../policy/conditions/facts.ts';
import { isFactTag } from '../tags.ts';
import {
  ACTIONS,
  type Action,
  type AgentTier,
  BOUNDARIES,
  type Boundary,
  type Coverage,
  type CrossingContext,
  DECISIONS,
  type Decision,
  type DecisionResult,
  type Finding,
  PHASES,
  type Phase,
  type Policy,
  type Principal,
  type ProvedUser,
  SEVERITIES,
  type Severity,
  type Tag,
  type Verdict,
  type ViolationType,
} from '../types/index.ts';
import { type ConditionResults, parseConditionResults, type RecordedResults } from './condition-results.ts';
import { parseFoundTags } from './found-tags.ts';

/** The severity of an action if nothing else has a higher one. */
const ACTION_SEVERITIES: Readonly<Record<Action, Severity>> = {
  allow: 'low',
  flag: 'low',
  redact: 'medium',
  require_approval: 'medium',
  block: 'high',
};

/** The parts of a verdict that decide the severity of its event. */
type SeverityParts = Pick<Verdict, 'action' | 'findings' | 'violations' | 'rule_severity'>;

/**
 * Returns the severity that an event records: the highest of its findings, violations, the rule that decided, and the
 * action. A harmless finding next to a grave one never lowers it. `null` if nothing was found and nothing done.
 */
export function computeEventSeverity(verdict: SeverityParts): Severity | null {
  const { action, findings, violations, rule_severity } = verdict;
  if (action === 'allow' && findings.length === 0 && violations.length === 0) return null;
  const severities = new Set<Severity | undefined>([
    ACTION_SEVERITIES[action],
    rule_severity,
    ...findings.flatMap(({ severity, detected_severity }) => [severity, detected_severity]),
    ...violations.map(({ severity }) => severity),
  ]);
  return findHighestSeverity((each) => severities.has(each));
}

/** Returns the highest severity for which a test holds; `null` if there is none. */
function findHighestSeverity(isPresent: (severity: Severity) => boolean): Severity | null {
  return SEVERITIES.toReversed().find(isPresent) ?? null;
}

/**
 * Returns the severity of a recorded event; `null` if it has none. An event of an earlier version has no `severity`, and
 * that of its findings counts.
 */
export function readEventSeverity({ metadata }: Pick<RecordedEvent, 'metadata'>): Severity | null {
  if (isOneOf(SEVERITIES, metadata.severity)) return metadata.severity;
  const found = parseFoundTags(metadata.found_tags).map((kind) => kind?.severity);
  return findHighestSeverity((each) => found.includes(each));
}

/** Members of an audit event that a replay reads. Every decision in the journal has them. */
export interface RecordedEvent {
  readonly event_id: string;
  readonly boundary: string;
  readonly decision: Decision;
  readonly action: string;
  readonly policy_name: string;
  readonly data_tags: readonly Tag[];
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly tool_name: string | null;
  readonly session_id: string | null;
  readonly source_agent_id: string | null;
  readonly destination_agent_id: string | null;
  readonly user_id?: string;
  readonly user_email?: string;
  readonly groups?: readonly string[];
  readonly claimed_user?: string;
  readonly chain?: readonly string[];
  readonly agent_tier?: AgentTier;
  readonly trace_id?: string;
  /** The task that the call named; absent if it named none. */
  readonly task_id?: string;
  readonly policy_hash: string;
  readonly coverage: 'full' | 'partial';
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Facts about the content that the replay cannot recompute, because the record holds no content. */
export interface ContentRecord {
  /** Terms of a contract that the content violated: `arguments`, `accepts.fields`, `emits.fields`. */
  readonly broken: readonly string[];
  /** `true` if the contract removed fields; `null` if the record does not show it. */
  readonly strips: boolean | null;
}

/** Input of a replay, read from an audit event. It holds no text, because audit events hold none. */
export interface RecordedDecision {
  readonly crossing: CrossingContext;
  readonly findings: readonly Finding[];
  /** Declared tags and facts. */
  readonly declared: readonly Tag[];
  readonly coverage: Coverage;
  readonly content: ContentRecord;
  /** True if the person lacked a scope that the contract required. The record does not name scopes. */
  readonly lacks_scopes: boolean;
  /** Results for conditions on arguments, because the record holds no arguments. */
  readonly condition_results: ConditionResults;
  /** Finds these results for another policy's rules; absent for the policy that decided. */
  readonly findRecordedResult?: RecordedResults['find'];
  /** The decision with all monitored parts of the policy enforced; `null` if no such part matched. */
  readonly enforced_result: DecisionResult | null;
  /** Evaluates the CEL conditions of a policy. Without it, rules with a condition restrict and never allow. */
  readonly conditions: ConditionEvaluator | null;
}

/** Reason why an event cannot be replayed. */
export type UnreadableReason = 'no_decision' | 'fault' | 'incomplete';

/**
 * Reads a recorded decision from an event. `decidedMs` is in milliseconds since 1970, UTC. Returns a reason if the
 * event is not a policy decision or does not hold all inputs of the rules.
 */
export function readRecordedDecision(
  event: RecordedEvent,
  decidedMs: number,
  conditions: ConditionEvaluator | null = null,
): RecordedDecision | UnreadableReason {
  const { metadata, coverage } = event;
  if (!isBoundary(event.boundary) || typeof metadata.endpoint !== 'string') return 'no_decision';
  if (!(ACTIONS as readonly string[]).includes(event.action)) return 'no_decision';
  if (metadata.fault === true) return 'fault';
  const findings = getFindings(metadata);
  if (findings === null) return 'incomplete';
  const declared = readTexts(metadata.declared_tags);
  const known = new Set([...declared, ...findings.flatMap(({ tags }) => tags)]);
  const rest = event.data_tags.filter((tag) => !known.has(tag));
  if (!rest.every(isFactTag)) return 'incomplete';
  return {
    crossing: { ...getEnvelope(event, event.boundary, declared), now_ms: decidedMs },
    findings,
    declared: [...declared, ...rest],
    coverage: coverage === 'full' ? { status: 'full' } : readPartialCoverage(metadata),
    content: readContentRecord(event),
    lacks_scopes: lacksScopes(event),
    condition_results: parseConditionResults(readTexts(metadata.condition_results)),
    enforced_result: readEnforcedResult(metadata),
    conditions,
  };
}

function isBoundary(text: string): text is Boundary {
  return (BOUNDARIES as readonly string[]).includes(text);
}

function readTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function readPartialCoverage({ coverage_reason, coverage_bytes }: RecordedEvent['metadata']): Coverage {
  return { status: 'partial', reason: String(coverage_reason ?? ''), bytes: Number(coverage_bytes ?? 0) };
}

function getEnvelope(
  event: RecordedEvent,
  boundary: Boundary,
  declaredTags: readonly Tag[],
): Omit<CrossingContext, 'now_ms'> {
  const { phase, approved_rules, session_tags, calls_last_minute, unchangeable } = event.metadata;
  const { calls_last_minute_for_user: callsForUser } = event.metadata;
  const principal = readRecordedPrincipal(event);
  const capability = getCapability(event);
  const task = getTask(event);
  return {
    boundary,
    phase: (PHASES as readonly unknown[]).includes(phase) ? (phase as Phase) : null,
    tenant_id: event.tenant_id,
    agent_id: event.agent_id,
    session_id: event.session_id,
    source_agent_id: event.source_agent_id,
    destination_agent_id: event.destination_agent_id,
    tool: event.tool_name,
    declared_tags: declaredTags,
    approved_rules: readTexts(approved_rules),
    session_tags: readTexts(session_tags),
    ...(typeof calls_last_minute === 'number' && { calls_last_minute }),
    ...(typeof callsForUser === 'number' && { calls_last_minute_for_user: callsForUser }),
    ...(principal !== null && { principal }),
    ...(capability !== undefined && { capability }),
    ...(task !== undefined && { task }),
    ...(unchangeable === true && { is_unchangeable: true }),
  };
}

/** Rebuilds the principal. Scopes are not recorded, and a recorded tier counts as proved, because it decided. */
function readRecordedPrincipal(event: RecordedEvent): Principal | null {
  const { user_id, user_email, groups, claimed_user, chain, agent_tier, trace_id } = event;
  if ([user_id, claimed_user, chain, agent_tier].every((each) => each === undefined)) return null;
  const user: ProvedUser | null =
    user_id === undefined
      ? null
      : { user_id, user_email: user_email ?? null, groups: groups ?? [], scopes: null };
  return {
    user,
    claimed_user: claimed_user ?? null,
    chain: chain ?? [],
    agent_tier: agent_tier ?? null,
    claimed_tier: null,
    // The task is rebuilt with its refusal.
    task_id: null,
    trace_id: trace_id ?? null,
  };
}

/**
 * Rebuilds the capability of a crossing. A refused token is refused again, because the event does not record what the
 * token allows.
 */
function getCapability({ metadata }: RecordedEvent): CrossingContext['capability'] {
  const tokenId = typeof metadata.capability_token_id === 'string' ? metadata.capability_token_id : null;
  const rule = findRefusal(metadata, 'identity_violation', 'capability_token.');
  if (rule === null) return tokenId === null ? undefined : { token_id: tokenId, refusal: null };
  return { token_id: tokenId, refusal: { rule, reason: 'The capability token was refused.' } };
}

/** Rebuilds a crossing's task, as its capability is rebuilt. */
function getTask({ task_id, metadata }: RecordedEvent): CrossingContext['task'] {
  const taskId = task_id ?? null;
  const rule = findRefusal(metadata, 'flow_violation', 'task.');
  if (rule === null) return taskId === null ? undefined : { task_id: taskId, refusal: null };
  return { task_id: taskId, refusal: { rule, reason: 'The task was refused.' } };
}

/** Returns the rule in a recorded violation whose name begins so; `null` if there is none. */
function findRefusal(
  metadata: RecordedEvent['metadata'],
  type: ViolationType,
  prefix: string,
): string | null {
  const found = readTexts(metadata.violations).find((each) => each.startsWith(`${type}:${prefix}`));
  return found?.slice(type.length + 1) ?? null;
}

function readEnforcedResult(metadata: RecordedEvent['metadata']): DecisionResult | null {
  const { monitored_decision: decision, monitored_action: action, monitored_rule: rule } = metadata;
  if (!isOneOf(DECISIONS, decision) || !isOneOf(ACTIONS, action) || typeof rule !== 'string') return null;
  return { decision, action, rule };
}

function isOneOf<Name extends string>(names: readonly Name[], value: unknown): value is Name {
  return (names as readonly unknown[]).includes(value);
}

/** Rebuilds the findings of an event without positions; `null` if the event does not list all of them. */
function getFindings({
  found_tags,
  findings: total = 0,
  rule_ids,
}: RecordedEvent['metadata']): Finding[] | null {
  const findings: Finding[] = [];
  const [ruleId = '', ...others] = readTexts(rule_ids);
  const detector = others.length === 0 ? ruleId : '';
  for (const kind of parseFoundTags(found_tags)) {
    if (kind === null || findings.length + kind.count > Number(total)) return null;
    const finding: Finding = {
      ...buildPlacelessFinding(kind.tags, kind.severity),
      ...kind.marks,
      rule_id: detector,
    };
    for (let left = kind.count; left > 0; left -= 1) findings.push(finding);
  }
  return findings.length === total ? findings : null;
}

/** Returns whether the record lacks the detectors of its findings, and a rule may need them. */
export function lacksDetectors({ findings, crossing }: RecordedDecision, { rules }: Policy): boolean {
  return (
    findings.some(({ rule_id }) => rule_id === '') &&
    rules.some(
      ({ rule_ids, tenant_id }) =>
        rule_ids !== undefined && (tenant_id === null || tenant_id === crossing.tenant_id),
    )
  );
}

/** Builds a finding with only the members that rules use. */
function buildPlacelessFinding(tags: readonly [Tag, ...Tag[]], severity: Severity): Finding {
  const type = 'content_detected';
  return { rule_id: '', detector: '', type, severity, tags, start: 0, end: 0, leaf: 0, path: null };
}

/** Returns whether the event lists removed fields. Events of an earlier version hold their number instead. */
function hasStripped(stripped: unknown): boolean {
  return Array.isArray(stripped) ? stripped.length > 0 : Number(stripped ?? 0) > 0;
}

const CONTENT_RULES = ['arguments', 'accepts.fields', 'emits.fields'];

const FLOW_VIOLATION = 'flow_violation:';

/** Returns the violated terms on value origins. */
function listFlowRules(violations: readonly string[], monitored: readonly string[]): readonly string[] {
  const names = violations.flatMap((each) =>
    each.startsWith(FLOW_VIOLATION) ? [each.slice(FLOW_VIOLATION.length)] : [],
  );
  const rules = monitored.map((each) => each.slice(0, each.lastIndexOf(':')));
  return [...new Set([...names, ...rules])].filter(isOriginRule);
}

function lacksScopes({ metadata }: RecordedEvent): boolean {
  return (
    readTexts(metadata.violations).includes('identity_violation:required_scopes') ||
    readTexts(metadata.monitored).includes('contract.required_scopes:block')
  );
}

function readContentRecord({ decision, metadata }: RecordedEvent): ContentRecord {
  const violations = readTexts(metadata.violations);
  const monitored = readTexts(metadata.monitored);
  const broken = CONTENT_RULES.filter(
    (name) =>
      violations.includes(`contract_violation:${name}`) || monitored.includes(`contract.${name}:block`),
  );
  broken.push(...listFlowRules(violations, monitored));
  const taken = CONTENT_RULES.some((name) => monitored.includes(`contract.${name}:redact`));
  if (taken || hasStripped(metadata.stripped_fields)) return { broken, strips: true };
  return { broken, strips: decision === 'block' ? null : false };
}
