import { PRODUCT_NAME } from '../../core/names.ts';
import { readEventSeverity } from '../../core/review/recorded-decision.ts';
import type { Severity } from '../../core/types/index.ts';
import type { JournalRecord } from '../../runtime/audit/journal-record.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';

/** The version of the Open Cybersecurity Schema Framework (August 2026, https://schema.ocsf.io). */
export const OCSF_VERSION = '1.9.0';

/** The class API Activity: an agent calls a tool, a model or another agent. */
const CLASS_UID = 6003;
const CATEGORY_UID = 6;
/** None of the activities create, read, update and delete is known of a tool. */
const OTHER = 99;
const SHA_256 = 3;

const SEVERITY_IDS: Readonly<Record<Severity, number>> = { low: 2, medium: 3, high: 4, critical: 5 };
const INFORMATIONAL = 1;

/** `action_id` and `disposition_id` of the profile Security Control, by action. */
const OUTCOMES: Readonly<Record<AuditEvent['action'], readonly [action: number, disposition: number]>> = {
  allow: [1, 1],
  // Observed, Detected
  flag: [3, 15],
  // Modified, Corrected
  redact: [4, 11],
  // Denied, Delayed
  require_approval: [2, 14],
  // Denied, Blocked
  block: [2, 2],
};

/** An event of the journal, with its place in the chain. */
export type EventRecord = Extract<JournalRecord, { readonly kind: 'event' }>;

/** Facts about the exporting service. */
export interface OcsfSource {
  readonly version: string;
  /** The ID of the log, that of its first key. */
  readonly log_id: string;
  /** Adds shown actions. */
  readonly exports_actions: boolean;
}

/** A JSON object. Members that are `undefined` are left out. */
export type OcsfEvent = Readonly<Record<string, unknown>>;

/** Returns an event as OCSF. It has names, labels and outcomes, and neither text nor the e-mail address. */
export function buildOcsfEvent(record: EventRecord, source: OcsfSource): OcsfEvent {
  const { event } = record;
  const severity = readEventSeverity(event);
  const [actionId, dispositionId] = OUTCOMES[event.action] ?? [0, 0];
  return {
    class_uid: CLASS_UID,
    category_uid: CATEGORY_UID,
    activity_id: OTHER,
    activity_name: event.boundary,
    type_uid: CLASS_UID * 100 + OTHER,
    time: Date.parse(event.timestamp),
    severity_id: severity === null ? INFORMATIONAL : SEVERITY_IDS[severity],
    status_id: event.decision === 'block' ? 2 : 1,
    message: event.reason,
    metadata: buildMetadata(record, source),
    ...buildParties(event),
    policy: { name: event.policy_name, uid: event.policy_hash, is_applied: true },
    action_id: actionId,
    disposition_id: dispositionId,
    is_alert: event.decision !== 'allow',
    ...(event.trace_id !== undefined && { trace: { uid: event.trace_id } }),
    attestation: buildAttestation(record, source.log_id),
    unmapped: buildUnmapped(event, source.exports_actions),
  };
}

function buildMetadata({ event, seq }: EventRecord, { version }: OcsfSource): OcsfEvent {
  const profiles = ['ai_operation', 'record_integrity', 'security_control'];
  return {
    version: OCSF_VERSION,
    uid: event.event_id,
    product: { name: PRODUCT_NAME, vendor_name: PRODUCT_NAME, version },
    profiles: event.trace_id === undefined ? profiles : [...profiles, 'trace'],
    tenant_uid: event.tenant_id,
    log_name: 'audit',
    sequence: seq,
    labels: event.data_tags,
    ...(event.session_id !== null && { correlation_uid: event.session_id }),
  };
}

/** The caller, the call, and the person behind it. */
function buildParties(event: AuditEvent): OcsfEvent {
  const { agent_id, session_id, tool_name, user_id, groups = [], chain = [] } = event;
  const source = event.source_agent_id ?? agent_id;
  const destination = event.destination_agent_id ?? tool_name;
  const invoker = chain.at(-2);
  return {
    actor: {
      app_name: agent_id,
      ...(user_id !== undefined && {
        user: { uid: user_id, ...(groups.length > 0 && { groups: groups.map((name) => ({ name })) }) },
      }),
      ...(session_id !== null && { session: { uid: session_id } }),
      ...(invoker !== undefined && { invoked_by: invoker }),
    },
    ai_agent: { uid: agent_id, name: agent_id },
    api: { operation: tool_name ?? event.boundary, request: { uid: event.event_id } },
    src_endpoint: { svc_name: source },
    ...(destination !== null && { dst_endpoint: { svc_name: destination } }),
  };
}

/** The place in the hash chain of the journal, which checkpoints sign. */
function buildAttestation(record: EventRecord, logId: string): OcsfEvent {
  const { writer, seq, record_hash, prev_hash } = record;
  return {
    uid: `${writer}:${seq}`,
    chain_uid: `${logId}/${writer}`,
    fingerprint: buildFingerprint(record_hash),
    prev_event: { uid: `${writer}:${seq - 1}`, fingerprint: buildFingerprint(prev_hash) },
  };
}

function buildFingerprint(value: string): OcsfEvent {
  return { algorithm_id: SHA_256, algorithm: 'SHA-256', value };
}

function buildUnmapped(event: AuditEvent, exportsActions: boolean): OcsfEvent {
  const { decision, action, boundary, caller_id, coverage, context_hash, metadata } = event;
  const { claimed_user, chain, agent_tier, task_id, action_shown } = event;
  return {
    ...{ decision, action, boundary, caller_id, coverage, context_hash, metadata },
    ...{ claimed_user, chain, agent_tier, task_id },
    ...(exportsActions && { action_shown }),
  };
}
