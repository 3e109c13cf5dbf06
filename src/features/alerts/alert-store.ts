import { randomBytes } from 'node:crypto';
import type { ExpressionBuilder, Kysely, Selectable } from 'kysely';
import type { StoreTables } from '../../platform/store/index.ts';
import { formatTime } from '../../runtime/audit/service-event.ts';
import type { AlertSeverity, AlertStatus, RecentAlert } from './types.ts';

type Db = Kysely<StoreTables>;
export type AlertRow = Selectable<StoreTables['alerts']>;
export type DeliveryRow = Selectable<StoreTables['outbox_messages']>;
type Tenants = '*' | readonly string[];

let counter = 0;

/** Returns an alert ID: the time, and digits by which the IDs of one process sort as they were created. */
export function createAlertId(now_ms: number): string {
  counter = (counter + 1) % 0x10_0000;
  const time = Math.max(0, Math.trunc(now_ms)).toString(16).padStart(11, '0').slice(-11);
  return `alr_${time}${counter.toString(16).padStart(5, '0')}${randomBytes(4).toString('hex')}`;
}

/** The statuses of an alert that is open. */
export const OPEN_ALERT_STATUSES = ['firing', 'acknowledged', 'silenced'] as const;

export interface AlertFilter {
  readonly tenants: Tenants;
  readonly status?: AlertStatus | undefined;
  readonly rule_id?: string | undefined;
  readonly severity?: AlertSeverity | undefined;
  readonly alert_id?: string | undefined;
  /** The ID after which the list continues; newest first. */
  readonly after?: string | null;
  readonly limit: number;
}

/** Lists alerts, newest first. */
export async function listAlertRows(db: Db, filter: AlertFilter): Promise<readonly AlertRow[]> {
  const { tenants, status, rule_id, severity, alert_id, after = null, limit } = filter;
  let query = db.selectFrom('alerts').selectAll();
  if (tenants !== '*') {
    if (tenants.length === 0) return [];
    query = query.where((eb) => isVisible(eb, tenants));
  }
  if (status !== undefined) query = query.where('status', '=', status);
  if (rule_id !== undefined) query = query.where('rule_id', '=', rule_id);
  if (severity !== undefined) query = query.where('severity', '=', severity);
  if (alert_id !== undefined) query = query.where('alert_id', '=', alert_id);
  if (after !== null) query = query.where('alert_id', '<', after);
  return query.orderBy('alert_id', 'desc').limit(limit).execute();
}

/** An alert is visible if it has tenants and the caller may see all of them. */
function isVisible(eb: ExpressionBuilder<StoreTables, 'alerts'>, tenants: readonly string[]) {
  const own = eb
    .selectFrom('alert_tenants')
    .select('alert_tenants.alert_id')
    .whereRef('alert_tenants.alert_id', '=', 'alerts.alert_id');
  return eb.and([
    eb.exists(own),
    eb.not(eb.exists(own.where('alert_tenants.tenant_id', 'not in', [...tenants]))),
  ]);
}

/** Counts the open alerts of each rule. */
export async function countOpenAlerts(db: Db): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('alerts')
    .select((eb) => ['rule_id', eb.fn.countAll<number>().as('count')])
    .where('status', 'in', OPEN_ALERT_STATUSES)
    .groupBy('rule_id')
    .execute();
  return new Map(rows.map(({ rule_id, count }) => [rule_id, Number(count)]));
}

/** Lists the newest alerts for an overview. */
export async function listRecentAlerts(db: Db, tenants: Tenants, limit: number): Promise<RecentAlert[]> {
  return (await listAlertRows(db, { tenants, limit })).map((row) => ({
    alert_id: row.alert_id,
    rule_id: row.rule_id,
    rule_name: row.rule_name,
    severity: row.severity,
    status: row.status,
    count: row.event_count,
    fired_at: formatTime(row.fired_ms),
    last_at: formatTime(row.last_ms),
    group: JSON.parse(row.group_values),
  }));
}

/** Lists the deliveries of alerts, oldest first. */
export async function listDeliveries(
  db: Db,
  alert_ids: readonly string[],
): Promise<ReadonlyMap<string, readonly DeliveryRow[]>> {
  if (alert_ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('outbox_messages')
    .selectAll()
    .where('subject_id', 'in', [...alert_ids])
    .orderBy('delivery_id')
    .execute();
  return Map.groupBy(rows, ({ subject_id }) => subject_id);
}

/** The beginning of the names of queues that alerts use. The name of the channel follows. */
export const ALERT_QUEUE_PREFIX = 'alerts/';

/** Describes a delivery for callers. The message itself is not included. */
export function describeDelivery(row: DeliveryRow) {
  return {
    delivery_id: row.delivery_id,
    channel: row.queue.startsWith(ALERT_QUEUE_PREFIX)
      ? row.queue.slice(ALERT_QUEUE_PREFIX.length)
      : row.queue,
    subject_id: row.subject_id,
    kind: row.kind,
    status: row.status,
    attempts: row.attempts,
    reason: row.reason,
    created_at: formatTime(row.created_ms),
    next_attempt_at: row.status === 'pending' ? formatTime(row.next_attempt_ms) : null,
    finished_at: row.finished_ms === null ? null : formatTime(row.finished_ms),
  };
}

/** Describes an alert with its deliveries for callers. */
export function formatAlert(row: AlertRow, deliveries: readonly DeliveryRow[]) {
  return {
    alert_id: row.alert_id,
    rule_id: row.rule_id,
    rule_name: row.rule_name,
    severity: row.severity,
    status: row.status,
    source: row.source,
    group: JSON.parse(row.group_values) as Record<string, string>,
    count: row.event_count,
    threshold: row.threshold,
    window: formatWindow(row.window_ms),
    fired_at: formatTime(row.fired_ms),
    first_at: formatTime(row.first_ms),
    last_at: formatTime(row.last_ms),
    sample_event_ids: JSON.parse(row.sample_event_ids) as string[],
    tenant_ids: JSON.parse(row.tenant_ids) as string[],
    dedup_key: row.dedup_key,
    channels: JSON.parse(row.channels) as string[],
    acknowledged_by: row.acknowledged_by,
    acknowledged_at: row.acknowledged_ms === null ? null : formatTime(row.acknowledged_ms),
    resolved_by: row.resolved_by,
    resolved_at: row.resolved_ms === null ? null : formatTime(row.resolved_ms),
    silence_id: row.silence_id,
    deliveries: deliveries.map(describeDelivery),
  };
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** Formats a duration in the largest unit that divides it: `15m`. */
export function formatWindow(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? ['s', 1_000];
  return `${Math.round(ms / size)}${unit}`;
}
