import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { actionMarksSchema, name } from '../../operations/shapes.ts';
import { dropBlankName, resolveTenant } from '../../operations/subject.ts';
import { coversName, listScopeNames, narrowScope } from '../../runtime/access/scope.ts';
import { APPROVAL_STATUSES } from '../../runtime/enforcement/approval.ts';
import { APPROVAL_SCOPES, type ApprovalScope } from './scope-names.ts';
import { approvalRequests, approvalVotes } from './tables.ts';
import type { ApprovalRecord, RequestedGrant, TransitionResult } from './types.ts';

export const approvalRequestIdSchema = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'The request, `apr_…`.',
});

const comment = Type.Nullable(
  Type.String({
    maxLength: 1_000,
    description: 'The reason. Detected secrets and personal data in it are masked.',
  }),
);

const decisionInput = Type.Object({
  request_id: approvalRequestIdSchema,
  approver: Type.Optional({
    ...name,
    description: 'The name of the approver, if the credential does not name one.',
  }),
  comment: Type.Optional(comment),
  note: Type.Optional({ ...comment, description: 'The same as `comment`.' }),
  approver_id: Type.Optional({ ...name, description: 'The same as `approver`.' }),
});

const grantInput = {
  grant: Type.Optional(
    Type.Enum(APPROVAL_SCOPES, {
      description:
        'Also approves the next equal calls: a scope in `grants_proposed` of the request (default: `once`).',
    }),
  ),
  uses_max: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Calls that the grant covers, at most `approvals.grant_uses_max`. Default: as proposed.',
    }),
  ),
  ttl: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,4}[smhd]$',
      maxLength: 6,
      description:
        'Lifetime of the grant, such as `30m`, at most `approvals.grant_ttl_max`. Default: as proposed.',
    }),
  ),
};

const proposedGrantSchema = Type.Object({
  scope: Type.Enum(APPROVAL_SCOPES),
  sentence: Type.String({ description: 'The calls that it covers, with argument names and no value.' }),
  uses_max: Type.Integer(),
  ttl: Type.Nullable(Type.String({ description: 'Its lifetime; `null` for this one call.' })),
});

export const approvalRecordSchema = Type.Object({
  ...approvalRequests.schema.properties,
  action_marks: actionMarksSchema,
  arguments_truncated: Type.Boolean({
    description: 'The arguments were longer than `approvals.arguments_bytes_max`.',
  }),
  votes: Type.Array(approvalVotes.schema),
  grants_proposed: Type.Array(proposedGrantSchema, {
    description: 'An approver’s choices, the narrowest first; empty once the request is not pending.',
  }),
});

/** The approval request in the examples: a call that needs one approver. */
export const approvalExample = {
  ...approvalRequests.example,
  action_marks: [],
  arguments_truncated: false,
  votes: [],
  grants_proposed: [
    {
      scope: 'once' as const,
      sentence: 'This call once, with exactly these arguments.',
      uses_max: 1,
      ttl: null,
    },
    {
      scope: 'session' as const,
      sentence:
        'Calls of `issue_refund` by `support-bot` in this session with the same `order`, `amount`, `notify`.',
      uses_max: 20,
      ttl: '1h',
    },
    {
      scope: 'agent' as const,
      sentence:
        'Calls of `issue_refund` by `support-bot` in any session with the same `order`, `amount`, `notify`.',
      uses_max: 50,
      ttl: '1d',
    },
    {
      scope: 'any_arguments' as const,
      sentence: 'Calls of `issue_refund` by `support-bot` in this session, with any arguments.',
      uses_max: 20,
      ttl: '1h',
    },
  ],
};

const decided = { decided_by: 'operator', decided_at: '2026-01-31T12:01:00.000Z' };

