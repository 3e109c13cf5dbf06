import { Type } from '../../core/schema.ts';
import { recordOperatorChange } from '../../operations/managed-change.ts';
import { defineOperation, Refusal } from '../../operations/operation.ts';
import { buildListPage, pageInput, pageOutput, readNamePage } from '../../operations/paging.ts';
import { PRINTABLE_TEXT } from '../../operations/shapes.ts';
import { dropBlankName } from '../../operations/subject.ts';
import { listTenants, tenantSummarySchema } from './list-tenants.ts';
import { newTenantId } from './shapes.ts';
import { insertTenant } from './tenant-store.ts';

export const tenantsList = defineOperation({
  name: 'tenants_list',
  summary: 'List tenants',
  description:
    'The tenants that were created here and those that have rules in the active policy, by ID. Only the tenants that the user sees.',
  http: { method: 'GET', path: '/v1/dashboard/tenants' },
  cli: {
    verb: 'tenants list',
    options: ['cursor', 'limit'],
    columns: {
      rows: 'tenants',
      cells: { TENANT: 'tenant_id', NAME: 'name', VERSION: 'version', RULES: 'rules_active' },
      empty: 'There are no tenants. Create one with `customshouse tenants create ID`.',
    },
    examples: [['customshouse tenants list', '']],
  },
  permission: 'tenants:read',
  for_users: true,
  needs: 'store',
  input: Type.Object({ ...pageInput }),
  output: Type.Object({ tenants: Type.Array(tenantSummarySchema), total: Type.Integer(), ...pageOutput }),
  example: { limit: 10 },
  answer: { tenants: [], total: 0, next_cursor: null },
  async run(input, context) {
    const query = ['tenants', context.caller.tenants];
    const { after, limit } = readNamePage(query, input);
    const all = await listTenants(context);
    const rest = after === null ? all : all.filter(({ tenant_id }) => tenant_id > after);
    const { entries, next_cursor } = buildListPage(query, rest, limit, ({ tenant_id }) => tenant_id);
    return { tenants: [...entries], total: all.length, next_cursor };
  },
});

export const tenantsCreate = defineOperation({
  name: 'tenants_create',
  summary: 'Create a tenant',
  description: 'Creates a tenant under an ID that callers then send as `tenant_id`.',
  http: { method: 'POST', path: '/v1/dashboard/tenants' },
  cli: {
    verb: 'tenants create',
    arguments: ['tenant_id'],
    options: ['name'],
    line: ({ tenant_id }) => `Created tenant ${tenant_id}.`,
    examples: [['customshouse tenants create acme --name "Acme Ltd"', '']],
  },
  permission: 'tenants:manage',
  caller: 'person',
  tenants: 'all',
  needs: 'store',
  input: Type.Object({
    tenant_id: newTenantId,
    name: Type.Optional(Type.String({ maxLength: 256, pattern: PRINTABLE_TEXT, description: 'For people.' })),
  }),
  output: tenantSummarySchema,
  example: { tenant_id: 'acme', name: 'Acme Ltd' },
  answer: {
    tenant_id: 'acme',
    name: 'Acme Ltd',
    version: null,
    rules_active: 0,
    created_by: 'operator',
    created_at: '2026-01-31T12:00:00.000Z',
  },
  refusals: ['conflict'],
  async run({ tenant_id, name }, context) {
    const { runtime, caller } = context;
    const row = {
      tenant_id,
      name: dropBlankName(name) ?? tenant_id,
      created_by: caller.id,
      created_ms: runtime.now_ms(),
    };
    const store = await runtime.store();
    await store.transaction(async (trx) => {
      if (!(await insertTenant(trx, row)))
        throw new Refusal('conflict', 'There is a tenant with this `tenant_id` already.');
      const event = {
        phase: 'tenant_create',
        reason: 'An operator created the tenant.',
        about: { tenant_id },
      };
      await recordOperatorChange({ ...event, metadata: {} }, context);
    });
    return (await listTenants(context)).find((each) => each.tenant_id === tenant_id)!;
  },
});
