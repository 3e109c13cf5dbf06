import { randomBytes } from 'node:crypto';
import type { ExpressionBuilder, Kysely } from 'kysely';
import type { RecentAlert } from '../../operations/recent-alert.ts';
import { outboxMessages } from '../../platform/outbox/tables.ts';
import type { Row } from '../../platform/store/define-table.ts';
import type { StoreTables } from '../../platform/store/index.ts';
import { alerts } from './tables.ts';
import type { AlertSeverity, AlertStatus } from './types.ts';

type Db = Kysely<StoreTables>;
export type AlertRow = Row<typeof alerts>;
export type DeliveryRow = Row<typeof outboxMessages>;
type Tenants = '*' | readonly string[];

let counter = 0;

/** Returns an alert ID: the time, and digits by which the IDs of one process sort as they were created. */
export function createAlertId(nowMs: number): string {
  counter = (counter + 1) % 0x10_0000;
  const time = Math.max(0, Math.trunc(nowMs)).toString(16).padStart(11, '0').slice(-11);
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
  return (await listAlertRows(db, { tenants, limit })).map((row) => {
    const { alert_id, rule_id, rule_name, severity, status, count, fired_at, last_at, group } =
      alerts.show(row);
    return { alert_id, rule_id, rule_name, severity, status, count, fired_at, last_at, group };
  });
}

/** Lists the deliveries of alerts, oldest first. */
export async function listDeliveries(
  db: Db,
  alertIds: readonly string[],
): Promise<ReadonlyMap<string, readonly DeliveryRow[]>> {
  if (alertIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('outbox_messages')
    .selectAll()
    .where('subject_id', 'in', [...alertIds])
    .orderBy('delivery_id')
    .execute();
  return Map.groupBy(rows, ({ subject_id }) => subject_id);
}

/** The beginning of the names of queues that alerts use. The name of the channel follows. */
export const ALERT_QUEUE_PREFIX = 'alerts/';

/** Describes a delivery for callers. The message itself is not included. */
export function describeDelivery(row: DeliveryRow) {
  const shown = outboxMessages.show(row);
  return {
    ...shown,
    channel: row.queue.startsWith(ALERT_QUEUE_PREFIX)
      ? row.queue.slice(ALERT_QUEUE_PREFIX.length)
      : row.queue,
    next_attempt_at: row.status === 'pending' ? shown.next_attempt_at : null,
  };
}

/** Describes an alert with its deliveries for callers. */
export function formatAlert(row: AlertRow, deliveries: readonly DeliveryRow[]) {
  return { ...alerts.show(row), deliveries: deliveries.map(describeDelivery) };
}
