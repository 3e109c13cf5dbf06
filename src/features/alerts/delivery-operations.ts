import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { buildListPage, pageInput, pageOutput, readNamePage } from '../../operations/paging.ts';
import { reviveMessage } from '../../platform/outbox/messages.ts';
import { OUTBOX_STATUSES } from '../../platform/outbox/tables.ts';
import {
  ALERT_QUEUE_PREFIX,
  type AlertRow,
  createAlertId,
  type DeliveryRow,
  describeDelivery,
  listAlertRows,
} from './alert-store.ts';
import { enqueueAlert } from './message.ts';
import { prepareAlertRule } from './rule.ts';
import { findOwnRule, recordRuleChange } from './rule-operations.ts';
import { listAlertRules } from './rule-store.ts';
import { mayUseTenant, resolveAlertTenants } from './scope.ts';
import { deliveryIdSchema, deliveryShape, ruleIdSchema } from './shapes.ts';

const deliveryExample = {
  delivery_id: 'dlv_019c13b72800000000010123456789',
  channel: 'chat',
  subject_id: 'alr_0123456789abcdef01234567',
  kind: 'trigger',
  status: 'pending' as const,
  attempts: 0,
  reason: 'It answered 500.',
  created_at: '2026-01-31T12:00:00.000Z',
  next_attempt_at: '2026-01-31T19:00:00.000Z',
  finished_at: null,
};

export const alertsTest = defineOperation({
  name: 'alerts_test',
  summary: 'Send a test message of an alert rule',
  description:
    'Queues a test message for the channels of a rule. `alerts_deliveries` shows the outcome. No alert is recorded.',
  http: { method: 'POST', path: '/v1/dashboard/alerts/test' },
  permission: 'alerts:manage',
  caller: 'person',
  needs: 'store',
  input: Type.Object({
    rule_id: ruleIdSchema,
    channels: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        minItems: 1,
        maxItems: 20,
        description: 'Channels (default: those of the rule).',
      }),
    ),
  }),
  output: Type.Object({
    rule_id: Type.String(),
    deliveries: Type.Array(Type.Object({ delivery_id: Type.String(), channel: Type.String() })),
  }),
  example: { rule_id: 'secrets-blocked' },
  answer: null,
  refusals: ['not_found'],
  async run({ rule_id, channels }, context) {
    const { rule } = await findOwnRule(rule_id, context);
    const service = await context.runtime.alerts();
    const names = channels ?? rule.channels;
    for (const name of names)
      if (!service.channels.some((each) => each.name === name))
        throw new Refusal('invalid_request', '`channels` names a channel that does not exist.', [
          { path: 'channels', message: 'names a channel that does not exist' },
        ]);
    const nowMs = context.runtime.now_ms();
    const alert = buildTestAlert(rule, nowMs);
    const store = await context.runtime.store();
    const ids = await store.transaction(async (trx) => {
      const queued = await enqueueAlert(trx, alert, 'test', service, { now_ms: nowMs, channels: names });
      const metadata = { rule_id, channels: names };
      await recordRuleChange(
        'alert_test',
        'An operator tested an alert rule.',
        metadata,
        rule.tenant_id ?? '',
        context,
      );
      return queued;
    });
    return {
      rule_id,
      deliveries: ids.map((deliveryId, at) => ({ delivery_id: deliveryId, channel: names[at]! })),
    };
  },
});

function buildTestAlert(settings: Parameters<typeof prepareAlertRule>[0], nowMs: number): AlertRow {
  const rule = prepareAlertRule(settings);
  const alertId = createAlertId(nowMs);
  return {
    alert_id: alertId,
    rule_id: rule.rule_id,
    rule_name: rule.name,
    severity: rule.severity,
    status: 'firing',
    source: rule.source,
    group_key: '',
    group_values: '{}',
    event_count: 0,
    threshold: rule.threshold,
    window_ms: rule.window_ms,
    fired_ms: nowMs,
    first_ms: nowMs,
    last_ms: nowMs,
    sample_event_ids: '[]',
    tenant_ids: JSON.stringify(rule.tenant_id === undefined ? [] : [rule.tenant_id]),
    dedup_key: `${rule.rule_id}:test:${alertId}`,
    channels: JSON.stringify(rule.channels),
    acknowledged_by: null,
    acknowledged_ms: null,
    resolved_by: null,
    resolved_ms: null,
    silence_id: null,
  };
}

export const alertsDeliveries = defineOperation({
  name: 'alerts_deliveries',
  summary: 'List deliveries',
  description:
    'Messages to channels, newest first; `status=dead` lists those that were given up. A user of all tenants sees those to the webhook of approvals too.',
  http: { method: 'GET', path: '/v1/dashboard/alerts/deliveries' },
  cli: {
    verb: 'alerts deliveries',
    options: ['status', 'channel', 'cursor', 'limit'],
    columns: {
      rows: 'deliveries',
      cells: {
        ID: 'delivery_id',
        CHANNEL: 'channel',
        KIND: 'kind',
        ABOUT: 'subject_id',
        STATUS: 'status',
        ATTEMPTS: 'attempts',
        REASON: 'reason',
      },
      empty: 'There are no deliveries.',
    },
    examples: [['customshouse alerts deliveries --status dead', '']],
  },
  permission: 'alerts:read',
  for_users: true,
  needs: 'store',
  input: Type.Object({
    status: Type.Optional(Type.Enum(OUTBOX_STATUSES, { description: 'The status.' })),
    channel: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'The channel.' })),
    delivery_id: Type.Optional(deliveryIdSchema),
    ...pageInput,
  }),
  output: Type.Object({ deliveries: Type.Array(deliveryShape), ...pageOutput }),
  example: { limit: 10 },
  answer: { deliveries: [], next_cursor: null },
  async run(input, context) {
    const { status, channel, delivery_id } = input;
    const { tenants } = context.caller;
    const query = ['deliveries', tenants, status ?? null, channel ?? null, delivery_id ?? null];
    const { after, limit } = readNamePage(query, input);
    const rows = await listVisibleDeliveries({ ...input, after, limit: limit + 1 }, context);
    const { entries, next_cursor } = buildListPage(query, rows, limit, getKey);
    return { deliveries: entries.map(describeDelivery), next_cursor };
  },
});