export const approvalsList = defineOperation({
  name: 'approvals_list',
  summary: 'List requests for approval',
  description: 'The newest requests that fit all filters.',
  http: { method: 'GET', path: '/v1/approvals' },
  permission: 'approvals:read',
  needs: 'store',
  input: Type.Object({
    status: Type.Optional(Type.Enum(APPROVAL_STATUSES)),
    agent_id: Type.Optional(name),
    tool: Type.Optional(name),
    tenant_id: Type.Optional(name),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default 100.' })),
  }),
  output: Type.Object({
    approvals: Type.Array(approvalRecordSchema),
    count: Type.Integer({ description: 'How many this answer holds.' }),
  }),
  example: { status: 'pending', limit: 20 },
  answer: { approvals: [approvalExample], count: 1 },
  refusals: ['invalid_request'],
  async run(input, context) {
    const { caller, runtime } = context;
    const agentId = dropBlankName(input.agent_id);
    const requested = dropBlankName(input.tenant_id) ?? dropBlankName(context.tenant_id);
    const found = await (await runtime.approvals()).list({
      status: input.status,
      agent_ids: listScopeNames(narrowScope(caller.agents, agentId)),
      tenant_ids: listScopeNames(narrowScope(caller.tenants, requested)),
      tool: dropBlankName(input.tool) ?? undefined,
      limit: input.limit ?? 100,
    });
    return { approvals: found, count: found.length };
  },
});

const WAIT_MS_MAX = 60_000;

export const approvalsShow = defineOperation({
  name: 'approvals_show',
  summary: 'Show a request for approval',
  description:
    'Returns one request. With `wait`, the response is sent when the request is no longer pending, or after that time. Without the permission to read all requests, a caller sees the requests of its own calls.',
  http: { method: 'GET', path: '/v1/approvals/{request_id}' },
  permission: 'approvals:own',
  needs: 'store',
  input: Type.Object({
    request_id: approvalRequestIdSchema,
    wait: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,5}(ms|s)?$',
        maxLength: 7,
        description: '`30s`, `1500ms`; at most `60s`.',
      }),
    ),
  }),
  output: approvalRecordSchema,
  example: { request_id: 'apr_0123456789abcdef01234567' },
  answer: approvalExample,
  refusals: ['invalid_request', 'not_found', 'too_many_requests'],
  async run({ request_id, wait }, context) {
    const approvals = await context.runtime.approvals();
    const mine = createVisibilityFilter(context);
    const first = await approvals.find(request_id);
    if (first === null || !mine(first)) throw buildNotFoundRefusal(request_id);
    const waitMs = getWait(wait);
    if (waitMs === 0 || first.status !== 'pending') return first;
    const waited = await approvals.wait(request_id, waitMs, context.signal?.() ?? null);
    if (!waited.waited)
      throw new Refusal('too_many_requests', 'Too many wait already: ask again without `wait`.');
    if (waited.record === null) throw buildNotFoundRefusal(request_id);
    return waited.record;
  },
});

export const approvalsApprove = defineOperation({
  name: 'approvals_approve',
  summary: 'Approve a request',
  description:
    'Counts a person’s approval; with the last one that the rule asks for the request is approved, and the agent may use it once. With `grant`, the next equal calls pass too, until the grant ends. Requires an approver other than the requester.',
  http: { method: 'POST', path: '/v1/approvals/{request_id}/approve' },
  mcp: { tool: 'approve', read_only: false, destructive: true },
  cli: {
    verb: 'approvals approve',
    arguments: ['request_id'],
    options: ['approver', 'note', 'comment', 'grant', 'uses_max', 'ttl'],
    line: writeOutcome,
    examples: [
      ['customshouse approvals approve apr_0123456789abcdef01234567 --note "asked her"', ''],
      [
        'customshouse approvals approve apr_0123456789abcdef01234567 --grant session',
        'and the next equal calls',
      ],
    ],
  },
  permission: 'approvals:decide',
  caller: 'person',
  needs: 'store',
  input: Type.Object({ ...decisionInput.properties, ...grantInput }),
  output: approvalRecordSchema,
  example: { request_id: 'apr_0123456789abcdef01234567', comment: 'Checked with the customer.' },
  answer: {
    ...approvalExample,
    status: 'approved',
    votes: [{ ...approvalVotes.example, comment: 'Checked with the customer.' }],
    grants_proposed: [],
    ...decided,
  },
  refusals: ['invalid_request', 'not_found', 'conflict'],
  run: (input, context) => castVote('approve', input, context),
});

