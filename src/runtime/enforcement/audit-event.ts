import { isAllowlistable } from '../../core/decision/allowlist.ts';
import { listContentMarks } from '../../core/decision/content-marks.ts';
import { redact } from '../../core/decision/redact.ts';
import { isMaskable, recordShownAction } from '../../core/decision/shown-action.ts';
import { listArgumentLabels } from '../../core/flow/labels.ts';
import { writeContentJson } from '../../core/json/source.ts';
import { collectLeafTexts } from '../../core/json/walk.ts';
import { formatConditionResult } from '../../core/review/condition-results.ts';
import { summarizeFindings } from '../../core/review/found-tags.ts';
import { computeEventSeverity } from '../../core/review/recorded-decision.ts';
import { matchesAnyCase, normalizeTag } from '../../core/tags.ts';
import type {
  Boundary,
  Content,
  Crossing,
  Json,
  MemoryUse,
  Phase,
  Principal,
  Verdict,
} from '../../core/types/index.ts';
import type { Caller } from '../access/types.ts';
import { formatTime, type HashedFields, hashContext, sortMetadata } from '../audit/service-event.ts';
import type { AuditEvent } from '../audit/types.ts';
import type { Endpoint } from '../observability/endpoint.ts';
import { type FingerprintSealer, NO_FINGERPRINT } from '../policies/fingerprints.ts';
import type { ApprovalState } from './approval.ts';
import { formatArgumentShapes } from './argument-shape.ts';
import { formatFindingPlace } from './finding-places.ts';
import type { LoggedTexts } from './logged-texts.ts';

/** The facts of one event. `typed_redaction` sets the style of masks in a logged text. */
export interface DecisionFacts {
  readonly event_id: string;
  readonly crossing: Crossing;
  readonly verdict: Verdict;
  /** The request for approval that the verdict depended on. */
  readonly approval?: ApprovalState | null;
  /** The grant that was used; absent if none was. */
  readonly grant_id?: string;
  /** Names of the classifiers that gave no valid answer. */
  readonly failed_classifiers?: readonly string[];
  readonly caller: Caller;
  readonly endpoint: Endpoint;
  readonly logged: LoggedTexts;
  readonly typed_redaction: boolean;
  /** Seals the fingerprints of found values; `null` records no places of findings. */
  readonly sealFingerprint?: FingerprintSealer | null;
  /** Additional metadata. */
  readonly about?: AuditEvent['metadata'] | undefined;
}

/** The longest redacted text of one event, in UTF-16 units. */
const LOGGED_TEXT_MAX = 8_192;
/** The longest list of names in the metadata. */
const LIST_MAX = 50;
/** The number of session tags in one event. */
const SESSION_TAGS_MAX = 1_000;
/** The number of finding kinds, declared tags, and groups in one event. */
const RECORDED_MAX = 100;

/**
 * Builds the audit event of a verdict: the decision, never the text. A text with every finding masked is added
 * only if `logged` asks for it.
 */
export function buildAuditEvent(decided: DecisionFacts): AuditEvent {
  const { crossing, verdict } = decided;
  const unhashed: HashedFields = {
    event_id: decided.event_id,
    boundary: crossing.memory === undefined ? crossing.boundary : 'memory',
    action: verdict.action,
    policy_name: verdict.rule,
    reason: verdict.reason,
    data_tags: verdict.data_tags,
    agent_id: crossing.agent_id,
    tool_name: crossing.tool,
    session_id: crossing.session_id,
    source_agent_id: crossing.source_agent_id,
    destination_agent_id: crossing.destination_agent_id,
    metadata: getMetadata(decided),
  };
  return {
    event_id: unhashed.event_id,
    timestamp: formatTime(crossing.now_ms),
    boundary: unhashed.boundary,
    decision: verdict.decision,
    action: unhashed.action,
    policy_name: unhashed.policy_name,
    reason: unhashed.reason,
    data_tags: unhashed.data_tags,
    tenant_id: crossing.tenant_id,
    agent_id: unhashed.agent_id,
    tool_name: unhashed.tool_name,
    session_id: unhashed.session_id,
    source_agent_id: unhashed.source_agent_id,
    destination_agent_id: unhashed.destination_agent_id,
    caller_id: decided.caller.id,
    ...(crossing.principal !== undefined && listPrincipalFields(crossing.principal)),
    context_hash: hashContext(unhashed),
    policy_hash: verdict.policy_hash,
    coverage: verdict.coverage.status,
    metadata: unhashed.metadata,
    ...recordShownAction(
      decided.crossing,
      verdict,
      decided.logged.actions ?? 'none',
      decided.typed_redaction,
    ),
  };
}

