import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import { suggestName } from '../../core/policy/compile/problems.ts';
import { Type } from '../../core/schema.ts';
import { activationOutput, awaitActivation } from '../../operations/cluster.ts';
import { type OperatorChange, recordOperatorChange } from '../../operations/managed-change.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { cutPage, pageInput, pageOutput } from '../../operations/paging.ts';
import { PRINTABLE_TEXT } from '../../operations/shapes.ts';
import type { StoreTables } from '../../platform/store/index.ts';
import { createApiKey } from '../../runtime/access/tokens.ts';
import { parseDuration } from '../../runtime/audit/filter.ts';
import { OPERATOR_PERMISSIONS, PERMISSIONS, type Permission } from '../../runtime/config/permissions.ts';
import { countRevision } from '../../runtime/managed-policy/revisions.ts';
import {
  findStoredKey,
  insertApiKey,
  isUsable,
  listStoredKeys,
  replaceApiKey,
  revokeApiKey,
  type StoredApiKey,
} from './key-store.ts';
import { apiKeys } from './tables.ts';

const OVERLAP_DEFAULT = '24h';
const OVERLAP_MS_MAX = 90 * 86_400_000;
const EXPIRES_MS_MAX = 10 * 366 * 86_400_000;

/** The permissions that an agent's key may have. */
const KEY_PERMISSIONS = PERMISSIONS.filter((one) => !OPERATOR_PERMISSIONS.includes(one));

const names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 256, pattern: PRINTABLE_TEXT }), {
    minItems: 1,
    maxItems: 100,
    description,
  });

const namesOrNull = (description: string) =>
  Type.Union([Type.Array(Type.String()), Type.Null()], { description });

const keyFields = {
  ...apiKeys.schema.properties,
  key_id: Type.Nullable(Type.String({ description: '`null` for a key of the configuration.' })),
  source: Type.Enum(['api', 'configuration']),
  status: Type.Enum(['active', 'expired', 'revoked']),
  tenants: namesOrNull('`null` for any.'),
  agents: namesOrNull('`null` for any.'),
  permissions: namesOrNull('`null` for the default permissions of a key.'),
  may_act_for: namesOrNull('The people for whom it may act, `*` for any; `null` for none.'),
  created_by: Type.Nullable(Type.String()),
  created_at: Type.Nullable(Type.String()),
};

const keyEntry = Type.Object(keyFields);

const createdKey = Type.Object({
  key: Type.String({ description: 'The key. It is shown here once and not stored.' }),
  ...keyFields,
  ...activationOutput,
});

const warnedKey = Type.Object({
  ...createdKey.properties,
  warnings: Type.Array(Type.String(), {
    description: 'A sentence for each tenant of the key that is neither registered nor has rules.',
  }),
});

export const keysList = defineOperation({
  name: 'keys_list',
  summary: 'List API keys',
  description:
    'The keys of the store and of the configuration, without the keys themselves and their hashes.',
  http: { method: 'GET', path: '/v1/dashboard/keys' },
  cli: {
    verb: 'keys list',
    options: ['cursor', 'limit'],
    columns: {
      rows: 'keys',
      cells: { ID: 'key_id', NAME: 'name', STATUS: 'status', TENANTS: 'tenants', EXPIRES: 'expires_at' },
      empty: 'There are no API keys. Create one with `customshouse keys create NAME`.',
    },
    examples: [['customshouse keys list', '']],
  },
  permission: 'keys:manage',
  tenants: 'all',
  needs: 'live',
  input: Type.Object({ ...pageInput }),
  output: Type.Object({ keys: Type.Array(keyEntry), total: Type.Integer(), ...pageOutput }),
  example: { limit: 10 },
  answer: null,
  async run(input, context) {
    const { runtime } = context;
    const stored = (await listStoredKeys((await runtime.store()).db)).map((key) => describeKey(key, context));
    const all = [...stored, ...(await listConfiguredKeys(context))];
    const { items, next_cursor } = cutPage(all, ['api_keys'], input);
    return { keys: [...items], total: all.length, next_cursor };
  },
});

