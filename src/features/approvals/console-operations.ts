import { Type } from '../../core/schema.ts';
import { defineOperation, Refusal } from '../../operations/operation.ts';
import {
  formatPageCursor,
  nextCursorSchema,
  PAGE_LIMIT_DEFAULT,
  pageInput,
  parsePageCursor,
  totalSchema,
} from '../../operations/paging.ts';
import { name } from '../../operations/shapes.ts';
import { dropBlankName, resolveTenants } from '../../operations/subject.ts';
import { listScopeNames, narrowScope } from '../../runtime/access/scope.ts';
import { APPROVAL_STATUSES } from '../../runtime/enforcement/approval.ts';
import {
  approvalExample,
  approvalRecordSchema,
  approvalRequestIdSchema,
  approvalsApprove,
  approvalsDeny,
} from './operations.ts';

export const dashboardApprovals = defineOperation({
  name: 'dashboard_approvals',
  summary: 'List approval requests for the console',
  description: 'Lists the approval requests of all tenants that the user sees, newest first.',
  http: { method: 'GET', path: '/v1/dashboard/approvals' },
  permission: 'approvals:read',
  for_users: true,
  needs: 'store',
  input: Type.Object({
    status: Type.Optional(Type.Enum(APPROVAL_STATUSES)),
    agent_id: Type.Optional(name),
    tool: Type.Optional(name),
    tenant_id: Type.Optional({ ...name, description: 'One tenant; without it all that the user sees.' }),
    ...pageInput,
  }),
  output: Type.Object({
    approvals: Type.Array(approvalRecordSchema),
    count: Type.Integer({ description: 'The number of requests in this answer.' }),
    next_cursor: nextCursorSchema,
    total: totalSchema,
  }),
  example: { status: 'pending', limit: 20 },
  answer: { approvals: [approvalExample], count: 1, next_cursor: null, total: 1 },
  refusals: ['invalid_request'],
  async run(input, context) {
    const tenants = resolveTenants(input, context);
    const { agents } = context.caller;
    const status = input.status;
    const agentId = dropBlankName(input.agent_id);
    const tool = dropBlankName(input.tool);
    const query = ['approvals', tenants, agents, status ?? null, agentId, tool];
    const [requestedAt, requestId] = parsePageCursor(query, input.cursor) ?? [];
    const limit = input.limit ?? PAGE_LIMIT_DEFAULT;
    const found = await (await context.runtime.approvals()).list({
      status,
      tool: tool ?? undefined,
      tenant_ids: listScopeNames(tenants),
      agent_ids: listScopeNames(narrowScope(agents, agentId)),
      after:
        requestedAt === undefined
          ? undefined
          : { requested_at: String(requestedAt), request_id: String(requestId) },
      limit: limit + 1,
    });
    const approvals = found.slice(0, limit);
    const last = approvals.at(-1);
    const hasMore = found.length > limit && last !== undefined;
    return {
      approvals,
      count: approvals.length,
      next_cursor: hasMore ? formatPageCursor(query, [last.requested_at, last.request_id]) : null,
      total: hasMore || requestedAt !== undefined ? null : approvals.length,
    };
  },
});

const { mcp: _approve_mcp, cli: _approve_cli, ...approve } = approvalsApprove;
const { mcp: _deny_mcp, cli: _deny_cli, ...deny } = approvalsDeny;

export const dashboardApprovalsApprove = defineOperation({
  ...approve,
  name: 'dashboard_approvals_approve',
  http: { method: 'POST', path: '/v1/dashboard/approvals/{request_id}/approve' },
});

export const dashboardApprovalsDeny = defineOperation({
  ...deny,
  name: 'dashboard_approvals_deny',
  http: { method: 'POST', path: '/v1/dashboard/approvals/{request_id}/deny' },
});

const BULK_MAX = 100;

export const dashboardApprovalsDenyMany = defineOperation({
  name: 'dashboard_approvals_deny_many',
  summary: 'Deny several requests',
  description:
    'Denies each of the requests with the same note. A request that cannot be denied does not stop the others.',
  http: { method: 'POST', path: '/v1/dashboard/approvals/deny' },
  permission: 'approvals:decide',
  needs: 'store',
  input: Type.Object({
    request_ids: Type.Array(approvalRequestIdSchema, { minItems: 1, maxItems: BULK_MAX }),
    note: Type.Optional(approvalsDeny.input.properties.note),
  }),
  output: Type.Object({
    denied: Type.Array(Type.String(), { description: 'The requests that are denied now.' }),
    failed: Type.Array(
      Type.Object({ request_id: Type.String(), code: Type.String(), error: Type.String() }),
      { description: 'The requests that were not denied, and the reason.' },
    ),
  }),
  example: { request_ids: ['apr_0123456789abcdef01234567'], note: 'Not today.' },
  answer: { denied: ['apr_0123456789abcdef01234567'], failed: [] },
  refusals: ['invalid_request'],
  async run({ request_ids, note }, context) {
    const denied: string[] = [];
    const failed: { request_id: string; code: string; error: string }[] = [];
    for (const requestId of new Set(request_ids)) {
      try {
        await approvalsDeny.run({ request_id: requestId, note: note ?? null }, context);
        denied.push(requestId);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        failed.push({ request_id: requestId, code: error.code, error: error.message });
      }
    }
    return { denied, failed };
  },
});