/** Returns the fields on the person and the chain that an event has: those that are known. */
export function listPrincipalFields({
  user,
  claimed_user,
  chain,
  agent_tier,
  claimed_tier,
  task_id,
  trace_id,
}: Principal): Partial<AuditEvent> {
  const tier = agent_tier ?? claimed_tier;
  return {
    ...(user !== null && { user_id: user.user_id }),
    ...(user !== null && user.user_email !== null && { user_email: user.user_email }),
    ...(user !== null && user.groups.length > 0 && { groups: user.groups.slice(0, RECORDED_MAX) }),
    ...(claimed_user !== null && { claimed_user }),
    // A proved person's empty chain is a direct call.
    ...((user !== null || chain.length > 0) && { chain }),
    ...(tier !== null && { agent_tier: tier }),
    ...(task_id !== null && { task_id }),
    ...(trace_id !== null && { trace_id }),
  };
}

type Metadata = AuditEvent['metadata'];

/**
 * Names are added in sorted order. Paths and keys of a payload are left out, because a caller wrote them. Names
 * of removed fields are included, with every finding masked.
 */
function getMetadata(decided: DecisionFacts): Metadata {
  const { crossing, verdict } = decided;
  const metadata: Record<string, Json & Metadata[string]> = {};
  if (isShapeLogged(decided)) addArgumentShape(metadata, decided);
  const allowlisted = verdict.allowlisted_findings;
  const entries = allowlisted.flatMap(({ allowed_by }) => allowed_by ?? []);
  const fingerprints = allowlisted.flatMap(({ fingerprint }) => fingerprint ?? []);
  if (entries.length > 0) metadata.allowlist_entries = listNames(entries, (id) => id);
  if (fingerprints.length > 0) metadata.allowlisted_fingerprints = listNames(fingerprints, (each) => each);
  if (decided.approval) {
    metadata.approval_request_id = decided.approval.request_id;
    metadata.approval_status = decided.approval.status;
  }
  if (crossing.approved_rules !== undefined && crossing.approved_rules.length > 0)
    metadata.approved_rules = [...crossing.approved_rules].sort().slice(0, LIST_MAX);
  if (verdict.violations.length > 0)
    metadata.violations = listNames(verdict.violations, (each) => `${each.type}:${each.rule}`);
  if (crossing.calls_last_minute !== undefined) metadata.calls_last_minute = crossing.calls_last_minute;
  if (crossing.calls_last_minute_for_user !== undefined)
    metadata.calls_last_minute_for_user = crossing.calls_last_minute_for_user;
  if (typeof crossing.capability?.token_id === 'string')
    metadata.capability_token_id = crossing.capability.token_id;
  if (decided.failed_classifiers !== undefined && decided.failed_classifiers.length > 0)
    metadata.classifiers_failed = listNames(decided.failed_classifiers, (name) => name);
  if (verdict.coverage.status === 'partial') {
    metadata.coverage_bytes = verdict.coverage.bytes;
    metadata.coverage_reason = verdict.coverage.reason;
  }
  if (verdict.condition_results !== undefined) addConditionResults(metadata, verdict.condition_results);
  addDecidingDetectors(metadata, verdict);
  if (crossing.declared_tags.length > 0) metadata.declared_tags = listDeclaredTags(crossing);
  if (verdict.findings.length > 0) metadata.detectors = listNames(verdict.findings, (each) => each.detector);
  metadata.endpoint = decided.endpoint;
  if (verdict.fallback_used) metadata.fallback_used = true;
  if (verdict.fault) metadata.fault = true;
  if (verdict.findings.length > 0) addFindings(metadata, decided);
  if (decided.grant_id !== undefined) metadata.grant_id = decided.grant_id;
  if (verdict.argument_labels !== undefined)
    metadata.labels = listArgumentLabels(verdict.argument_labels).slice(0, LIST_MAX);
  const marks = listContentMarks(crossing, verdict);
  if (marks.length > 0) metadata.marks = [...marks];
  if (verdict.monitored.length > 0) addMonitored(metadata, verdict);
  if (crossing.phase !== null) metadata.phase = crossing.phase;
  if (crossing.memory !== undefined) Object.assign(metadata, buildMemoryMetadata(crossing.memory, verdict));
  else if (isLogged(crossing.boundary, crossing.phase, decided.logged)) addText(metadata, decided);
  if (verdict.findings.length > 0) metadata.rule_ids = listNames(verdict.findings, (each) => each.rule_id);
  if (crossing.session_tags !== undefined && crossing.session_tags.length > 0)
    metadata.session_tags = [...crossing.session_tags].sort().slice(0, SESSION_TAGS_MAX);
  const severity = computeEventSeverity(verdict);
  if (severity !== null) metadata.severity = severity;
  if (verdict.stripped_fields.length > 0)
    metadata.stripped_fields = listNames(verdict.stripped_fields, (name) => name);
  if (crossing.content.kind === 'text') metadata.text_bytes = Buffer.byteLength(crossing.content.text);
  return decided.about === undefined ? metadata : sortMetadata({ ...decided.about, ...metadata });
}