export const keysCreate = defineOperation({
  name: 'keys_create',
  summary: 'Create an API key',
  description:
    'Creates a key for an agent and returns it once. Only its SHA-256 is stored. It works on all workers when the answer arrives.',
  http: { method: 'POST', path: '/v1/dashboard/keys' },
  cli: {
    verb: 'keys create',
    arguments: ['name'],
    options: ['tenants', 'agents', 'permissions', 'may_act_for', 'expires_in'],
    line: ({ key }) => key,
    notices: ({ warnings }) => warnings,
    examples: [['customshouse keys create support --tenants acme --agents support-bot --expires-in 90d', '']],
  },
  permission: 'keys:manage',
  caller: 'person',
  tenants: 'all',
  needs: 'live',
  input: Type.Object({
    name: Type.String({
      minLength: 1,
      maxLength: 128,
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
      description: 'The name of the key: letters, digits and `. _ -`.',
    }),
    tenants: Type.Optional(names('The tenants that it may name (default: any).')),
    agents: Type.Optional(names('The agents that it may name (default: any).')),
    permissions: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        maxItems: 50,
        description: 'Its permissions (default: to check, and to read its own results).',
      }),
    ),
    may_act_for: Type.Optional(
      names(
        'People for whom it may act, `*` for any: `user_id` of a request then proves the person (default: none). Only for a key that no agent can read.',
      ),
    ),
    expires_in: Type.Optional(
      Type.String({ maxLength: 32, description: 'A duration such as `90d` (default: never).' }),
    ),
  }),
  output: warnedKey,
  example: { name: 'support', tenants: ['acme'], agents: ['support-bot'], expires_in: '90d' },
  answer: null,
  refusals: ['conflict'],
  async run({ name, tenants, agents, permissions, may_act_for, expires_in }, context) {
    if ((await listConfiguredKeys(context)).some((each) => each.name === name)) throw buildNameTakenRefusal();
    const lastsMs = expires_in === undefined ? null : readDuration(expires_in, 'expires_in', EXPIRES_MS_MAX);
    const { key, row } = buildKey(
      {
        name,
        tenants: tenants ?? null,
        agents: agents ?? null,
        permissions: readPermissions(permissions),
        may_act_for: may_act_for ?? null,
      },
      lastsMs,
      context,
    );
    const activation = await changeKeys(
      context,
      buildEvent('api_key_create', 'created', row),
      async (trx) => {
        if (!(await insertApiKey(trx, row))) throw buildNameTakenRefusal();
      },
    );
    return {
      key,
      ...describeKey(row, context),
      ...activation,
      warnings: await listUnknownTenants(tenants ?? [], context),
    };
  },
});

/** Returns a warning for each tenant that is neither registered nor has rules. Requests may name any, so it is no error. */
async function listUnknownTenants(
  tenants: readonly string[],
  { runtime }: Pick<Context, 'runtime'>,
): Promise<string[]> {
  if (tenants.length === 0) return [];
  const { db } = await runtime.store();
  const registered = await db.selectFrom('tenants').select('tenant_id').execute();
  const withRules = runtime.policy().rules.flatMap(({ tenant_id }) => tenant_id ?? []);
  const known = new Set(['default', ...registered.map(({ tenant_id }) => tenant_id), ...withRules]);
  return tenants
    .filter((tenantId) => !known.has(tenantId))
    .map((tenantId) => {
      const near = suggestName(tenantId, [...known]);
      return `The tenant \`${tenantId}\` is not registered and has no rules${near === '' ? '. Check the name, or register it with `customshouse tenants create`.' : near}`;
    });
}

const keyPath = Type.String({
  pattern: '^key_[0-9a-f]{24}$',
  maxLength: 28,
  description: 'The `key_id` of the key.',
});

