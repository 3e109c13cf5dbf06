import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import { Type } from '../../core/schema.ts';
import { SEVERITIES } from '../../core/types/index.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { cutPage, pageInput, pageOutput } from '../../operations/paging.ts';
import { name, PRINTABLE_TEXT } from '../../operations/shapes.ts';
import { resolveTenantOrAll } from '../../operations/subject.ts';
import type { Row } from '../../platform/store/define-table.ts';
import type { StoreTables } from '../../platform/store/index.ts';
import { parseDuration } from '../../runtime/audit/filter.ts';
import { formatTime } from '../../runtime/audit/service-event.ts';
import { recordRuleChange } from './rule-operations.ts';
import { ALERT_GROUP_FIELDS, type AlertGroupField } from './rule-schema.ts';
import { mayUseTenant, resolveAlertTenants } from './scope.ts';
import { ruleIdSchema, silenceIdSchema, silenceShape } from './shapes.ts';
import type { SilenceMatcher } from './silences.ts';
import { alertSilences } from './tables.ts';

type SilenceRow = Row<typeof alertSilences>;

const EXPIRES_MS_MAX = 90 * 86_400_000;
const SILENCES_MAX = 1_000;

export const alertSilencesList = defineOperation({
  name: 'alert_silences_list',
  summary: 'List silences',
  description: 'Silences of alerts, newest first, also expired ones.',
  http: { method: 'GET', path: '/v1/dashboard/alerts/silences' },
  cli: {
    verb: 'alerts silences',
    options: ['cursor', 'limit'],
    columns: {
      rows: 'silences',
      cells: {
        ID: 'silence_id',
        REASON: 'reason',
        BY: 'created_by',
        EXPIRES: 'expires_at',
        EXPIRED: 'expired',
      },
      empty: 'There are no silences.',
    },
    examples: [['customshouse alerts silences', '']],
  },
  permission: 'alerts:read',
  for_users: true,
  needs: 'store',
  input: Type.Object({ ...pageInput }),
  output: Type.Object({ silences: Type.Array(silenceShape), ...pageOutput }),
  example: { limit: 10 },
  answer: { silences: [], next_cursor: null },
  async run(input, context) {
    resolveAlertTenants({}, context);
    const rows = (await listSilenceRows((await context.runtime.store()).db)).filter((row) =>
      mayUseTenant(row.tenant_id, context),
    );
    const { items, next_cursor } = cutPage(rows, ['alert_silences', context.caller.tenants], input);
    return { silences: items.map((row) => describeSilence(row, context)), next_cursor };
  },
});