/** Deliveries are sorted by time; the prefix of their IDs differs. */
function getKey({ created_ms, delivery_id }: DeliveryRow): string {
  return `${String(Number(created_ms)).padStart(15, '0')} ${delivery_id}`;
}

interface DeliveryFilter {
  readonly status?: DeliveryRow['status'] | undefined;
  readonly channel?: string | undefined;
  readonly delivery_id?: string | undefined;
  readonly after: string | null;
  readonly limit: number;
}

async function listVisibleDeliveries(
  filter: DeliveryFilter,
  context: Context,
): Promise<readonly DeliveryRow[]> {
  const { status, channel, delivery_id, after, limit } = filter;
  const tenants = resolveAlertTenants({}, context);
  const { db } = await context.runtime.store();
  const found: DeliveryRow[] = [];
  let from = after;
  for (let page = 0; page < PAGES_MAX && found.length < limit; page += 1) {
    let query = db.selectFrom('outbox_messages').selectAll();
    if (status !== undefined) query = query.where('status', '=', status);
    if (channel !== undefined)
      query = query.where('queue', 'in', [`${ALERT_QUEUE_PREFIX}${channel}`, channel]);
    if (delivery_id !== undefined) query = query.where('delivery_id', '=', delivery_id);
    if (from !== null) {
      const [at = '', id = ''] = from.split(' ');
      query = query.where((eb) =>
        eb(eb.refTuple('created_ms', 'delivery_id'), '<', eb.tuple(Number(at) || 0, id)),
      );
    }
    const rows = await query
      .orderBy('created_ms', 'desc')
      .orderBy('delivery_id', 'desc')
      .limit(limit)
      .execute();
    const visible = tenants === '*' ? rows : await keepVisible(rows, tenants, context);
    found.push(...visible);
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) break;
    from = getKey(last);
  }
  return found.slice(0, limit);
}

/** The number of pages that are read for a user of particular tenants, most of whose rows may be of others. */
const PAGES_MAX = 20;

async function keepVisible(
  rows: readonly DeliveryRow[],
  tenants: readonly string[],
  context: Context,
): Promise<readonly DeliveryRow[]> {
  const { db } = await context.runtime.store();
  const subjects = [...new Set(rows.map(({ subject_id }) => subject_id))];
  const alerts = await Promise.all(
    subjects
      .filter((id) => id.startsWith('alr_'))
      .map((alertId) => listAlertRows(db, { tenants, alert_id: alertId, limit: 1 })),
  );
  const rules = (await listAlertRules(db, await context.runtime.alerts())).filter(({ rule }) =>
    mayUseTenant(rule.tenant_id ?? '', context),
  );
  const known = new Set([
    ...alerts.flat().map(({ alert_id }) => alert_id),
    ...rules.map(({ rule }) => rule.rule_id),
  ]);
  return rows.filter(
    ({ queue, subject_id }) => queue.startsWith(ALERT_QUEUE_PREFIX) && known.has(subject_id),
  );
}

export const alertsResend = defineOperation({
  name: 'alerts_resend',
  summary: 'Send a dead letter again',
  description:
    'Queues a message that was given up again, with the same delivery ID. It is sent within seconds.',
  http: { method: 'POST', path: '/v1/dashboard/alerts/deliveries/resend' },
  cli: {
    verb: 'alerts resend',
    arguments: ['delivery_id'],
    line: ({ delivery_id }) => `${delivery_id} waits again`,
    examples: [['customshouse alerts resend dlv_019c13b72800000000010123456789', '']],
  },
  permission: 'alerts:manage',
  caller: 'person',
  needs: 'store',
  input: Type.Object({ delivery_id: deliveryIdSchema }),
  output: deliveryShape,
  example: { delivery_id: deliveryExample.delivery_id },
  answer: deliveryExample,
  refusals: ['not_found', 'conflict'],
  async run({ delivery_id }, context) {
    const find = async () =>
      (await listVisibleDeliveries({ delivery_id, after: null, limit: 1 }, context))[0];
    const row = await find();
    if (row === undefined)
      throw new Refusal(
        'not_found',
        'There is no delivery with this ID. `customshouse alerts deliveries` shows all.',
      );
    const store = await context.runtime.store();
    await store.transaction(async (trx) => {
      if (!(await reviveMessage(trx, delivery_id, context.runtime.now_ms())))
        throw new Refusal('conflict', `The delivery is ${row.status}; only a dead one is sent again.`);
      const metadata = { delivery_id, channel: row.queue };
      await recordRuleChange('alert_resend', 'An operator sent a dead letter again.', metadata, '', context);
    });
    return describeDelivery((await find())!);
  },
});