export const approvalsDeny = defineOperation({
  name: 'approvals_deny',
  summary: 'Deny a request',
  description: 'One denial decides. Requires an approver other than the requester.',
  http: { method: 'POST', path: '/v1/approvals/{request_id}/deny' },
  mcp: { tool: 'deny', read_only: false },
  cli: {
    verb: 'approvals deny',
    arguments: ['request_id'],
    options: ['approver', 'note', 'comment'],
    line: writeOutcome,
    examples: [['customshouse approvals deny apr_0123456789abcdef01234567 --note "asked her"', '']],
  },
  permission: 'approvals:decide',
  caller: 'person',
  needs: 'store',
  input: decisionInput,
  output: approvalRecordSchema,
  example: { request_id: 'apr_0123456789abcdef01234567', comment: 'Not to this address.' },
  answer: {
    ...approvalExample,
    status: 'denied',
    votes: [{ ...approvalVotes.example, vote: 'deny', comment: 'Not to this address.' }],
    grants_proposed: [],
    ...decided,
  },
  refusals: ['invalid_request', 'not_found', 'conflict'],
  run: (input, context) => castVote('deny', input, context),
});

export const approvalsCancel = defineOperation({
  name: 'approvals_cancel',
  summary: 'Cancel a request',
  description: 'Cancels a pending request. The caller that made it and approvers may cancel it.',
  http: { method: 'POST', path: '/v1/approvals/{request_id}/cancel' },
  cli: {
    verb: 'approvals cancel',
    arguments: ['request_id'],
    line: writeOutcome,
    examples: [['customshouse approvals cancel apr_0123456789abcdef01234567', '']],
  },
  permission: 'approvals:own',
  needs: 'store',
  input: Type.Object({ request_id: approvalRequestIdSchema }),
  output: approvalRecordSchema,
  example: { request_id: 'apr_0123456789abcdef01234567' },
  answer: { ...approvalExample, status: 'cancelled', grants_proposed: [], ...decided },
  refusals: ['not_found', 'conflict'],
  async run({ request_id }, context) {
    const { caller, runtime } = context;
    const may = createCancellationFilter(context);
    return requireTransition(request_id, await (await runtime.approvals()).cancel(request_id, caller, may));
  },
});

function writeOutcome(request: ApprovalRecord): string {
  const { request_id, status, votes, min_approvals, agent_id, tool, boundary, expires_at, grant_id } =
    request;
  const held = tool === null ? `pass \`${boundary}\`` : `call \`${tool}\``;
  if (status === 'approved') {
    const granted = grant_id === null ? '' : ` The grant ${grant_id} covers the next equal calls.`;
    return `Approved: \`${agent_id}\` may ${held} once before ${expires_at}.${granted}`;
  }
  if (status !== 'pending') return `The request ${request_id} is ${status}.`;
  const given = votes.filter(({ vote }) => vote === 'approve').length;
  return `The request ${request_id} has ${given} of the ${min_approvals} approvals that it needs.`;
}

interface VoteFields {
  readonly request_id: string;
  readonly approver?: string | null;
  readonly comment?: string | null;
  readonly note?: string | null;
  readonly approver_id?: string | null;
  readonly grant?: ApprovalScope;
  readonly uses_max?: number;
  readonly ttl?: string;
}

async function castVote(word: 'approve' | 'deny', stated: VoteFields, context: Context) {
  const { caller, runtime } = context;
  const approver = getOne('approver', stated.approver, 'approver_id', stated.approver_id);
  const comment = getOne('comment', stated.comment, 'note', stated.note);
  const { request_id } = stated;
  const requested = { request_id, vote: word, caller, approver, comment, grant: readGrant(stated) } as const;
  const approvals = await runtime.approvals();
  return requireTransition(request_id, await approvals.vote(requested, createScopeFilter(context)));
}

