import { Type } from '../../core/schema.ts';
import type { Json, JsonObject } from '../../core/types/index.ts';
import {
  activatedProperties,
  applyManagedChange,
  type Confirmation,
  confirmInput,
} from '../../operations/managed-change.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { buildListPage, pageInput, pageOutput, readNumberPage } from '../../operations/paging.ts';
import { dropBlankName, resolveTenant } from '../../operations/subject.ts';
import { diffRules } from '../../runtime/managed-policy/rule-diff.ts';
import { listTenants } from './list-tenants.ts';
import { note, tenantPath, versionNumber } from './shapes.ts';
import { policySetVersions } from './tables.ts';
import {
  deleteTenantVersion,
  findTenantVersion,
  hashPolicySet,
  insertTenant,
  insertTenantVersion,
  listTenantVersions,
  type TenantPolicyVersion,
} from './tenant-store.ts';

const RULES_MAX = 1_000;

const policySet = Type.Object({
  tenant_id: Type.String(),
  name: Type.String(),
  policies: Type.Array(Type.Unsafe<JsonObject>({ type: 'object' }), {
    description: 'The saved rules, in order.',
  }),
  configured: Type.Array(Type.String(), {
    description:
      'The names of the other active rules of this tenant, from configuration and files. They are evaluated first.',
  }),
  ...policySetVersions.schema.properties,
  version: Type.Nullable(Type.Integer({ description: '`null` if nothing was saved for this tenant.' })),
  sha256: Type.Nullable(Type.String()),
  created_by: Type.Nullable(Type.String()),
  created_at: Type.Nullable(Type.String()),
});

const NO_VERSION = {
  version: null,
  sha256: null,
  note: '',
  restored_from: null,
  created_by: null,
  created_at: null,
};

export const tenantPoliciesShow = defineOperation({
  name: 'tenant_policies_show',
  summary: 'Show the policies of a tenant',
  description:
    'The saved policy set of a tenant, the current version or an earlier one, with the names of its rules from configuration.',
  http: { method: 'GET', path: '/v1/dashboard/tenants/{tenant_id}/policies' },
  permission: 'tenants:read',
  for_users: true,
  needs: 'store',
  input: Type.Object({
    tenant_id: tenantPath,
    version: Type.Optional({ ...versionNumber, description: 'Default: the current one.' }),
  }),
  output: policySet,
  example: { tenant_id: 'initech' },
  answer: {
    tenant_id: 'initech',
    policies: [
      { name: 'initech-cards', boundary: 'output', data_tags: ['personal.pii.card'], action: 'block' },
    ],
    name: 'initech',
    configured: [],
    version: 1,
    sha256: 'sha256:38f38e7058a42e1293f8673967ba3d8f569db3907dc1d69e27690039ebe7275e',
    note: 'Cards stay inside',
    restored_from: null,
    created_by: 'operator',
    created_at: '2026-01-31T12:00:00.000Z',
  },
  refusals: ['not_found'],
  async run({ tenant_id, version }, context) {
    const tenant = await requireTenant(tenant_id, context);
    const { db } = await context.runtime.store();
    const found = await findTenantVersion(db, tenant_id, version ?? null);
    if (found === null && version !== undefined) throw buildNoSuchVersionRefusal();
    const saved = new Set((await readCurrentRules(tenant_id, context)).map(getRuleName));
    const configured = context.runtime
      .policy()
      .rules.filter((rule) => rule.tenant_id === tenant_id && !saved.has(rule.name))
      .map(({ name }) => name);
    const policies = found?.policies ?? [];
    return {
      tenant_id,
      name: tenant.name,
      policies,
      configured,
      ...(found === null ? NO_VERSION : policySetVersions.show(found)),
    };
  },
});

const saved = Type.Object({
  tenant_id: Type.String(),
  policies: Type.Array(Type.Unsafe<JsonObject>({ type: 'object' })),
  ...policySetVersions.schema.properties,
  ...activatedProperties,
});