/** Adds the results of conditions on arguments by rule, and the arguments' names as the policy has them. */
function addConditionResults(
  metadata: Record<string, unknown>,
  results: NonNullable<Verdict['condition_results']>,
): void {
  const names = listNames(
    results.flatMap((each) => each.arguments),
    (name) => name,
  );
  if (names.length > 0) metadata.condition_arguments = names;
  metadata.condition_results = listNames(results, formatConditionResult);
}

const MEMORY_PHASES = { write: 'memory_write', read: 'memory_read', resolve: 'handle_resolve' } as const;

/**
 * Returns the facts of a memory access. The memory entry itself is in no event, whatever is logged of other
 * texts.
 */
function buildMemoryMetadata(use: MemoryUse, verdict: Verdict): Metadata {
  const { operation, handle_id, key, schema, scope, tag } = use;
  return {
    ...(handle_id !== null && { handle_id }),
    ...(key !== null && { memory_key: key, memory_schema: schema, memory_scope: scope }),
    ...(tag !== null && { memory_tag: tag }),
    phase: MEMORY_PHASES[operation],
    ...(operation === 'resolve' && { resolution: getResolution(verdict) }),
  };
}

function getResolution({ decision, rule, fault }: Verdict): string {
  if (decision !== 'block') return 'allow';
  if (rule === 'memory.missing') return 'missing';
  return fault || rule === 'memory.unreadable' ? 'resolve_failed' : 'policy_blocked';
}

/** Returns the tags as rules see them, each once, in the order of evaluation. */
function listDeclaredTags({ declared_tags }: Crossing): string[] {
  return [...new Set(declared_tags.map(normalizeTag))].slice(0, RECORDED_MAX);
}

/**
 * Adds what rules, contracts and identities in monitor mode would have done, and the result that the whole
 * would have had.
 */
function addMonitored(metadata: Record<string, unknown>, { monitored, enforced_result }: Verdict): void {
  metadata.monitored = listNames(monitored, (each) => `${each.rule}:${each.action}`);
  if (enforced_result !== null) {
    metadata.monitored_action = enforced_result.action;
    metadata.monitored_decision = enforced_result.decision;
    metadata.monitored_rule = enforced_result.rule;
  }
  const tags = monitored.flatMap(({ tag }) => tag ?? []);
  if (tags.length > 0) metadata.monitored_tags = listNames(tags, (tag) => tag);
}

