import { Type } from '../../core/schema.ts';
import { findOwnEvent } from '../../operations/audit.ts';
import { applyManagedChange } from '../../operations/managed-change.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { buildListPage, pageInput, pageOutput, readNamePage } from '../../operations/paging.ts';
import { PRINTABLE_TEXT } from '../../operations/shapes.ts';
import { resolveTenantOrAll } from '../../operations/subject.ts';
import { parseDuration } from '../../runtime/audit/filter.ts';
import { formatTime } from '../../runtime/audit/service-event.ts';
import { parseFindingPlaces } from '../../runtime/enforcement/finding-places.ts';
import {
  type AllowlistRow,
  buildManagedEntry,
  deleteAllowlistEntry,
  insertAllowlistEntry,
  listAllowlistRows,
} from './allowlist-store.ts';
import { allowlistEntries } from './tables.ts';

/** An entry's longest life: a year. */
export const EXPIRES_MS_MAX = 366 * 86_400_000;

const fingerprint = Type.String({
  pattern: '^hmac-sha256:[0-9a-f]{64}$',
  maxLength: 76,
  description:
    'The keyed fingerprint of the value, as `customshouse fingerprint` prints it. Never the value.',
});
const tenantId = Type.Nullable(
  Type.String({
    maxLength: 256,
    pattern: PRINTABLE_TEXT,
    description: 'The tenant to whose content the entry applies (default: all tenants).',
  }),
);

const entry = Type.Object({
  ...allowlistEntries.schema.properties,
  expired: Type.Boolean({ description: 'An expired entry has no effect.' }),
});

export const allowlistList = defineOperation({
  name: 'allowlist_list',
  summary: 'List allowlist entries',
  description:
    'The entries that operators added over the API, also expired ones. Those of the configuration are in `detection.allowlist`.',
  http: { method: 'GET', path: '/v1/dashboard/allowlist' },
  permission: 'dashboard:view',
  for_users: true,
  needs: 'store',
  input: Type.Object({ ...pageInput }),
  output: Type.Object({ entries: Type.Array(entry), ...pageOutput }),
  example: { limit: 10 },
  answer: { entries: [], next_cursor: null },
  async run(input, context) {
    const { tenants } = context.caller;
    const query = ['allowlist', tenants];
    const { after, limit } = readNamePage(query, input);
    const rows = (await listAllowlistRows((await context.runtime.store()).db)).filter(
      (row) => tenants === '*' || row.tenant_id === '' || tenants.includes(row.tenant_id),
    );
    const rest = after === null ? rows : rows.filter((row) => getKey(row) > after);
    const { entries, next_cursor } = buildListPage(query, rest, limit, getKey);
    return { entries: entries.map((row) => describeEntry(row, context)), next_cursor };
  },
});

export const allowlistAdd = defineOperation({
  name: 'allowlist_add',
  summary: 'Allowlist a value by its fingerprint',
  description:
    'Findings with this fingerprint are dropped before rules run, in all workers, until the entry expires. Names the value by its `fingerprint`, or by the event that blocked or changed it (`event_id`) and the index of the finding (`finding_index`, 0 for the first).',
  http: { method: 'POST', path: '/v1/dashboard/allowlist' },
  permission: 'policies:edit',
  caller: 'person',
  needs: 'live',
  input: Type.Object({
    fingerprint: Type.Optional(fingerprint),
    event_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'The audit event of a finding.' }),
    ),
    finding_index: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description: 'The index in `finding_places` of the event, from 0 (default: 0).',
      }),
    ),
    tenant_id: Type.Optional(tenantId),
    reason: Type.String({ minLength: 1, maxLength: 500, pattern: PRINTABLE_TEXT }),
    expires_in: Type.String({ maxLength: 32, description: 'A duration such as `30d`; at most a year.' }),
  }),
  output: entry,
  example: {
    fingerprint: `hmac-sha256:${'0'.repeat(64)}`,
    reason: 'A public test number',
    expires_in: '30d',
  },
  answer: null,
  refusals: ['conflict', 'policy_invalid', 'not_found'],
  async run(input, context) {
    const tenant = resolveTenantOrAll(input, context);
    const lastsMs = parseDuration(input.expires_in);
    if (lastsMs === null || lastsMs > EXPIRES_MS_MAX)
      throw new Refusal('invalid_request', '`expires_in` is a duration of at most a year, such as `30d`.');
    const createdMs = context.runtime.now_ms();
    const row: AllowlistRow = {
      fingerprint: await resolveFingerprint(input, context),
      tenant_id: tenant,
      reason: input.reason,
      created_by: context.caller.id,
      created_ms: createdMs,
      expires_ms: createdMs + lastsMs,
    };
    await applyManagedChange(
      {
        next: (now) => ({
          ...now,
          allowlist: [...now.allowlist.filter(createOtherEntryFilter(row)), buildManagedEntry(row)],
        }),
        save: async (trx) => {
          if (!(await insertAllowlistEntry(trx, row)))
            throw new Refusal('conflict', 'There is an entry with this fingerprint. Remove it first.');
        },
        undo: (trx) => deleteAllowlistEntry(trx, row),
        event: buildEvent('allowlist_add', 'An operator allowlisted a value.', row),
        confirmation: null,
      },
      context,
    );
    return describeEntry(row, context);
  },
});

