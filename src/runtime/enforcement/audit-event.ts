import { redact } from '../../core/decision/redact.ts';
import { writeContentJson } from '../../core/json/source.ts';
import { summarizeFindings } from '../../core/review/recorded-decision.ts';
import { normalizeTag } from '../../core/tags.ts';
import type { Boundary, Content, Crossing, Json, MemoryUse, Phase, Verdict } from '../../core/types/index.ts';
import type { Caller } from '../access/types.ts';
import { formatTime, type HashedFields, hashContext, sortMetadata } from '../audit/service-event.ts';
import type { AuditEvent } from '../audit/types.ts';
import type { Endpoint } from '../observability/endpoint.ts';
import type { ApprovalState } from './approvals/types.ts';

/** Which redacted texts stand in the audit trail: `audit.log_inputs` and `audit.log_outputs`. */
export interface LoggedTexts {
  readonly inputs: boolean;
  readonly outputs: boolean;
}

/** All that becomes one event. `typed_redaction` says how masks in a logged text look. */
export interface DecisionFacts {
  readonly event_id: string;
  readonly crossing: Crossing;
  readonly verdict: Verdict;
  /** The request for approval that it depended on. */
  readonly approval?: ApprovalState | null;
  readonly caller: Caller;
  readonly endpoint: Endpoint;
  readonly logged: LoggedTexts;
  readonly typed_redaction: boolean;
  /** Stands in the metadata beside all else. */
  readonly about?: AuditEvent['metadata'] | undefined;
}

/** UTF-16 units of redacted text that one event holds at most. */
const LOGGED_TEXT_MAX = 8_192;
/** Names that one list in the metadata holds at most. */
const LIST_MAX = 50;
/** Tags of a session that one event holds at most. */
const SESSION_TAGS_MAX = 1_000;
/** Kinds of findings, and declared tags, that one event holds at most. */
const RECORDED_MAX = 100;

/**
 * Writes down what was decided, never what the text was: in go a crossing and its verdict, out comes one line
 * of the audit trail. Only where `logged` asks for it is a text added, with every finding masked.
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
    metadata: metadataOf(decided),
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
    context_hash: hashContext(unhashed),
    policy_hash: verdict.policy_hash,
    coverage: verdict.coverage.status,
    metadata: unhashed.metadata,
  };
}

type Metadata = AuditEvent['metadata'];

/** Names are added in sorted order. Paths and keys of a payload are left out, because a caller wrote them;
 * names of removed fields are there, without what detectors find in them. */
function metadataOf(decided: DecisionFacts): Metadata {
  const { crossing, verdict } = decided;
  const metadata: Record<string, Json & Metadata[string]> = {};
  if (verdict.allowlisted_findings.length > 0)
    metadata.allowlisted_fingerprints = names(verdict.allowlisted_findings, (each) => each.fingerprint);
  if (decided.approval) {
    metadata.approval_request_id = decided.approval.request_id;
    metadata.approval_status = decided.approval.status;
  }
  if (crossing.approved_rules !== undefined && crossing.approved_rules.length > 0)
    metadata.approved_rules = [...crossing.approved_rules].sort().slice(0, LIST_MAX);
  if (verdict.violations.length > 0)
    metadata.violations = names(verdict.violations, (each) => `${each.type}:${each.rule}`);
  if (crossing.calls_last_minute !== undefined) metadata.calls_last_minute = crossing.calls_last_minute;
  if (typeof crossing.capability?.token_id === 'string')
    metadata.capability_token_id = crossing.capability.token_id;
  if (verdict.coverage.status === 'partial') {
    metadata.coverage_bytes = verdict.coverage.bytes;
    metadata.coverage_reason = verdict.coverage.reason;
  }
  if (crossing.declared_tags.length > 0) metadata.declared_tags = declaredTags(crossing);
  if (verdict.findings.length > 0) metadata.detectors = names(verdict.findings, (each) => each.detector);
  metadata.endpoint = decided.endpoint;
  if (verdict.fallback_used) metadata.fallback_used = true;
  if (verdict.fault) metadata.fault = true;
  if (verdict.findings.length > 0) addFindings(metadata, verdict);
  if (verdict.monitored.length > 0) addMonitored(metadata, verdict);
  if (crossing.phase !== null) metadata.phase = crossing.phase;
  if (crossing.memory !== undefined) Object.assign(metadata, memoryFacts(crossing.memory, verdict));
  else if (isLogged(crossing.boundary, crossing.phase, decided.logged)) addText(metadata, decided);
  if (verdict.findings.length > 0) metadata.rule_ids = names(verdict.findings, (each) => each.rule_id);
  if (crossing.session_tags !== undefined && crossing.session_tags.length > 0)
    metadata.session_tags = [...crossing.session_tags].sort().slice(0, SESSION_TAGS_MAX);
  if (verdict.stripped_fields.length > 0)
    metadata.stripped_fields = names(verdict.stripped_fields, (name) => name);
  if (crossing.content.kind === 'text') metadata.text_bytes = Buffer.byteLength(crossing.content.text);
  return decided.about === undefined ? metadata : sortMetadata({ ...decided.about, ...metadata });
}