export const tenantPoliciesSave = defineOperation({
  name: 'tenant_policies_save',
  summary: 'Save the policies of a tenant',
  description:
    'Saves a list of rules as the next version of the tenant’s policy set, and activates it in all workers before the answer. An invalid set is refused and not saved. Rules of the configuration are evaluated first; a rule name that the configuration already has for this tenant is refused. Creates a tenant that does not exist yet.',
  http: { method: 'PUT', path: '/v1/dashboard/tenants/{tenant_id}/policies' },
  permission: 'tenants:manage',
  caller: 'person',
  needs: 'live',
  input: Type.Object({
    tenant_id: tenantPath,
    policies: Type.Array(Type.Unsafe<JsonObject>({ type: 'object' }), {
      maxItems: RULES_MAX,
      description:
        'The whole set: rules as in `tenants.<id>.policies`. An empty list removes all saved rules.',
    }),
    note: Type.Optional(note),
    ...confirmInput,
    base_version: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'The version that was edited, 0 for none. The call is refused if another one is current.',
      }),
    ),
  }),
  output: saved,
  example: {
    tenant_id: 'initech',
    policies: [
      { name: 'initech-cards', boundary: 'output', data_tags: ['personal.pii.card'], action: 'block' },
    ],
    note: 'Cards stay inside',
    base_version: 0,
  },
  answer: {
    tenant_id: 'initech',
    policies: [
      { name: 'initech-cards', boundary: 'output', data_tags: ['personal.pii.card'], action: 'block' },
    ],
    version: 1,
    sha256: 'sha256:38f38e7058a42e1293f8673967ba3d8f569db3907dc1d69e27690039ebe7275e',
    note: 'Cards stay inside',
    restored_from: null,
    created_by: 'operator',
    created_at: '2026-01-31T12:00:00.000Z',
    policy_hash: 'sha256:38f38e7058a42e1293f8673967ba3d8f569db3907dc1d69e27690039ebe7275e',
    generation: 2,
    warnings: [],
  },
  refusals: ['conflict', 'policy_invalid', 'weaker_policy'],
  async run({ tenant_id, policies, note: why, confirm_weaker, base_version }, context) {
    const set = {
      policies: policies,
      note: dropBlankName(why) ?? '',
      restored_from: null,
    };
    return saveVersion(tenant_id, set, { base: base_version ?? null, confirm_weaker }, context);
  },
});

export const tenantPoliciesRollback = defineOperation({
  name: 'tenant_policies_rollback',
  summary: 'Restore an earlier version of a tenant’s policies',
  description:
    'Saves the rules of an earlier version as the next version, and activates it in all workers. The history stays as it is.',
  http: { method: 'POST', path: '/v1/dashboard/tenants/{tenant_id}/policies/rollback' },
  cli: {
    verb: 'tenants rollback',
    arguments: ['tenant_id', 'version'],
    options: ['note', 'confirm_weaker'],
    line: ({ tenant_id, version, restored_from }) =>
      `Version ${version} of tenant ${tenant_id} is active, with the rules of version ${restored_from}.`,
    examples: [['customshouse tenants rollback acme 3 --note "too strict"', '']],
  },
  permission: 'tenants:manage',
  caller: 'person',
  needs: 'owner',
  input: Type.Object({
    tenant_id: tenantPath,
    version: { ...versionNumber, description: 'The version to restore.' },
    note: Type.Optional(note),
    ...confirmInput,
  }),
  output: saved,
  example: { tenant_id: 'initech', version: 1 },
  answer: {
    tenant_id: 'initech',
    policies: [
      { name: 'initech-cards', boundary: 'output', data_tags: ['personal.pii.card'], action: 'block' },
    ],
    version: 2,
    sha256: 'sha256:38f38e7058a42e1293f8673967ba3d8f569db3907dc1d69e27690039ebe7275e',
    note: '',
    restored_from: 1,
    created_by: 'operator',
    created_at: '2026-01-31T12:00:00.000Z',
    policy_hash: 'sha256:38f38e7058a42e1293f8673967ba3d8f569db3907dc1d69e27690039ebe7275e',
    generation: 2,
    warnings: [],
  },
  refusals: ['not_found', 'conflict', 'policy_invalid', 'weaker_policy'],
  async run({ tenant_id, version, note: why, confirm_weaker }, context) {
    resolveTenant({ tenant_id }, context);
    const { db } = await context.runtime.store();
    const found = await findTenantVersion(db, tenant_id, version);
    if (found === null) throw buildNoSuchVersionRefusal();
    const set = { policies: found.policies, note: dropBlankName(why) ?? '', restored_from: version };
    return saveVersion(tenant_id, set, { base: null, confirm_weaker }, context);
  },
});

