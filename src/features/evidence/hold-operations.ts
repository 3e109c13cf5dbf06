import { randomBytes } from 'node:crypto';
import { Type } from '../../core/schema.ts';
import { recordOperatorChange } from '../../operations/managed-change.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { cutPage, pageInput, pageOutput } from '../../operations/paging.ts';
import { name, PRINTABLE_TEXT } from '../../operations/shapes.ts';
import { dropBlankName, resolveTenantOrAll } from '../../operations/subject.ts';
import { AuditFilterError, parseFilter } from '../../runtime/audit/filter.ts';
import {
  copyLegalHolds,
  deleteHold,
  HOLDS_MAX,
  type HoldRow,
  insertHold,
  listHoldRows,
} from './hold-store.ts';
import { legalHolds } from './tables.ts';

const time = Type.Nullable(Type.String({ maxLength: 40 }));

const EXAMPLE_ID = 'hold_0123456789abcdef01234567';

export const auditHoldsList = defineOperation({
  name: 'audit_holds_list',
  summary: 'List legal holds',
  description:
    'The legal holds on the audit log, oldest first. A user of particular tenants sees those of these tenants.',
  http: { method: 'GET', path: '/v1/dashboard/audit/holds' },
  cli: {
    verb: 'audit hold list',
    columns: {
      rows: 'holds',
      cells: {
        ID: 'hold_id',
        TENANT: 'tenant_id',
        AGENT: 'agent_id',
        SESSION: 'session_id',
        SINCE: 'since',
        UNTIL: 'until',
        REASON: 'reason',
      },
      empty: 'There are no legal holds.',
    },
    examples: [['customshouse audit hold list', '']],
  },
  permission: 'audit:export',
  needs: 'store',
  input: Type.Object({ ...pageInput }),
  output: Type.Object({ holds: Type.Array(legalHolds.schema), ...pageOutput }),
  example: { limit: 10 },
  answer: { holds: [], next_cursor: null },
  async run(input, { runtime, caller: { tenants } }) {
    const rows = (await listHoldRows((await runtime.store()).db)).filter(
      ({ tenant_id }) => tenants === '*' || (tenant_id !== null && tenants.includes(tenant_id)),
    );
    const { items, next_cursor } = cutPage(rows, ['audit_holds_list', tenants], input);
    return { holds: items.map(legalHolds.show), next_cursor };
  },
});

export const auditHoldAdd = defineOperation({
  name: 'audit_hold_add',
  summary: 'Add a legal hold',
  description:
    'Retention deletes no file of the audit log that has, or may have, an event which the hold matches. All given members must match; at least one is needed. The hold is in effect when the call is answered, and on other nodes within a minute.',
  http: { method: 'POST', path: '/v1/dashboard/audit/holds' },
  cli: {
    verb: 'audit hold add',
    options: ['tenant_id', 'agent_id', 'session_id', 'since', 'until', 'reason'],
    line: ({ hold_id }) => `${hold_id} added.`,
    examples: [
      ['customshouse audit hold add --tenant acme --since 2026-07-01 --reason "Case 2026-114"', ''],
      [
        'customshouse audit hold add --agent support-bot --reason "Incident 7"',
        'everything that one agent did',
      ],
    ],
  },
  permission: 'audit:manage',
  caller: 'person',
  tenants: { all_unless: 'tenant_id' },
  needs: 'store',
  input: Type.Object({
    tenant_id: Type.Optional({ ...name, description: 'The tenant of the events (default: all tenants).' }),
    agent_id: Type.Optional({ ...name, description: 'The agent of the events (default: all agents).' }),
    session_id: Type.Optional({ ...name, description: 'The session of the events (default: all sessions).' }),
    since: Type.Optional({
      ...time,
      description: 'Events the beginning: ISO 8601, or a duration before now (`30d`).',
    }),
    until: Type.Optional({ ...time, description: 'Events before: ISO 8601 (default: without end).' }),
    reason: Type.String({
      minLength: 1,
      maxLength: 500,
      pattern: PRINTABLE_TEXT,
      description: 'Why, such as the number of a case.',
    }),
  }),
  output: legalHolds.schema,
  example: { agent_id: 'support-bot', since: '2026-01-01', reason: 'Case 2026-114' },
  answer: null,
  refusals: ['conflict'],
  async run(input, context) {
    const row = parseHold(input, context);
    const store = await context.runtime.store();
    await store.transaction(async (trx) => {
      if ((await listHoldRows(trx)).length >= HOLDS_MAX)
        throw new Refusal(
          'conflict',
          `There are ${HOLDS_MAX} legal holds, which is the limit. Remove one first.`,
        );
      await insertHold(trx, row);
      await recordHold('audit_hold_add', 'An operator added a legal hold.', row, context);
    });
    await copyHolds(context);
    return legalHolds.show(row);
  },
});

