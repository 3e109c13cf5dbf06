import { Type } from '../../core/schema.ts';
import { SEVERITIES } from '../../core/types/index.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { buildListPage, pageInput, pageOutput, readNamePage } from '../../operations/paging.ts';
import { ALERT_STATUSES } from '../../operations/recent-alert.ts';
import { name } from '../../operations/shapes.ts';
import { type AlertRow, formatAlert, listAlertRows, listDeliveries } from './alert-store.ts';
import { endAlert, listNotifiedChannels } from './lifecycle.ts';
import { enqueueAlert } from './message.ts';
import { recordRuleChange } from './rule-operations.ts';
import { resolveAlertTenants } from './scope.ts';
import { alertExample, alertIdSchema, alertShape, ruleIdSchema } from './shapes.ts';

export const alertsHistory = defineOperation({
  name: 'alerts_history',
  summary: 'List alerts',
  description:
    'The newest alerts that fit all filters, with their deliveries. A user of particular tenants sees the alerts whose events are all of these tenants.',
  http: { method: 'GET', path: '/v1/dashboard/alerts/history' },
  cli: {
    verb: 'alerts history',
    options: ['status', 'rule_id', 'severity', 'tenant_id', 'cursor', 'limit'],
    columns: {
      rows: 'alerts',
      cells: {
        ID: 'alert_id',
        RULE: 'rule_id',
        SEVERITY: 'severity',
        STATUS: 'status',
        COUNT: 'count',
        FIRED: 'fired_at',
        LAST: 'last_at',
      },
      empty: 'No alert has fired.',
    },
    examples: [['customshouse alerts history --status firing', '']],
  },
  permission: 'alerts:read',
  for_users: true,
  needs: 'store',
  input: Type.Object({
    status: Type.Optional(Type.Enum(ALERT_STATUSES, { description: 'The status.' })),
    rule_id: Type.Optional(ruleIdSchema),
    severity: Type.Optional(Type.Enum(SEVERITIES, { description: 'The severity.' })),
    tenant_id: Type.Optional({ ...name, description: 'One tenant; without it all that the user sees.' }),
    ...pageInput,
  }),
  output: Type.Object({
    alerts: Type.Array(alertShape),
    count: Type.Integer({ description: 'The number of alerts in this answer.' }),
    ...pageOutput,
  }),
  example: { limit: 10 },
  answer: { alerts: [], count: 0, next_cursor: null },
  async run(input, context) {
    const { status, rule_id, severity } = input;
    const tenants = resolveAlertTenants(input, context);
    const query = ['alerts', tenants, status ?? null, rule_id ?? null, severity ?? null];
    const { after, limit } = readNamePage(query, input);
    const { db } = await context.runtime.store();
    const filter = { tenants, status, rule_id, severity, after, limit: limit + 1 };
    const rows = await listAlertRows(db, filter);
    const { entries, next_cursor } = buildListPage(query, rows, limit, ({ alert_id }) => alert_id);
    const deliveries = await listDeliveries(
      db,
      entries.map(({ alert_id }) => alert_id),
    );
    const alerts = entries.map((row) => formatAlert(row, deliveries.get(row.alert_id) ?? []));
    return { alerts, count: alerts.length, next_cursor };
  },
});

const alertPath = Type.Object({ alert_id: alertIdSchema });

export const alertsShow = defineOperation({
  name: 'alerts_show',
  summary: 'Show an alert',
  description: 'One alert with its deliveries.',
  http: { method: 'GET', path: '/v1/dashboard/alerts/history/{alert_id}' },
  cli: {
    verb: 'alerts show',
    arguments: ['alert_id'],
    examples: [['customshouse alerts show alr_0123456789abcdef01234567', '']],
  },
  permission: 'alerts:read',
  for_users: true,
  needs: 'store',
  input: alertPath,
  output: alertShape,
  example: { alert_id: alertExample.alert_id },
  answer: alertExample,
  refusals: ['not_found'],
  run: ({ alert_id }, context) => showAlert(alert_id, context),
});

const acknowledgedExample = {
  ...alertExample,
  status: 'acknowledged' as const,
  acknowledged_by: 'operator',
  acknowledged_at: '2026-01-31T12:05:00.000Z',
};
const resolved = { resolved_by: 'operator', resolved_at: '2026-01-31T12:30:00.000Z' };