export const tenantPolicyVersions = defineOperation({
  name: 'tenant_policy_versions',
  summary: 'List the versions of a tenant’s policies',
  description:
    'The history of a tenant’s policy set, newest first: each version with its author, time and note.',
  http: { method: 'GET', path: '/v1/dashboard/tenants/{tenant_id}/policies/versions' },
  cli: {
    verb: 'tenants versions',
    arguments: ['tenant_id'],
    options: ['cursor', 'limit'],
    columns: {
      rows: 'versions',
      cells: { VERSION: 'version', RULES: 'rules', BY: 'created_by', AT: 'created_at', NOTE: 'note' },
      empty: 'Nothing was saved for this tenant.',
    },
    examples: [['customshouse tenants versions acme', '']],
  },
  permission: 'tenants:read',
  for_users: true,
  needs: 'store',
  input: Type.Object({ tenant_id: tenantPath, ...pageInput }),
  output: Type.Object({
    versions: Type.Array(
      Type.Object({
        rules: Type.Integer({ description: 'How many rules it has.' }),
        ...policySetVersions.schema.properties,
      }),
    ),
    ...pageOutput,
  }),
  example: { tenant_id: 'initech' },
  answer: {
    versions: [
      {
        rules: 1,
        version: 1,
        sha256: 'sha256:38f38e7058a42e1293f8673967ba3d8f569db3907dc1d69e27690039ebe7275e',
        note: 'Cards stay inside',
        restored_from: null,
        created_by: 'operator',
        created_at: '2026-01-31T12:00:00.000Z',
      },
    ],
    next_cursor: null,
  },
  refusals: ['not_found'],
  async run(input, context) {
    const { tenant_id } = input;
    await requireTenant(tenant_id, context);
    const query = ['tenant_policy_versions', tenant_id];
    const { after: before, limit } = readNumberPage(query, input);
    const { db } = await context.runtime.store();
    const rows = await listTenantVersions(db, tenant_id, { before, limit: limit + 1 });
    const { entries, next_cursor } = buildListPage(query, rows, limit, ({ version }) => version);
    const versions = entries.map((each) => ({
      rules: each.policies.length,
      ...policySetVersions.show(each),
    }));
    return { versions, next_cursor };
  },
});

export const tenantPolicyDiff = defineOperation({
  name: 'tenant_policy_diff',
  summary: 'Compare two versions of a tenant’s policies',
  description: 'The rules that were added, removed, changed or moved from one version to another, by name.',
  http: { method: 'GET', path: '/v1/dashboard/tenants/{tenant_id}/policies/diff' },
  permission: 'tenants:read',
  for_users: true,
  needs: 'store',
  input: Type.Object({
    tenant_id: tenantPath,
    from: Type.Optional(
      Type.Integer({ minimum: 0, description: 'A version; 0 for no rules. Default: the one before `to`.' }),
    ),
    to: Type.Optional(
      Type.Integer({ minimum: 0, description: 'A version; 0 for no rules. Default: the current one.' }),
    ),
  }),
  output: Type.Object({
    from: Type.Integer(),
    to: Type.Integer(),
    differences: Type.Array(
      Type.Object({
        name: Type.String(),
        change: Type.Enum(['added', 'removed', 'changed', 'moved']),
        before: Type.Unknown({ description: 'The rule in the first version; `null` if it is not there.' }),
        after: Type.Unknown({ description: 'The rule in the second version; `null` if it is not there.' }),
      }),
    ),
  }),
  example: { tenant_id: 'initech', from: 0, to: 1 },
  answer: {
    from: 0,
    to: 1,
    differences: [
      {
        name: 'initech-cards',
        change: 'added',
        before: null,
        after: {
          name: 'initech-cards',
          boundary: 'output',
          data_tags: ['personal.pii.card'],
          action: 'block',
        },
      },
    ],
  },
  refusals: ['not_found'],
  async run({ tenant_id, ...request }, context) {
    await requireTenant(tenant_id, context);
    const { db } = await context.runtime.store();
    const to = request.to ?? (await findTenantVersion(db, tenant_id))?.version ?? 0;
    const from = request.from ?? Math.max(0, to - 1);
    const rulesOf = async (version: number): Promise<readonly JsonObject[]> => {
      if (version === 0) return [];
      const found = await findTenantVersion(db, tenant_id, version);
      if (found === null) throw buildNoSuchVersionRefusal();
      return found.policies;
    };
    const differences = diffRules(await rulesOf(from), await rulesOf(to));
    return { from, to, differences: differences.map((each) => ({ ...each })) };
  },
});