export const keysRotate = defineOperation({
  name: 'keys_rotate',
  summary: 'Rotate an API key',
  description:
    'Creates a successor with the same name and scope and returns it once. The old key works until the overlap ends.',
  http: { method: 'POST', path: '/v1/dashboard/keys/{key_id}/rotate' },
  cli: {
    verb: 'keys rotate',
    arguments: ['key_id'],
    options: ['overlap'],
    line: ({ key }) => key,
    examples: [['customshouse keys rotate key_0123456789abcdef01234567 --overlap 1h', '']],
  },
  permission: 'keys:manage',
  caller: 'person',
  tenants: 'all',
  needs: 'live',
  input: Type.Object({
    key_id: keyPath,
    overlap: Type.Optional(
      Type.String({
        maxLength: 32,
        description: `How long the old key still works (default: \`${OVERLAP_DEFAULT}\`).`,
      }),
    ),
  }),
  output: createdKey,
  example: { key_id: 'key_0123456789abcdef01234567', overlap: '1h' },
  answer: null,
  refusals: ['not_found', 'conflict'],
  async run({ key_id, overlap = OVERLAP_DEFAULT }, context) {
    const { runtime } = context;
    const old = await requireKey(key_id, context);
    if (!isUsable(old, runtime.now_ms()) || old.replaced_by !== null) throw buildNotRotatableRefusal();
    const overlapMs = readDuration(overlap, 'overlap', OVERLAP_MS_MAX);
    const lastsMs = old.expires_ms === null ? null : old.expires_ms - old.created_ms;
    const { key, row } = buildKey(old, lastsMs, context);
    const event = buildEvent('api_key_rotate', 'rotated', row, { replaces: key_id });
    const activation = await changeKeys(context, event, async (trx) => {
      if (!(await replaceApiKey(trx, old, row.key_id, runtime.now_ms() + overlapMs)))
        throw buildNotRotatableRefusal();
      if (!(await insertApiKey(trx, row, { replaces: key_id }))) throw buildNotRotatableRefusal();
    });
    return { key, ...describeKey(row, context), ...activation };
  },
});

export const keysRevoke = defineOperation({
  name: 'keys_revoke',
  summary: 'Revoke an API key',
  description:
    'Revokes a key, and the keys that it replaced by rotation. No worker accepts them when the answer arrives.',
  http: { method: 'POST', path: '/v1/dashboard/keys/{key_id}/revoke' },
  cli: {
    verb: 'keys revoke',
    arguments: ['key_id'],
    line: ({ name }) => `Revoked ${name}.`,
    examples: [['customshouse keys revoke key_0123456789abcdef01234567', '']],
  },
  permission: 'keys:manage',
  caller: 'person',
  tenants: 'all',
  needs: 'live',
  input: Type.Object({ key_id: keyPath }),
  output: Type.Object({ ...keyEntry.properties, ...activationOutput }),
  example: { key_id: 'key_0123456789abcdef01234567' },
  answer: null,
  refusals: ['not_found', 'conflict'],
  async run({ key_id }, context) {
    const key = await requireKey(key_id, context);
    const revokedMs = context.runtime.now_ms();
    const activation = await changeKeys(
      context,
      buildEvent('api_key_revoke', 'revoked', key),
      async (trx) => {
        if (!(await revokeApiKey(trx, key_id, context.caller.id, revokedMs)))
          throw new Refusal('conflict', 'The key is revoked already.');
      },
    );
    const revoked = { ...key, revoked_by: context.caller.id, revoked_ms: revokedMs };
    return { ...describeKey(revoked, context), ...activation };
  },
});

type KeyScope = Pick<StoredApiKey, 'name' | 'tenants' | 'agents' | 'permissions' | 'may_act_for'>;

function buildKey(
  { name, tenants, agents, permissions, may_act_for }: KeyScope,
  lastsMs: number | null,
  { runtime, caller }: Context,
): { readonly key: string; readonly row: StoredApiKey } {
  const { key, entry } = createApiKey(name);
  const createdMs = runtime.now_ms();
  const row: StoredApiKey = {
    key_id: `key_${randomBytes(12).toString('hex')}`,
    ...{ name, sha256: entry.sha256, tenants, agents, permissions, may_act_for },
    created_by: caller.id,
    created_ms: createdMs,
    expires_ms: lastsMs === null ? null : createdMs + lastsMs,
    replaced_by: null,
    revoked_by: null,
    revoked_ms: null,
  };
  return { key, row };
}