export const alertsAcknowledge = defineOperation({
  name: 'alerts_acknowledge',
  summary: 'Acknowledge an alert',
  description: 'Records that an operator is working on it. Its channels are notified.',
  http: { method: 'POST', path: '/v1/dashboard/alerts/history/{alert_id}/acknowledge' },
  cli: {
    verb: 'alerts ack',
    arguments: ['alert_id'],
    line: ({ alert_id }) => `acknowledged ${alert_id}`,
    examples: [['customshouse alerts ack alr_0123456789abcdef01234567', '']],
  },
  permission: 'alerts:manage',
  caller: 'person',
  needs: 'store',
  input: alertPath,
  output: alertShape,
  example: { alert_id: alertExample.alert_id },
  answer: acknowledgedExample,
  refusals: ['not_found', 'conflict'],
  async run({ alert_id }, context) {
    await changeAlert(alert_id, 'alert_acknowledge', context, async (trx, alert) => {
      if (alert.status !== 'firing')
        throw new Refusal('conflict', `The alert is ${alert.status}; only a firing one is acknowledged.`);
      const nowMs = context.runtime.now_ms();
      const changes = {
        status: 'acknowledged' as const,
        acknowledged_by: context.caller.id,
        acknowledged_ms: nowMs,
      };
      await trx.updateTable('alerts').set(changes).where('alert_id', '=', alert_id).execute();
      const channels = await listNotifiedChannels(trx, alert_id);
      const service = await context.runtime.alerts();
      await enqueueAlert(trx, { ...alert, ...changes }, 'acknowledge', service, { now_ms: nowMs, channels });
    });
    return showAlert(alert_id, context);
  },
});

export const alertsResolve = defineOperation({
  name: 'alerts_resolve',
  summary: 'Resolve an alert',
  description: 'Ends an alert; its group counts from the beginning. Its channels are notified.',
  http: { method: 'POST', path: '/v1/dashboard/alerts/history/{alert_id}/resolve' },
  cli: {
    verb: 'alerts resolve',
    arguments: ['alert_id'],
    line: ({ alert_id }) => `resolved ${alert_id}`,
    examples: [['customshouse alerts resolve alr_0123456789abcdef01234567', '']],
  },
  permission: 'alerts:manage',
  caller: 'person',
  needs: 'store',
  input: alertPath,
  output: alertShape,
  example: { alert_id: alertExample.alert_id },
  answer: { ...acknowledgedExample, status: 'resolved', ...resolved },
  refusals: ['not_found', 'conflict'],
  async run({ alert_id }, context) {
    await changeAlert(alert_id, 'alert_resolve', context, async (trx, alert) => {
      if (alert.status === 'resolved') throw new Refusal('conflict', 'The alert is resolved already.');
      const by = { caller_id: context.caller.id, now_ms: context.runtime.now_ms() };
      await endAlert(trx, alert, by, await context.runtime.alerts());
    });
    return showAlert(alert_id, context);
  },
});

async function showAlert(alertId: string, context: Context) {
  const { db } = await context.runtime.store();
  const [row] = await listAlertRows(db, {
    tenants: resolveAlertTenants({}, context),
    alert_id: alertId,
    limit: 1,
  });
  if (row === undefined) throw buildMissingRefusal();
  const deliveries = await listDeliveries(db, [alertId]);
  return formatAlert(row, deliveries.get(alertId) ?? []);
}

type Transaction = Parameters<
  Parameters<Awaited<ReturnType<Context['runtime']['store']>>['transaction']>[0]
>[0];

async function changeAlert(
  alertId: string,
  phase: 'alert_acknowledge' | 'alert_resolve',
  context: Context,
  change: (trx: Transaction, alert: AlertRow) => Promise<void>,
): Promise<void> {
  const tenants = resolveAlertTenants({}, context);
  const store = await context.runtime.store();
  await store.transaction(async (trx) => {
    const found = trx.selectFrom('alerts').selectAll().where('alert_id', '=', alertId);
    const locked = await found.forUpdate().executeTakeFirst();
    const [seen] = await listAlertRows(trx, { tenants, alert_id: alertId, limit: 1 });
    if (locked === undefined || seen === undefined) throw buildMissingRefusal();
    await change(trx, locked);
    const [tenantId = '', another] = JSON.parse(seen.tenant_ids) as string[];
    const reason =
      phase === 'alert_resolve' ? 'An operator resolved an alert.' : 'An operator acknowledged an alert.';
    const metadata = { alert_id: alertId, rule_id: seen.rule_id };
    await recordRuleChange(phase, reason, metadata, another === undefined ? tenantId : '', context);
  });
}

function buildMissingRefusal(): Refusal {
  return new Refusal('not_found', 'There is no alert with this ID. `customshouse alerts history` shows all.');
}