type NewSet = Pick<TenantPolicyVersion, 'policies' | 'note' | 'restored_from'>;

/** Saves and activates the next version of a tenant's policy set. */
async function saveVersion(
  tenantId: string,
  set: NewSet,
  { base, confirm_weaker }: { readonly base: number | null } & Confirmation,
  context: Context,
) {
  resolveTenant({ tenant_id: tenantId }, context);
  const { runtime, caller } = context;
  const { db } = await runtime.store();
  const current = await findTenantVersion(db, tenantId);
  if (base !== null && base !== (current?.version ?? 0)) throw buildConflictRefusal();
  const version: TenantPolicyVersion = {
    ...set,
    tenant_id: tenantId,
    version: (current?.version ?? 0) + 1,
    sha256: hashPolicySet(set.policies),
    created_by: caller.id,
    created_ms: runtime.now_ms(),
  };
  const activated = await applyManagedChange(
    {
      next: (now) => ({
        ...now,
        tenants: [...now.tenants.filter((each) => each.tenant_id !== tenantId), version],
      }),
      save: async (trx) => {
        const { created_by, created_ms } = version;
        await insertTenant(trx, { tenant_id: tenantId, name: tenantId, created_by, created_ms });
        if (!(await insertTenantVersion(trx, version))) throw buildConflictRefusal();
      },
      undo: (trx) => deleteTenantVersion(trx, version),
      event: {
        phase: set.restored_from === null ? 'tenant_policies_save' : 'tenant_policies_rollback',
        reason: `An operator saved version ${version.version} of the tenant’s policies.`,
        about: { tenant_id: tenantId },
        metadata: {
          version: version.version,
          before_sha256: current?.sha256 ?? null,
          after_sha256: version.sha256,
          restored_from: set.restored_from,
        },
      },
      confirmation: { confirm_weaker, note: set.note },
    },
    context,
  );
  const { policies, ...rest } = {
    policies: version.policies,
    ...policySetVersions.show(version),
  };
  return { tenant_id: tenantId, policies, ...rest, ...activated, warnings: [...activated.warnings] };
}

async function readCurrentRules(tenantId: string, { runtime }: Context): Promise<readonly JsonObject[]> {
  const { db } = await runtime.store();
  return (await findTenantVersion(db, tenantId))?.policies ?? [];
}

function getRuleName({ name = null }: JsonObject): Json {
  return name;
}

/** @throws Refusal `forbidden` for a tenant out of scope, `not_found` for an unknown one */
async function requireTenant(tenantId: string, context: Context): Promise<{ readonly name: string }> {
  resolveTenant({ tenant_id: tenantId }, context);
  const found = (await listTenants(context)).find((each) => each.tenant_id === tenantId);
  if (found === undefined)
    throw new Refusal(
      'not_found',
      'There is no tenant with this `tenant_id`. `customshouse tenants list` lists the tenants.',
    );
  return found;
}

function buildNoSuchVersionRefusal(): Refusal {
  return new Refusal('not_found', 'There is no such version of the policies of this tenant.');
}

function buildConflictRefusal(): Refusal {
  return new Refusal(
    'conflict',
    'The policies of this tenant were changed meanwhile. Read the current version and apply your change to it.',
  );
}