const MEMORY_PHASES = { write: 'memory_write', read: 'memory_read', resolve: 'handle_resolve' } as const;

/** What of an agent's memory it was about. What is kept there is in no event, whatever is logged of other texts. */
function memoryFacts(use: MemoryUse, verdict: Verdict): Metadata {
  const { operation, handle_id, key, schema, scope, tag } = use;
  return {
    ...(handle_id !== null && { handle_id }),
    ...(key !== null && { memory_key: key, memory_schema: schema, memory_scope: scope }),
    ...(tag !== null && { memory_tag: tag }),
    phase: MEMORY_PHASES[operation],
    ...(operation === 'resolve' && { resolution: resolutionOf(verdict) }),
  };
}

function resolutionOf({ decision, rule, fault }: Verdict): string {
  if (decision !== 'block') return 'allow';
  if (rule === 'memory.missing') return 'missing';
  return fault || rule === 'memory.unreadable' ? 'resolve_failed' : 'policy_blocked';
}

/** As rules see them, each once, in the order in which they are asked. */
function declaredTags({ declared_tags }: Crossing): string[] {
  return [...new Set(declared_tags.map(normalizeTag))].slice(0, RECORDED_MAX);
}

/** What rules, contracts and identities in monitor mode would have done, and what the whole would have come to. */
function addMonitored(metadata: Record<string, unknown>, { monitored, enforced_result }: Verdict): void {
  metadata.monitored = names(monitored, (each) => `${each.rule}:${each.action}`);
  if (enforced_result !== null) {
    metadata.monitored_action = enforced_result.action;
    metadata.monitored_decision = enforced_result.decision;
    metadata.monitored_rule = enforced_result.rule;
  }
  const tags = monitored.flatMap(({ tag }) => tag ?? []);
  if (tags.length > 0) metadata.monitored_tags = names(tags, (tag) => tag);
}

/**
 * `findings`, how many there are, `findings_<type>`, how many of each type, and `found_tags`: what a policy can be
 * asked about again, `<tags joined by +> <severity> <count>`, in the order in which it was found.
 */
function addFindings(metadata: Record<string, unknown>, verdict: Verdict): void {
  const counts = new Map<string, number>();
  for (const { type } of verdict.findings) counts.set(type, (counts.get(type) ?? 0) + 1);
  metadata.findings = verdict.findings.length;
  for (const type of [...counts.keys()].sort()) metadata[`findings_${type}`] = counts.get(type);
  metadata.found_tags = summarizeFindings(verdict.findings);
}

/** Each name once, sorted. */
function names<Each>(list: readonly Each[], nameOf: (each: Each) => string): string[] {
  return [...new Set(list.map(nameOf))].sort().slice(0, LIST_MAX);
}

function isLogged(boundary: Boundary, phase: Phase | null, logged: LoggedTexts): boolean {
  return boundary === 'output' || phase === 'response' ? logged.outputs : logged.inputs;
}

/** What was not looked at, or not judged, is not known to be clean and stays out. */
function addText(metadata: Record<string, unknown>, decided: DecisionFacts): void {
  const { crossing, verdict } = decided;
  if (verdict.fault || verdict.coverage.status === 'partial') return;
  // What was let be went on as it stood, and is no less a secret in a log.
  const seen = [...verdict.findings, ...verdict.allowlisted_findings];
  const text = textOf(redact(crossing.content, seen, decided.typed_redaction, verdict.removed));
  metadata.redacted_text = text.slice(0, LOGGED_TEXT_MAX).toWellFormed();
  if (text.length > LOGGED_TEXT_MAX) metadata.redacted_text_truncated = true;
}

function textOf(content: Content): string {
  return content.kind === 'text' ? content.text : writeContentJson(content);
}