/** Adds the detectors whose findings led to the decision, unless all of them did. An operator can allow them. */
function addDecidingDetectors(
  metadata: Record<string, unknown>,
  { decision, action, findings }: Verdict,
): void {
  const deciding = findings.filter((each) => each.action === action);
  if (decision === 'allow' || deciding.length === 0) return;
  const names = listNames(deciding, (each) => each.rule_id);
  const all = new Set(findings.map(({ rule_id }) => rule_id));
  if (names.length < all.size) metadata.deciding_rule_ids = names;
}

/**
 * Adds `findings` (their number), `findings_<type>` (the number of each type) and `found_tags`, from which a
 * policy can be evaluated again.
 */
function addFindings(metadata: Record<string, unknown>, decided: DecisionFacts): void {
  const { verdict, sealFingerprint } = decided;
  const counts = new Map<string, number>();
  for (const { type } of verdict.findings) counts.set(type, (counts.get(type) ?? 0) + 1);
  metadata.findings = verdict.findings.length;
  for (const type of [...counts.keys()].sort()) metadata[`findings_${type}`] = counts.get(type);
  metadata.found_tags = summarizeFindings(verdict.findings);
  if (verdict.decision !== 'allow' && sealFingerprint) addPlaces(metadata, decided, sealFingerprint);
}

/** The number of findings whose place and fingerprint one event holds. */
const PLACES_MAX = 20;

/**
 * Adds `finding_places` for each of the first findings. Fingerprints are sealed, because a reader of events could
 * otherwise compare them with those of guessed values.
 */
function addPlaces(
  metadata: Record<string, unknown>,
  { event_id, crossing, verdict }: DecisionFacts,
  sealFingerprint: FingerprintSealer,
): void {
  const shown = verdict.findings.slice(0, PLACES_MAX);
  if (shown.length === 0) return;
  const texts = collectLeafTexts(crossing.content, shown);
  metadata.finding_places = shown.map((finding) => {
    const { rule_id, leaf, start, end } = finding;
    const text = texts.get(leaf);
    const isKnown = text !== undefined && isAllowlistable(finding);
    const fingerprint = isKnown ? sealFingerprint(rule_id, text.slice(start, end), event_id) : NO_FINGERPRINT;
    return formatFindingPlace({ rule_id, text_index: leaf, start, end, fingerprint });
  });
}

/** Returns each name once, sorted. */
function listNames<Each>(list: readonly Each[], nameOf: (each: Each) => string): string[] {
  return [...new Set(list.map(nameOf))].sort().slice(0, LIST_MAX);
}

function isLogged(boundary: Boundary, phase: Phase | null, logged: LoggedTexts): boolean {
  return boundary === 'output' || phase === 'response' ? logged.outputs : logged.inputs;
}

function isShapeLogged({ crossing, logged }: DecisionFacts): boolean {
  const { boundary, phase, tool } = crossing;
  if (boundary !== 'action' || phase !== 'request' || tool === null) return false;
  return matchesAnyCase(logged.argument_shapes ?? [], tool);
}

function addArgumentShape(metadata: Record<string, unknown>, decided: DecisionFacts): void {
  const masked = maskContent(decided);
  if (masked !== null) metadata.argument_shape = formatArgumentShapes(masked);
}

/** Returns the content with every finding masked; `null` if it may hold more: it was not scanned whole, or not judged. */
function maskContent({ crossing, verdict, typed_redaction }: DecisionFacts): Content | null {
  if (!isMaskable(verdict)) return null;
  // An allowlisted value passes unchanged, but in a log it is still a secret.
  const seen = [...verdict.findings, ...verdict.allowlisted_findings];
  return redact(crossing.content, seen, typed_redaction, verdict.removed);
}

function addText(metadata: Record<string, unknown>, decided: DecisionFacts): void {
  const masked = maskContent(decided);
  if (masked === null) return;
  const text = getText(masked);
  metadata.redacted_text = text.slice(0, LOGGED_TEXT_MAX).toWellFormed();
  if (text.length > LOGGED_TEXT_MAX) metadata.redacted_text_truncated = true;
}

function getText(content: Content): string {
  return content.kind === 'text' ? content.text : writeContentJson(content);
}
