import { computeEventSeverity, readEventSeverity } from '../../core/review/recorded-decision.ts';
import { isSelfTestEvent } from '../../runtime/audit/self-test.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { AlertGroupField, AlertSource } from './rule-schema.ts';
import type { AlertSeverity } from './types.ts';

/** One thing that rules count: an audit event, or a condition such as an approval that waits. Never matched text. */
export interface Signal {
  /** The event ID, or the ID of a condition. */
  readonly id: string;
  readonly is_event: boolean;
  readonly time_ms: number;
  readonly sources: readonly AlertSource[];
  /** `null` if it concerns the whole service. */
  readonly tenant_id: string | null;
  readonly agent_id: string | null;
  readonly tool: string | null;
  readonly policy: string;
  readonly boundary: string;
  readonly action: string;
  readonly session_id: string | null;
  readonly request_id: string | null;
  readonly tags: readonly string[];
  readonly severity: AlertSeverity;
}

/** The longest value of a group, in UTF-16 units. Callers choose the names of agents, tools and sessions. */
const TEXT_MAX = 256;

/** Cuts a name and replaces control characters, so that it fits into a message. */
export function boundText(text: string): string {
  return text
    .slice(0, TEXT_MAX)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
}

/** Reads what rules count from an audit event. */
export function readSignal(event: AuditEvent): Signal {
  const { metadata } = event;
  const requestId = metadata.approval_request_id;
  return {
    id: event.event_id,
    is_event: true,
    time_ms: Date.parse(event.timestamp),
    sources: listSources(event),
    tenant_id: event.tenant_id,
    agent_id: event.agent_id,
    tool: event.tool_name,
    policy: event.policy_name,
    boundary: event.boundary,
    action: event.action,
    session_id: event.session_id,
    request_id: typeof requestId === 'string' ? requestId : null,
    tags: event.data_tags,
    severity: readSeverity(event),
  };
}

const VIOLATING: readonly string[] = ['block', 'redact', 'require_approval'];

function listSources(event: AuditEvent): readonly AlertSource[] {
  // A self-test of an operator raises no alert.
  if (isSelfTestEvent(event)) return [];
  const { policy_name, action, decision, metadata } = event;
  const phase = typeof metadata.phase === 'string' ? metadata.phase : '';
  if (policy_name.startsWith('budget.')) return ['budgets'];
  if (policy_name.startsWith('service.')) {
    if (phase === 'mcp_tool_quarantined') return ['tools_changed', 'service'];
    const hasFailed = decision === 'block' && FAILING_PHASES.includes(phase);
    return hasFailed ? ['failures', 'service'] : ['service'];
  }
  // The events of an approval request follow from a decision that was counted.
  if (phase.startsWith('approval_')) return [];
  const sources: AlertSource[] = ['decisions'];
  if (VIOLATING.includes(action)) sources.push('violations');
  if (metadata.fault === true || policy_name.startsWith('fault.')) sources.push('failures');
  return sources;
}

/** Changes of the service whose refusal is a failure of a file or a driver, not of a person. */
const FAILING_PHASES: readonly string[] = [
  'policy_reload',
  'secret_resolve',
  'state_folder',
  'cluster_fence',
];

/** Returns the recorded severity. Events of the service, and old ones without findings, have one by their action. */
function readSeverity(event: AuditEvent): AlertSeverity {
  const { action } = event;
  return readEventSeverity(event) ?? computeEventSeverity({ action, findings: [], violations: [] }) ?? 'low';
}

/** The value of a group field that a signal does not have. */
const NO_VALUE = '(none)';

/** Returns the values by which a rule groups a signal. */
export function readGroup(fields: readonly AlertGroupField[], signal: Signal): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field, boundText(readField(field, signal) ?? NO_VALUE)]));
}

function readField(field: AlertGroupField, signal: Signal): string | null {
  switch (field) {
    case 'tenant':
      return signal.tenant_id;
    case 'agent':
      return signal.agent_id;
    case 'tool':
      return signal.tool;
    case 'policy':
      return signal.policy;
    case 'boundary':
      return signal.boundary;
    case 'action':
      return signal.action;
    case 'session':
      return signal.session_id;
    case 'request':
      return signal.request_id;
  }
}