export const allowlistRemove = defineOperation({
  name: 'allowlist_remove',
  summary: 'Remove an allowlist entry',
  description: 'Findings with the fingerprint are evaluated again, in all workers.',
  http: { method: 'POST', path: '/v1/dashboard/allowlist/remove' },
  permission: 'policies:edit',
  caller: 'person',
  needs: 'live',
  input: Type.Object({ fingerprint, tenant_id: Type.Optional(tenantId) }),
  output: entry,
  example: { fingerprint: `hmac-sha256:${'0'.repeat(64)}` },
  answer: null,
  refusals: ['not_found', 'policy_invalid'],
  async run(input, context) {
    const tenant = resolveTenantOrAll(input, context);
    const rows = await listAllowlistRows((await context.runtime.store()).db);
    const row = rows.find((each) => each.fingerprint === input.fingerprint && each.tenant_id === tenant);
    if (row === undefined) throw new Refusal('not_found', 'There is no entry with this fingerprint.');
    await applyManagedChange(
      {
        next: (now) => ({ ...now, allowlist: now.allowlist.filter(createOtherEntryFilter(row)) }),
        save: (trx) => deleteAllowlistEntry(trx, row),
        undo: async (trx) => void (await insertAllowlistEntry(trx, row)),
        event: buildEvent('allowlist_remove', 'An operator removed an allowlist entry.', row),
        confirmation: null,
      },
      context,
    );
    return describeEntry(row, context);
  },
});

interface NamedValue {
  readonly fingerprint?: string;
  readonly event_id?: string;
  readonly finding_index?: number;
}

/** Returns the fingerprint that the input names, itself or by a finding of an event that the caller may read. */
async function resolveFingerprint(
  { fingerprint: written, event_id, finding_index = 0 }: NamedValue,
  context: Context,
): Promise<string> {
  if ((written === undefined) === (event_id === undefined))
    throw new Refusal('invalid_request', 'Name the value by either `fingerprint` or `event_id`.');
  if (written !== undefined) return written;
  const event = await findOwnEvent(event_id as string, context);
  const place = parseFindingPlaces(event.metadata.finding_places)[finding_index];
  const found = context.runtime.unsealFingerprint(place?.fingerprint ?? '', event.event_id);
  if (found !== null) return found;
  throw new Refusal(
    'not_found',
    'The event holds no fingerprint of this finding, so it cannot be allowlisted from there.',
  );
}

function createOtherEntryFilter(row: AllowlistRow) {
  const { fingerprint: wanted, tenant_id } = buildManagedEntry(row);
  return (each: { readonly fingerprint: string; readonly tenant_id: string | null }): boolean =>
    each.fingerprint !== wanted || each.tenant_id !== tenant_id;
}

function buildEvent(phase: string, reason: string, row: AllowlistRow) {
  const about = row.tenant_id === '' ? {} : { about: { tenant_id: row.tenant_id } };
  const metadata = { fingerprint: row.fingerprint, expires_at: formatTime(row.expires_ms) };
  return { phase, reason, metadata, ...about };
}

function describeEntry(row: AllowlistRow, { runtime }: Context) {
  return { ...allowlistEntries.show(row), expired: runtime.now_ms() >= row.expires_ms };
}

function getKey({ fingerprint: own, tenant_id }: AllowlistRow): string {
  return `${own} ${tenant_id}`;
}
