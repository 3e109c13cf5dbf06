import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { listArgumentLabels } from '../../core/flow/labels.ts';
import { summarizeFindings } from '../../core/review/found-tags.ts';
import { computeEventSeverity } from '../../core/review/recorded-decision.ts';
import type { AgentTier, CrossingContext, Verdict } from '../../core/types/index.ts';
import type { GuardOperation } from '../types.ts';

/** One decision of a local guard, in the shape of an audit event of the service. Its only text is the call. */
export interface DecisionRecord {
  readonly event_id: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly boundary: string;
  readonly decision: string;
  readonly action: string;
  readonly policy_name: string;
  readonly reason: string;
  readonly data_tags: readonly string[];
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly tool_name: string | null;
  readonly session_id: string | null;
  readonly source_agent_id: string | null;
  readonly destination_agent_id: string | null;
  readonly caller_id: string;
  /** The person whom the call names; a guard in process proves none. */
  readonly claimed_user?: string;
  readonly chain?: readonly string[];
  readonly agent_tier?: AgentTier;
  readonly task_id?: string;
  readonly trace_id?: string;
  /** `sha256:` and hex over twelve fields as canonical JSON, as in the service. */
  readonly context_hash: string;
  readonly policy_hash: string;
  readonly coverage: 'full' | 'partial';
  readonly metadata: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  /**
   * A blocked call as people see it, at most 2 KB, with secrets, personal data and injections masked. Only the journal
   * of the guard has it; it is never reported.
   */
  readonly action_shown?: string;
  /** Its dangerous parts, in UTF-16 units: `[start, end]`, end exclusive. */
  readonly action_marks?: readonly (readonly [start: number, end: number])[];
}

/** Returns a record without the call. */
export function dropShownAction({
  action_shown: _,
  action_marks: __,
  ...record
}: DecisionRecord): DecisionRecord {
  return record;
}

const CALLER = 'sdk:local';
const LIST_MAX = 50;
const SESSION_TAGS_MAX = 1_000;

/** Builds the record of a decision. */
export function buildDecisionRecord(
  eventId: string,
  operation: GuardOperation,
  crossing: CrossingContext,
  verdict: Verdict,
): DecisionRecord {
  const metadata = buildMetadata(operation, crossing, verdict);
  const hashed = {
    action: verdict.action,
    agent_id: crossing.agent_id,
    boundary: crossing.boundary,
    data_tags: verdict.data_tags,
    destination_agent_id: crossing.destination_agent_id,
    event_id: eventId,
    metadata,
    policy_name: verdict.rule,
    reason: verdict.reason,
    session_id: crossing.session_id,
    source_agent_id: crossing.source_agent_id,
    tool_name: crossing.tool,
  };
  return {
    event_id: eventId,
    timestamp: new Date(crossing.now_ms).toISOString(),
    boundary: crossing.boundary,
    decision: verdict.decision,
    action: verdict.action,
    policy_name: verdict.rule,
    reason: verdict.reason,
    data_tags: verdict.data_tags,
    tenant_id: crossing.tenant_id,
    agent_id: crossing.agent_id,
    tool_name: crossing.tool,
    session_id: crossing.session_id,
    source_agent_id: crossing.source_agent_id,
    destination_agent_id: crossing.destination_agent_id,
    caller_id: CALLER,
    ...listStatedNames(crossing.principal),
    // The names above are in canonical order, and so are those of the metadata.
    context_hash: `sha256:${bytesToHex(sha256(utf8ToBytes(JSON.stringify(hashed))))}`,
    policy_hash: verdict.policy_hash,
    coverage: verdict.coverage.status,
    metadata,
  };
}

/** Returns what a call states on the person, the chain and its work. */
function listStatedNames(principal: CrossingContext['principal']): Partial<DecisionRecord> {
  if (principal === undefined) return {};
  const { claimed_user, chain, claimed_tier, task_id, trace_id } = principal;
  return {
    ...(claimed_user !== null && { claimed_user }),
    ...(chain.length > 0 && { chain }),
    ...(claimed_tier !== null && { agent_tier: claimed_tier }),
    ...(task_id !== null && { task_id }),
    ...(trace_id !== null && { trace_id }),
  };
}

/** Adds names in sorted order. Paths and keys of a payload are left out, because a caller wrote them. */
function buildMetadata(
  operation: GuardOperation,
  crossing: CrossingContext,
  verdict: Verdict,
): DecisionRecord['metadata'] {
  const { findings, violations, coverage, monitored, stripped_fields } = verdict;
  const metadata: Record<string, string | number | boolean | readonly string[]> = {};
  if (crossing.calls_last_minute !== undefined) metadata.calls_last_minute = crossing.calls_last_minute;
  if (coverage.status === 'partial') {
    metadata.coverage_bytes = coverage.bytes;
    metadata.coverage_reason = coverage.reason;
  }
  if (crossing.declared_tags.length > 0) metadata.declared_tags = crossing.declared_tags;
  if (findings.length > 0) metadata.detectors = sortNames(findings.map((each) => each.detector));
  metadata.endpoint = operation;
  if (verdict.fallback_used) metadata.fallback_used = true;
  if (verdict.fault) metadata.fault = true;
  if (findings.length > 0) {
    metadata.findings = findings.length;
    metadata.found_tags = summarizeFindings(findings);
  }
  if (verdict.argument_labels !== undefined)
    metadata.labels = listArgumentLabels(verdict.argument_labels).slice(0, LIST_MAX);
  if (monitored.length > 0)
    metadata.monitored = sortNames(monitored.map((each) => `${each.rule}:${each.action}`));
  if (crossing.phase !== null) metadata.phase = crossing.phase;
  if (findings.length > 0) metadata.rule_ids = sortNames(findings.map((each) => each.rule_id));
  if (crossing.session_tags !== undefined && crossing.session_tags.length > 0)
    metadata.session_tags = [...crossing.session_tags].sort().slice(0, SESSION_TAGS_MAX);
  const severity = computeEventSeverity(verdict);
  if (severity !== null) metadata.severity = severity;
  if (stripped_fields.length > 0) metadata.stripped_fields_count = stripped_fields.length;
  if (violations.length > 0)
    metadata.violations = sortNames(violations.map((each) => `${each.type}:${each.rule}`));
  return metadata;
}

function sortNames(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort().slice(0, LIST_MAX);
}