/** Changes the keys of the store with the audit event in one transaction, and waits until all workers use them. */
async function changeKeys(
  context: Context,
  event: OperatorChange,
  change: (trx: Transaction<StoreTables>) => Promise<void>,
): ReturnType<typeof awaitActivation> {
  const store = await context.runtime.store();
  await store.transaction(async (trx) => {
    await change(trx);
    await countRevision(trx, 'api_keys');
    await recordOperatorChange(event, context);
  });
  await context.runtime.activateApiKeys();
  return awaitActivation(context);
}

function buildEvent(
  phase: string,
  done: string,
  { key_id, name, tenants, agents, permissions, may_act_for }: StoredApiKey,
  more: OperatorChange['metadata'] = {},
): OperatorChange {
  // The names of people stay in the store.
  const people = may_act_for?.includes('*') ? '*' : (may_act_for?.length ?? 0);
  const scope = {
    ...{ tenants: tenants ?? '*', agents: agents ?? '*', permissions: permissions ?? 'default' },
    may_act_for: people,
  };
  return { phase, reason: `An operator ${done} the API key.`, metadata: { key_id, name, ...scope, ...more } };
}

async function requireKey(keyId: string, { runtime }: Context): Promise<StoredApiKey> {
  const found = await findStoredKey((await runtime.store()).db, keyId);
  if (found === null) throw new Refusal('not_found', 'There is no key with this `key_id`.');
  return found;
}

function describeKey(key: StoredApiKey, { runtime }: Pick<Context, 'runtime'>) {
  const { tenants, agents, permissions, may_act_for, revoked_ms } = key;
  const usable = isUsable(key, runtime.now_ms()) ? ('active' as const) : ('expired' as const);
  const status = revoked_ms === null ? usable : ('revoked' as const);
  return { ...apiKeys.show(key), source: 'api' as const, status, tenants, agents, permissions, may_act_for };
}

/** Lists the keys of the configuration. They are changed in its file. */
async function listConfiguredKeys({ runtime }: Pick<Context, 'runtime'>) {
  const read = await runtime.configuration();
  const keys = read.ok ? read.config.auth.api_keys : [];
  return keys.map(({ id, tenants, agents, permissions, may_act_for, expires_at }) => ({
    ...{ key_id: null, name: id, source: 'configuration' as const },
    status:
      expires_at !== undefined && !(runtime.now_ms() < Date.parse(expires_at))
        ? ('expired' as const)
        : ('active' as const),
    tenants: tenants === undefined ? null : [...tenants],
    agents: agents === undefined ? null : [...agents],
    permissions: permissions === undefined ? null : [...permissions],
    may_act_for: may_act_for === undefined ? null : [...may_act_for],
    ...{ created_by: null, created_at: null, expires_at: expires_at ?? null },
    ...{ replaced_by: null, revoked_by: null, revoked_at: null },
  }));
}

/** @throws Refusal for an unknown permission, or one that only operators have */
function readPermissions(requested: readonly string[] | undefined): readonly Permission[] | null {
  if (requested === undefined) return null;
  const granted = KEY_PERMISSIONS.filter((one) => requested.includes(one));
  if (granted.length === new Set(requested).size) return granted;
  const list = KEY_PERMISSIONS.map((one) => `\`${one}\``).join(', ');
  throw new Refusal('invalid_request', `\`permissions\` of a key are some of ${list}.`);
}

function readDuration(written: string, field: string, msMax: number): number {
  const durationMs = written === '0' ? 0 : parseDuration(written);
  if (durationMs !== null && durationMs <= msMax) return durationMs;
  throw new Refusal('invalid_request', `\`${field}\` is a duration such as \`1h\` or \`90d\`.`);
}

function buildNameTakenRefusal(): Refusal {
  return new Refusal(
    'conflict',
    'A usable key has this name already. Rotate or revoke it, or choose another name.',
  );
}

function buildNotRotatableRefusal(): Refusal {
  return new Refusal('conflict', 'Only a key that is active and was not rotated yet can be rotated.');
}