export const auditHoldRemove = defineOperation({
  name: 'audit_hold_remove',
  summary: 'Remove a legal hold',
  description: 'Retention may delete the files again that only this hold kept.',
  http: { method: 'POST', path: '/v1/dashboard/audit/holds/remove' },
  cli: {
    verb: 'audit hold remove',
    arguments: ['hold_id'],
    line: ({ hold_id }) => `${hold_id} removed.`,
    examples: [[`customshouse audit hold remove ${EXAMPLE_ID}`, '']],
  },
  permission: 'audit:manage',
  caller: 'person',
  needs: 'store',
  input: Type.Object({
    hold_id: Type.String({ pattern: '^hold_[0-9a-f]{24}$', maxLength: 29, description: 'Its ID.' }),
  }),
  output: legalHolds.schema,
  example: { hold_id: EXAMPLE_ID },
  answer: null,
  refusals: ['not_found'],
  async run({ hold_id }, context) {
    const store = await context.runtime.store();
    const row = await store.transaction(async (trx) => {
      const found = (await listHoldRows(trx)).find((each) => each.hold_id === hold_id);
      if (found === undefined || !maySee(found, context) || !(await deleteHold(trx, hold_id)))
        throw new Refusal('not_found', 'There is no legal hold with this ID.');
      await recordHold('audit_hold_remove', 'An operator removed a legal hold.', found, context);
      return found;
    });
    await copyHolds(context);
    return legalHolds.show(row);
  },
});

function maySee({ tenant_id }: HoldRow, { caller: { tenants } }: Context): boolean {
  return tenants === '*' || (tenant_id !== null && tenants.includes(tenant_id));
}

interface HoldInput {
  readonly tenant_id?: string | null;
  readonly agent_id?: string | null;
  readonly session_id?: string | null;
  readonly since?: string | null;
  readonly until?: string | null;
  readonly reason: string;
}

function parseHold(input: HoldInput, context: Context): HoldRow {
  const createdMs = context.runtime.now_ms();
  const tenantId = dropBlankName(resolveTenantOrAll(input, context));
  const names = {
    tenant_id: tenantId,
    agent_id: dropBlankName(input.agent_id),
    session_id: dropBlankName(input.session_id),
  };
  const times = parseTimes(input, createdMs);
  if ([...Object.values(names), ...Object.values(times)].every((value) => value === null))
    throw new Refusal(
      'invalid_request',
      'Name a tenant, an agent, a session or a time. To hold everything, give `since` as `1970-01-01`.',
    );
  const holdId = `hold_${createdMs.toString(16).padStart(11, '0').slice(-11)}${randomBytes(7).toString('hex').slice(1)}`;
  return {
    hold_id: holdId,
    ...names,
    ...times,
    reason: input.reason,
    created_by: context.caller.id,
    created_ms: createdMs,
  };
}

/** @throws Refusal if a time is not valid, or the range is empty */
function parseTimes({ since, until }: HoldInput, nowMs: number): Pick<HoldRow, 'since_ms' | 'until_ms'> {
  try {
    const { since_ms, until_ms } = parseFilter({ ...(since && { since }), ...(until && { until }) }, nowMs);
    if (since_ms === null || until_ms === null || since_ms < until_ms) return { since_ms, until_ms };
  } catch (error) {
    if (error instanceof AuditFilterError) throw new Refusal('invalid_request', error.message, error.details);
    throw error;
  }
  throw new Refusal('invalid_request', '`since` must be before `until`.');
}

async function copyHolds({ runtime }: Context): Promise<void> {
  await copyLegalHolds(runtime.limits.state_dir, await runtime.store(), Date.now());
}

function recordHold(phase: string, reason: string, row: HoldRow, context: Context): Promise<void> {
  const { hold_id, since, until, reason: holdReason } = legalHolds.show(row);
  const { tenant_id, agent_id, session_id } = row;
  const about = {
    ...(tenant_id !== null && { tenant_id }),
    ...(agent_id !== null && { agent_id }),
    ...(session_id !== null && { session_id }),
  };
  return recordOperatorChange(
    { phase, reason, metadata: { hold_id, since, until, hold_reason: holdReason }, about },
    context,
  );
}
