import type { Kysely, Selectable } from 'kysely';
import { SEVERITIES } from '../../core/types/enums.ts';
import type { AlertMessage } from '../../drivers/alerts/channel.ts';
import { createDeliveryId, enqueueMessages } from '../../platform/outbox/messages.ts';
import { formatDuration } from '../../platform/store/columns.ts';
import type { StoreTables } from '../../platform/store/index.ts';
import { formatTime } from '../../runtime/audit/service-event.ts';
import type { ShownActionRow } from '../../runtime/audit/shown-actions.ts';
import { describeShownAction } from '../approvals/rows.ts';
import { ALERT_QUEUE_PREFIX, type AlertRow } from './alert-store.ts';
import type { AlertSource } from './rule-schema.ts';
import type { AlertService } from './types.ts';

type Db = Kysely<StoreTables>;
type MessageKind = AlertMessage['kind'];
type Origin = Pick<AlertService, 'source' | 'console_url' | 'links'>;

const NOUNS: Readonly<Record<AlertSource, readonly [one: string, many: string]>> = {
  violations: ['violation', 'violations'],
  decisions: ['decision', 'decisions'],
  budgets: ['budget event', 'budget events'],
  failures: ['failure', 'failures'],
  chain_breaks: ['broken audit chain', 'broken audit chains'],
  approvals_waiting: ['approval waiting too long', 'approvals waiting too long'],
  hooks_silent: ['hook without events', 'hooks without events'],
  tools_changed: ['new or changed tool', 'new or changed tools'],
  service: ['service event', 'service events'],
};

/** Queues one message about an alert for each channel, in the same transaction as the change of the alert. */
export async function enqueueAlert(
  trx: Db,
  alert: AlertRow,
  kind: MessageKind,
  origin: Origin,
  when: {
    readonly now_ms: number;
    readonly not_before_ms?: number;
    readonly channels?: readonly string[];
    readonly shown?: ShownActionRow | null;
  },
): Promise<readonly string[]> {
  const { now_ms, not_before_ms = now_ms, channels = JSON.parse(alert.channels) as string[] } = when;
  const request = await findRequest(trx, alert);
  const approval = request === null ? null : describeApproval(request, origin);
  const shown = describeShownAction((kind === 'trigger' ? (when.shown ?? request) : null) ?? NO_ROW);
  const messages = channels.map((channel) => {
    const deliveryId = createDeliveryId(now_ms);
    return {
      delivery_id: deliveryId,
      queue: `${ALERT_QUEUE_PREFIX}${channel}`,
      subject_id: kind === 'test' ? alert.rule_id : alert.alert_id,
      kind,
      order_key: alert.alert_id,
      urgency: SEVERITIES.indexOf(alert.severity),
      body: JSON.stringify({ ...buildAlertMessage(alert, kind, deliveryId, origin, approval), ...shown }),
      not_before_ms,
    };
  });
  await enqueueMessages(trx, messages, now_ms);
  return messages.map(({ delivery_id }) => delivery_id);
}

function buildAlertMessage(
  alert: AlertRow,
  kind: MessageKind,
  deliveryId: string,
  { source, console_url }: Origin,
  approval: AlertMessage['approval'],
): Omit<AlertMessage, keyof typeof NO_ROW> {
  return {
    delivery_id: deliveryId,
    alert_id: alert.alert_id,
    kind,
    dedup_key: alert.dedup_key,
    rule_id: alert.rule_id,
    rule_name: alert.rule_name,
    severity: alert.severity,
    summary: summarizeAlert(alert, kind),
    source,
    tenant_ids: JSON.parse(alert.tenant_ids),
    group: JSON.parse(alert.group_values),
    count: alert.event_count,
    threshold: alert.threshold,
    window_ms: alert.window_ms,
    first_at: formatTime(alert.first_ms),
    last_at: formatTime(alert.last_ms),
    sample_event_ids: JSON.parse(alert.sample_event_ids),
    url:
      approval?.url ??
      (kind === 'test' ? `${console_url}/dashboard/alerts` : buildAlertUrl(alert, console_url)),
    approval,
  };
}

function buildAlertUrl({ alert_id }: AlertRow, consoleUrl: string): string {
  return `${consoleUrl}/dashboard/alerts?alert=${alert_id}`;
}

/** Returns one sentence without anything that was matched. */
function summarizeAlert(alert: AlertRow, kind: MessageKind): string {
  if (kind === 'test') return `Test of the alert rule “${alert.rule_name}”.`;
  const [one, many] = NOUNS[alert.source];
  const counted = `${alert.event_count} ${alert.event_count === 1 ? one : many} within ${formatDuration(alert.window_ms)}`;
  const group = Object.entries(JSON.parse(alert.group_values) as Record<string, string>)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
  const text = `${alert.rule_name}: ${counted}${group === '' ? '' : ` (${group})`}.`;
  if (kind === 'resolve') return `Resolved. ${text}`;
  return kind === 'acknowledge' ? `Acknowledged. ${text}` : text;
}

const NO_ROW = { action_shown: null, action_marks: null };

type RequestRow = Pick<
  Selectable<StoreTables['approval_requests']>,
  'request_id' | 'tool_name' | 'agent_id' | 'expires_ms' | 'action_shown' | 'action_marks'
>;

/** Returns the approval request of an alert that concerns exactly one. */
async function findRequest(trx: Db, alert: AlertRow): Promise<RequestRow | null> {
  const { request } = JSON.parse(alert.group_values) as { readonly request?: string };
  if (request === undefined) return null;
  const rows = trx
    .selectFrom('approval_requests')
    .select(['request_id', 'tool_name', 'agent_id', 'expires_ms', 'action_shown', 'action_marks']);
  return (await rows.where('request_id', '=', request).executeTakeFirst()) ?? null;
}

function describeApproval(row: RequestRow, { links }: Origin): AlertMessage['approval'] {
  const { request_id, agent_id, expires_ms } = row;
  return {
    request_id,
    tool: row.tool_name ?? '',
    agent_id,
    expires_at: formatTime(expires_ms),
    url: links.build(request_id, expires_ms),
  };
}