export const alertSilencesAdd = defineOperation({
  name: 'alert_silences_add',
  summary: 'Silence alerts',
  description:
    'Alerts that match are recorded and not sent until the silence ends; one that still counts events then is sent.',
  http: { method: 'POST', path: '/v1/dashboard/alerts/silences' },
  cli: {
    verb: 'alerts silence',
    options: ['rule_id', 'severity', 'expires_in', 'reason', 'tenant_id'],
    line: ({ silence_id, expires_at }) => `${silence_id} until ${expires_at}`,
    examples: [
      ['customshouse alerts silence --rule secrets-blocked --expires-in 2h --reason "Load test"', 'one rule'],
    ],
  },
  permission: 'alerts:manage',
  caller: 'person',
  tenants: { all_unless: 'tenant_id' },
  needs: 'store',
  input: Type.Object({
    rule_id: Type.Optional({ ...ruleIdSchema, description: 'The rule (default: all rules).' }),
    severity: Type.Optional(Type.Enum(SEVERITIES, { description: 'The severity (default: all).' })),
    group: Type.Optional(
      Type.Unsafe<Readonly<Partial<Record<AlertGroupField, string>>>>({
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(
          ALERT_GROUP_FIELDS.map((field) => [field, Type.String({ maxLength: 256 })]),
        ),
        description: 'Values of the group, each of which must be equal (default: any).',
      }),
    ),
    tenant_id: Type.Optional({ ...name, description: 'The tenant of the alerts (default: all tenants).' }),
    reason: Type.String({ minLength: 1, maxLength: 500, pattern: PRINTABLE_TEXT, description: 'Why.' }),
    expires_in: Type.String({ maxLength: 32, description: 'A duration such as `2h`; at most `90d`.' }),
  }),
  output: silenceShape,
  example: { rule_id: 'secrets-blocked', reason: 'Load test', expires_in: '2h' },
  answer: null,
  refusals: ['conflict'],
  async run(input, context) {
    const tenantId = resolveTenantOrAll(input, context);
    const lastsMs = parseDuration(input.expires_in);
    if (lastsMs === null || lastsMs === 0 || lastsMs > EXPIRES_MS_MAX)
      throw new Refusal('invalid_request', '`expires_in` is a duration of at most 90 days, such as `2h`.');
    const { rule_id, severity, group } = input;
    const matcher: SilenceMatcher = {
      ...(rule_id !== undefined && { rule_id }),
      ...(severity !== undefined && { severity }),
      ...(group !== undefined && { group: group as Record<string, string> }),
    };
    const createdMs = context.runtime.now_ms();
    const row: SilenceRow = {
      silence_id: createSilenceId(createdMs),
      tenant_id: tenantId,
      matcher: JSON.stringify(matcher),
      reason: input.reason,
      created_by: context.caller.id,
      created_ms: createdMs,
      expires_ms: createdMs + lastsMs,
    };
    const store = await context.runtime.store();
    await store.transaction(async (trx) => {
      const active = (await listSilenceRows(trx)).filter(({ expires_ms }) => expires_ms > createdMs);
      if (active.length >= SILENCES_MAX)
        throw new Refusal('conflict', `There are ${SILENCES_MAX} silences already. Remove one first.`);
      await trx.insertInto('alert_silences').values(row).execute();
      const metadata = {
        silence_id: row.silence_id,
        expires_at: formatTime(row.expires_ms),
        ...(rule_id !== undefined && { rule_id }),
      };
      await recordRuleChange(
        'alert_silence_add',
        'An operator silenced alerts.',
        metadata,
        tenantId,
        context,
      );
    });
    return describeSilence(row, context);
  },
});

export const alertSilencesRemove = defineOperation({
  name: 'alert_silences_remove',
  summary: 'End a silence',
  description: 'Alerts that it matched are sent again with their next event.',
  http: { method: 'POST', path: '/v1/dashboard/alerts/silences/remove' },
  cli: {
    verb: 'alerts unsilence',
    arguments: ['silence_id'],
    line: ({ silence_id }) => `ended ${silence_id}`,
    examples: [['customshouse alerts unsilence sil_0123456789abcdef01234567', '']],
  },
  permission: 'alerts:manage',
  caller: 'person',
  needs: 'store',
  input: Type.Object({ silence_id: silenceIdSchema }),
  output: Type.Object({ silence_id: Type.String() }),
  example: { silence_id: 'sil_0123456789abcdef01234567' },
  answer: { silence_id: 'sil_0123456789abcdef01234567' },
  refusals: ['not_found'],
  async run({ silence_id }, context) {
    const store = await context.runtime.store();
    await store.transaction(async (trx) => {
      const row = (await listSilenceRows(trx)).find((each) => each.silence_id === silence_id);
      if (row === undefined || !mayUseTenant(row.tenant_id, context))
        throw new Refusal(
          'not_found',
          'There is no silence with this ID. `customshouse alerts silences` shows all.',
        );
      resolveTenantOrAll(row, context);
      await trx.deleteFrom('alert_silences').where('silence_id', '=', silence_id).execute();
      const reason = 'An operator ended a silence.';
      await recordRuleChange('alert_silence_remove', reason, { silence_id }, row.tenant_id, context);
    });
    return { silence_id };
  },
});

function createSilenceId(nowMs: number): string {
  return `sil_${nowMs.toString(16).padStart(11, '0').slice(-11)}${randomBytes(7).toString('hex').slice(1)}`;
}

async function listSilenceRows(db: Kysely<StoreTables>): Promise<readonly SilenceRow[]> {
  return db.selectFrom('alert_silences').selectAll().orderBy('silence_id', 'desc').execute();
}

function describeSilence(row: SilenceRow, { runtime }: Context) {
  return { ...alertSilences.show(row), expired: runtime.now_ms() >= row.expires_ms };
}
