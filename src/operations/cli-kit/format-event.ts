import { readEventSeverity } from '../../core/review/recorded-decision.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { formatAction } from './format-action.ts';
import { escapeControls, paintText, type Terminal } from './terminal.ts';

const COLOURS = { allow: 'green', modify: 'yellow', block: 'red' } as const;

/**
 * Formats one event on one line, from the time to the event ID, with the call on the next line if it is recorded. Fields
 * without a value are left out.
 */
export function formatEventLine(event: AuditEvent, terminal: Terminal): string {
  const decision = paintText(terminal, COLOURS[event.decision], event.decision.padEnd(6));
  const severity = readEventSeverity(event);
  const parts = [
    event.timestamp,
    decision,
    event.boundary.padEnd(6),
    quoteField(event.agent_id),
    event.tool_name === null ? null : `tool=${quoteField(event.tool_name)}`,
    `rule=${quoteField(event.policy_name)}`,
    event.action === event.decision ? null : `action=${quoteField(event.action)}`,
    severity === null ? null : `severity=${severity}`,
    event.data_tags.length === 0 ? null : `tags=${quoteField(event.data_tags.join(','))}`,
    event.metadata.monitored_decision === undefined
      ? null
      : `would=${quoteField(String(event.metadata.monitored_decision))}`,
    event.metadata.approval_status === undefined
      ? null
      : `approval=${quoteField(String(event.metadata.approval_status))}`,
    event.user_id === undefined ? null : `user=${quoteField(event.user_id)}`,
    event.session_id === null ? null : `session=${quoteField(event.session_id)}`,
    paintText(terminal, 'dim', event.event_id),
  ];
  const line = parts.filter((part) => part !== null).join(' ');
  const { action_shown, action_marks = [] } = event;
  return action_shown === undefined
    ? line
    : `${line}\n    ${formatAction(action_shown, action_marks, terminal)}`;
}

/** Quotes a name with spaces, because a name that others chose could imitate the next field of the line. */
function quoteField(text: string): string {
  return escapeControls(/[\s="]/.test(text) ? JSON.stringify(text) : text);
}

/** Formats all fields of one event, one per line. Fields without a value are left out. */
export function formatEventDetail(event: AuditEvent, terminal: Terminal): string[] {
  const { metadata, action_shown, action_marks = [], ...fields } = event;
  const shown: [string, string][] =
    action_shown === undefined ? [] : [['action_shown', formatAction(action_shown, action_marks, terminal)]];
  return [...shown, ...formatFields(fields, ''), ...formatFields(metadata, 'metadata.')].map(
    ([name, value]) => `${paintText(terminal, 'dim', name.padEnd(26))} ${value}`,
  );
}

function formatFields(fields: Readonly<Record<string, unknown>>, prefix: string): [string, string][] {
  return Object.entries(fields)
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => [
      escapeControls(prefix + name),
      escapeControls(Array.isArray(value) ? value.join(', ') : String(value)),
    ]);
}
