import { Type } from '../../core/schema.ts';
import { defineOperation, Refusal } from '../../operations/operation.ts';
import { agentId, name, tenantId } from '../../operations/shapes.ts';
import { dropBlankName } from '../../operations/subject.ts';
import { listScopeNames, narrowScope } from '../../runtime/access/scope.ts';
import { GRANT_STATUSES } from './grant-types.ts';
import { createScopeFilter } from './operations.ts';
import { approvalGrants } from './tables.ts';

const grantId = Type.String({
  pattern: '^grt_[0-9a-f]{24}$',
  maxLength: 28,
  description: 'The ID of the grant, `grt_…`.',
});

const record = Type.Object({
  ...approvalGrants.schema.properties,
  status: Type.Enum(GRANT_STATUSES),
  sentence: Type.String({ description: 'The calls that it covers, with argument names and no value.' }),
});

const EXAMPLE_ID = 'grt_0123456789abcdef01234567';

const granted = {
  ...approvalGrants.example,
  status: 'active' as const,
  sentence:
    'Calls of `issue_refund` by `support-bot` in the session `sess-1` with the same `order`, `amount`, `notify`.',
};

export const approvalsGrantsList = defineOperation({
  name: 'approvals_grants_list',
  summary: 'List grants',
  description: 'Lists the grants that were created with approvals, newest first, with their uses.',
  http: { method: 'GET', path: '/v1/approvals/grants' },
  cli: {
    verb: 'approvals grants list',
    options: ['agent_id', 'tenant_id', 'tool', 'status', 'limit'],
    columns: {
      rows: 'grants',
      cells: {
        GRANT: 'grant_id',
        STATUS: 'status',
        AGENT: 'agent_id',
        TOOL: 'tool',
        SCOPE: 'scope',
        USES: 'uses',
        MAX: 'uses_max',
        EXPIRES: 'expires_at',
      },
      empty: 'There are no such grants.',
    },
    examples: [['customshouse approvals grants list --status active', 'active grants']],
  },
  permission: 'approvals:read',
  needs: 'store',
  input: Type.Object({
    agent_id: Type.Optional(agentId),
    tenant_id: Type.Optional(tenantId),
    tool: Type.Optional(name),
    status: Type.Optional(Type.Enum(GRANT_STATUSES)),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default 100.' })),
  }),
  output: Type.Object({
    grants: Type.Array(record),
    count: Type.Integer({ description: 'How many this answer holds.' }),
  }),
  example: { status: 'active' },
  answer: { grants: [granted], count: 1 },
  refusals: ['invalid_request'],
  async run(input, { runtime, caller, tenant_id }) {
    const grants = await (await runtime.approvals()).listGrants({
      status: input.status,
      agent_ids: listScopeNames(narrowScope(caller.agents, dropBlankName(input.agent_id))),
      tenant_ids: listScopeNames(
        narrowScope(caller.tenants, dropBlankName(input.tenant_id) ?? dropBlankName(tenant_id)),
      ),
      tool: dropBlankName(input.tool) ?? undefined,
      limit: input.limit ?? 100,
    });
    return { grants, count: grants.length };
  },
});

export const approvalsGrantsShow = defineOperation({
  name: 'approvals_grants_show',
  summary: 'Show a grant',
  description: 'Returns which calls a grant covers, how often it was used, and whether it is active.',
  http: { method: 'GET', path: '/v1/approvals/grants/{grant_id}' },
  cli: {
    verb: 'approvals grants show',
    arguments: ['grant_id'],
    examples: [[`customshouse approvals grants show ${EXAMPLE_ID}`, '']],
  },
  permission: 'approvals:read',
  needs: 'store',
  input: Type.Object({ grant_id: grantId }),
  output: record,
  example: { grant_id: EXAMPLE_ID },
  answer: granted,
  refusals: ['invalid_request', 'not_found'],
  async run({ grant_id }, context) {
    const found = await (await context.runtime.approvals()).findGrant(grant_id);
    if (found === null || !createScopeFilter(context)(found)) throw buildNotFoundRefusal();
    return found;
  },
});

export const approvalsGrantsRevoke = defineOperation({
  name: 'approvals_grants_revoke',
  summary: 'Revoke a grant',
  description:
    'Ends a grant. After the response, no worker uses it, and the calls that it covered need an approval again. A grant that was revoked before stays as it is.',
  http: { method: 'POST', path: '/v1/approvals/grants/{grant_id}/revoke' },
  cli: {
    verb: 'approvals grants revoke',
    arguments: ['grant_id'],
    examples: [[`customshouse approvals grants revoke ${EXAMPLE_ID}`, '']],
  },
  permission: 'approvals:decide',
  caller: 'person',
  needs: 'store',
  input: Type.Object({ grant_id: grantId }),
  output: record,
  example: { grant_id: EXAMPLE_ID },
  answer: {
    ...granted,
    status: 'revoked',
    revoked_by: 'operator',
    revoked_at: '2026-01-31T12:10:00.000Z',
  },
  refusals: ['not_found'],
  async run({ grant_id }, context) {
    const approvals = await context.runtime.approvals();
    const revoked = await approvals.revokeGrant(grant_id, context.caller.id, createScopeFilter(context));
    if (revoked === null) throw buildNotFoundRefusal();
    return revoked;
  },
});

function buildNotFoundRefusal(): Refusal {
  return new Refusal(
    'not_found',
    'There is no such grant. `customshouse approvals grants list` lists grants.',
  );
}