/** Returns the grant that an approver asks for; `undefined` for this one call. */
function readGrant({ grant = 'once', uses_max, ttl }: VoteFields): RequestedGrant | undefined {
  if (grant !== 'once')
    return {
      scope: grant,
      uses_max: uses_max ?? null,
      ttl_ms: ttl === undefined ? null : parseDurationMs(ttl),
    };
  if (uses_max === undefined && ttl === undefined) return undefined;
  throw new Refusal('invalid_request', '`uses_max` and `ttl` belong to a `grant`: name its scope too.');
}

/** Returns the value of a member that has two names. */
function getOne(
  first: string,
  value: string | null | undefined,
  second: string,
  other: string | null | undefined,
): string | null {
  const [one, two] = [dropBlankName(value), dropBlankName(other)];
  if (one !== null && two !== null)
    throw new Refusal('invalid_request', `\`${first}\` and \`${second}\` are the same: send one of them.`);
  return one ?? two;
}

function requireTransition(requestId: string, moved: TransitionResult) {
  if (moved.moved) return moved.record;
  switch (moved.cause) {
    case 'not_found':
      throw buildNotFoundRefusal(requestId);
    case 'own_request':
      throw new Refusal('forbidden', 'You cannot decide on your own request. Another approver must decide.');
    case 'second_factor_required':
      throw new Refusal(
        'forbidden',
        'The rule asks for a second factor: sign in to the console, prove it there, and approve again.',
        [],
        { second_factor_required: true },
      );
    case 'scope_not_proposed':
      throw new Refusal(
        'invalid_request',
        'This grant is not proposed for the request. `grants_proposed` lists the scopes that are.',
      );
    case 'grant_limit':
      throw new Refusal(
        'invalid_request',
        'The grant exceeds `approvals.grant_uses_max` or `approvals.grant_ttl_max`.',
      );
    case 'too_many_grants':
      throw new Refusal(
        'conflict',
        'Too many grants of this agent are active (`approvals.grants_per_agent_max`). Revoke some, or approve once.',
      );
    case 'already_voted':
      throw new Refusal('conflict', 'You have already approved it. Another approver must approve it too.');
    case 'not_pending':
      throw new Refusal('conflict', `The request is not pending any more: it is ${moved.record?.status}.`);
  }
}

/** Names the request only if it looks like one, because a caller may have pasted something else. */
export function buildNotFoundRefusal(requestId: string): Refusal {
  const name = requestId.startsWith('apr_') ? `request \`${requestId}\`` : 'such request';
  const message = `There is no ${name}. \`customshouse approvals list --status all\` lists the requests.`;
  return new Refusal('not_found', message);
}

/** Returns a filter for records within the credential's scope and the tenant that the transport names. */
export function createScopeFilter(
  context: Context,
): (record: Pick<ApprovalRecord, 'tenant_id' | 'agent_id'>) => boolean {
  const { caller } = context;
  const tenant = dropBlankName(context.tenant_id) === null ? null : resolveTenant({}, context);
  return ({ tenant_id, agent_id }) =>
    (tenant === null || tenant === tenant_id) &&
    coversName(caller.tenants, tenant_id) &&
    coversName(caller.agents, agent_id);
}

/** Returns a filter for records in scope. A caller that may not read all records sees its own only. */
function createVisibilityFilter(context: Context): (record: ApprovalRecord) => boolean {
  return createOwnerFilter('approvals:read', context);
}

function createCancellationFilter(context: Context): (record: ApprovalRecord) => boolean {
  return createOwnerFilter('approvals:decide', context);
}

function createOwnerFilter(
  permission: 'approvals:read' | 'approvals:decide',
  context: Context,
): (record: ApprovalRecord) => boolean {
  const within = createScopeFilter(context);
  const { caller } = context;
  const all = caller.permissions.includes(permission);
  return (record) => within(record) && (all || record.requested_by === caller.id);
}

function getWait(written: string | undefined): number {
  if (written === undefined) return 0;
  const requested = Number.parseInt(written, 10) * (written.endsWith('ms') ? 1 : 1_000);
  return Math.min(requested, WAIT_MS_MAX);
}
