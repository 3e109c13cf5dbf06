import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { agentId, PRINTABLE_TEXT, tenantId } from '../../operations/shapes.ts';
import { dropBlankName, resolveSubject, resolveTenant } from '../../operations/subject.ts';
import { coversName, listScopeNames, narrowScope } from '../../runtime/access/scope.ts';
import { TASK_PATH } from './paths.ts';
import { tasks } from './tables.ts';
import { TTL_DEFAULT_MS, TTL_MAX_MS } from './tasks.ts';
import { TASK_STATUSES, type TaskRecord, type TaskValue } from './types.ts';

const taskId = Type.String({ pattern: '^tsk_[0-9a-f]{24}$', description: 'The ID of the task, `tsk_…`.' });

const amount = Type.String({ pattern: '^[0-9]{1,30}(\\.[0-9]{1,10})?$', maxLength: 41 });

const byPath = (value: object, description: string) => ({
  type: 'object',
  maxProperties: 64,
  propertyNames: { pattern: TASK_PATH },
  additionalProperties: value,
  description,
});

const name = Type.String({ minLength: 1, maxLength: 256, pattern: PRINTABLE_TEXT });

const tools = Type.Array(name, {
  minItems: 1,
  maxItems: 64,
  description: 'Tools that the task allows; `*` matches any run of characters.',
});

const valuesByPath = (description: string) =>
  Type.Optional(
    Type.Unsafe<Readonly<Record<string, readonly TaskValue[]>>>(
      byPath(
        {
          type: 'array',
          minItems: 1,
          maxItems: 1_000,
          items: { type: ['string', 'number', 'boolean', 'null'], maxLength: 1_024 },
        },
        description,
      ),
    ),
  );

/** The terms that a task and a delegation have in common. */
const terms = {
  values: valuesByPath(
    'The only values that an argument may have, by tool and argument: `{"send_email.to": ["ada@example.com"]}`. They are stored as keyed hashes.',
  ),
  sources: valuesByPath(
    'The calls whose results may fill arguments of later calls, by all their arguments: `{"read_file.path": ["todo.md"]}`. Values that strangers wrote elsewhere are refused (default: no such limit).',
  ),
  sums: Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>>>(
      byPath(amount, 'The largest sum of an argument over all calls: `{"refund.amount": "500"}`.'),
    ),
  ),
  calls_max: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Calls that the task allows (default: any number).',
    }),
  ),
  cost_max: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,9}(\\.[0-9]{1,6})?$',
      maxLength: 16,
      description: 'US dollars that model calls which name the task may cost: `2.50` (default: any amount).',
    }),
  ),
  ttl: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,4}[smhd]$',
      maxLength: 6,
      description: 'Lifetime, such as `30m` (default: `1h`, at most `24h`).',
    }),
  ),
};

const record = Type.Object({
  ...tasks.schema.properties,
  status: Type.Enum(TASK_STATUSES),
  arguments: Type.Array(Type.String(), {
    description: 'Arguments with permitted values. The values themselves are not stored.',
  }),
  sources: Type.Array(Type.String(), {
    description: 'Arguments of calls whose results are sources, without their values.',
  }),
  cost_spent: Type.Nullable(
    Type.String({ description: 'US dollars that its model calls have cost; `null` without `cost_max`.' }),
  ),
});

/** The task in the examples. */
const created = {
  ...tasks.example,
  status: 'active' as const,
  arguments: ['refund.customer'],
  sources: [],
  cost_spent: '0.00',
};

export const tasksCreate = defineOperation({
  name: 'tasks_create',
  summary: 'Create a task',
  description:
    'Creates a task: what one agent may do for one purpose, until it expires. A call that names the task (`context.task_id`) must fit it as well as all rules. A task allows nothing that a rule forbids.',
  http: { method: 'POST', path: '/v1/tasks' },
  permission: 'tasks:create',
  needs: 'store',
  input: Type.Object({
    agent_id: name,
    user_id: Type.Optional({
      ...name,
      description: 'The person whom each call of the task must prove (default: none).',
    }),
    tenant_id: Type.Optional(tenantId),
    tools,
    ...terms,
  }),
  output: record,
  example: {
    agent_id: 'support-bot',
    tools: ['refund', 'tickets.*'],
    values: { 'refund.customer': ['cus_1042'] },
    sums: { 'refund.amount': '500' },
    calls_max: 20,
    cost_max: '2.50',
  },
  answer: created,
  refusals: ['conflict'],
  async run(input, context) {
    const agent = dropBlankName(input.agent_id);
    if (agent === null) throw new Refusal('invalid_request', '`agent_id` must not be empty.');
    if (!coversName(context.caller.agents, agent))
      throw new Refusal('forbidden', '`agent_id` is outside the scope of the credential.');
    const made = await (await context.runtime.tasks()).create({
      tenant_id: resolveTenant({ tenant_id: input.tenant_id }, context),
      agent_id: agent,
      user_id: dropBlankName(input.user_id),
      tools: [...new Set(input.tools)],
      values: input.values ?? {},
      sources: input.sources ?? {},
      sums: input.sums ?? {},
      calls_max: input.calls_max ?? null,
      cost_max: input.cost_max ?? null,
      ttl_ms: readTtl(input.ttl),
      created_by: context.caller.id,
    });
    return addCosts(requireMade(made), context);
  },
});

export const tasksDelegate = defineOperation({
  name: 'tasks_delegate',
  summary: 'Delegate a task',
  description:
    'For the agent of a task: creates a narrower task for another agent. Terms that are left out are those of the task. Its calls and sums count for both, and it ends with the task.',
  http: { method: 'POST', path: '/v1/tasks/{task_id}/delegate' },
  permission: 'check',
  needs: 'store',
  input: Type.Object({
    task_id: taskId,
    agent_id: Type.Optional({
      ...agentId,
      description: 'The agent that delegates, to which the task belongs.',
    }),
    tenant_id: Type.Optional(tenantId),
    to_agent_id: { ...name, description: 'The agent that receives the new task.' },
    tools: Type.Optional(tools),
    ...terms,
  }),
  output: record,
  example: {
    task_id: 'tsk_0123456789abcdef01234567',
    agent_id: 'support-bot',
    to_agent_id: 'refund-bot',
    tools: ['refund'],
  },
  answer: {
    ...created,
    task_id: 'tsk_89abcdef0123456701234567',
    agent_id: 'refund-bot',
    parent_id: 'tsk_0123456789abcdef01234567',
    tools: ['refund'],
    arguments: [],
    created_by: 'loopback',
  },
  refusals: ['not_found', 'conflict', 'invalid_request'],
  async run(input, context) {
    const service = await context.runtime.tasks();
    const subject = resolveSubject(input, context);
    const parent = await service.find(input.task_id);
    const isHolder =
      parent !== null && parent.agent_id === subject.agent_id && parent.tenant_id === subject.tenant_id;
    if (!isHolder) throw buildNotFoundRefusal();
    const to = dropBlankName(input.to_agent_id);
    if (to === null) throw new Refusal('invalid_request', '`to_agent_id` must not be empty.');
    const { user_id } = parent;
    if (user_id !== null && subject.principal?.user?.user_id !== user_id)
      throw new Refusal('forbidden', 'The task is for a person whom this call does not prove.');
    const made = await service.delegate(parent, {
      agent_id: to,
      ...(input.tools !== undefined && { tools: [...new Set(input.tools)] }),
      ...(input.values !== undefined && { values: input.values }),
      ...(input.sources !== undefined && { sources: input.sources }),
      ...(input.sums !== undefined && { sums: input.sums }),
      ...(input.calls_max !== undefined && { calls_max: input.calls_max }),
      ...(input.cost_max !== undefined && { cost_max: input.cost_max }),
      ttl_ms: readTtl(input.ttl),
      created_by: context.caller.id,
    });
    if (made !== null && 'message' in made)
      throw new Refusal('invalid_request', `\`${made.path}\` ${made.message}.`, [made]);
    return addCosts(requireMade(made), context);
  },
});

function requireMade(made: TaskRecord | null): TaskRecord {
  if (made === null)
    throw new Refusal('conflict', 'Too many tasks are active. Revoke some, or wait until they expire.');
  return made;
}

function readTtl(written: string | undefined): number | null {
  if (written === undefined) return null;
  const ttlMs = parseDurationMs(written);
  if (ttlMs <= TTL_MAX_MS) return ttlMs;
  const message = `must be at most ${TTL_MAX_MS / TTL_DEFAULT_MS} hours`;
  throw new Refusal('invalid_request', `\`ttl\` ${message}.`, [{ path: 'ttl', message }]);
}

export const tasksList = defineOperation({
  name: 'tasks_list',
  summary: 'List tasks',
  description: 'Lists tasks, newest first, with what was used of them.',
  http: { method: 'GET', path: '/v1/tasks' },
  cli: {
    verb: 'tasks list',
    options: ['agent_id', 'tenant_id', 'status', 'limit'],
    columns: {
      rows: 'tasks',
      cells: {
        TASK: 'task_id',
        STATUS: 'status',
        AGENT: 'agent_id',
        USER: 'user_id',
        CALLS: 'calls',
        EXPIRES: 'expires_at',
      },
      empty: 'There are no such tasks.',
    },
    examples: [['customshouse tasks list --status active', 'active tasks']],
  },
  permission: 'tasks:read',
  needs: 'store',
  input: Type.Object({
    agent_id: Type.Optional(agentId),
    tenant_id: Type.Optional(tenantId),
    status: Type.Optional(Type.Enum(TASK_STATUSES)),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default 100.' })),
  }),
  output: Type.Object({
    tasks: Type.Array(record),
    count: Type.Integer({ description: 'How many this answer holds.' }),
  }),
  example: { agent_id: 'support-bot', status: 'active' },
  answer: { tasks: [created], count: 1 },
  async run(input, context) {
    const { runtime, caller, tenant_id } = context;
    const found = await (await runtime.tasks()).list({
      agent_ids: listScopeNames(narrowScope(caller.agents, dropBlankName(input.agent_id))),
      tenant_ids: listScopeNames(
        narrowScope(caller.tenants, dropBlankName(input.tenant_id) ?? dropBlankName(tenant_id)),
      ),
      status: input.status,
      limit: input.limit ?? 100,
    });
    return { tasks: await addCostsToAll(found, context), count: found.length };
  },
});

export const tasksShow = defineOperation({
  name: 'tasks_show',
  summary: 'Show a task',
  description: 'Returns what a task allows, what was used of it, and whether it is active.',
  http: { method: 'GET', path: '/v1/tasks/{task_id}' },
  cli: {
    verb: 'tasks show',
    arguments: ['task_id'],
    examples: [['customshouse tasks show tsk_0123456789abcdef01234567', '']],
  },
  permission: 'tasks:read',
  needs: 'store',
  input: Type.Object({ task_id: taskId }),
  output: record,
  example: { task_id: 'tsk_0123456789abcdef01234567' },
  answer: created,
  refusals: ['invalid_request', 'not_found'],
  run: async ({ task_id }, context) => addCosts(await findVisible(task_id, context), context),
});

export const tasksRevoke = defineOperation({
  name: 'tasks_revoke',
  summary: 'Revoke a task',
  description:
    'Ends a task and all tasks that it was delegated to. After the response, every worker refuses them. A task that was revoked before stays as it is.',
  http: { method: 'POST', path: '/v1/tasks/{task_id}/revoke' },
  cli: {
    verb: 'tasks revoke',
    arguments: ['task_id'],
    examples: [['customshouse tasks revoke tsk_0123456789abcdef01234567', '']],
  },
  permission: 'tasks:create',
  needs: 'store',
  input: Type.Object({ task_id: taskId }),
  output: record,
  example: { task_id: 'tsk_0123456789abcdef01234567' },
  answer: { ...created, status: 'revoked', revoked_by: 'operator', revoked_at: '2026-01-31T12:10:00.000Z' },
  refusals: ['not_found'],
  async run({ task_id }, context) {
    await findVisible(task_id, context);
    const revoked = await (await context.runtime.tasks()).revoke(task_id, context.caller.id);
    if (revoked === null) throw buildNotFoundRefusal();
    return addCosts(revoked, context);
  },
});

interface ShownTask extends TaskRecord {
  readonly cost_spent: string | null;
}

async function addCosts(task: TaskRecord, context: Context): Promise<ShownTask> {
  return (await addCostsToAll([task], context))[0]!;
}

/** Adds what the model calls of tasks have cost. */
async function addCostsToAll(
  found: readonly TaskRecord[],
  { runtime }: Context,
): Promise<readonly ShownTask[]> {
  const limited = found.filter(({ cost_max }) => cost_max !== null);
  const ids = limited.map(({ task_id, created_at }) => ({ task_id, created_ms: Date.parse(created_at) }));
  const costs = ids.length === 0 ? NO_COSTS : await (await runtime.modelCosts()).readTaskCosts(ids);
  return found.map((task) => ({
    ...task,
    cost_spent: task.cost_max === null ? null : formatDollars(costs.get(task.task_id) ?? 0),
  }));
}

const NO_COSTS: ReadonlyMap<string, number> = new Map();

function formatDollars(microUsd: number): string {
  return (microUsd / 1_000_000).toFixed(6).replace(/0{1,4}$/, '');
}

async function findVisible(id: string, { runtime, caller }: Context): Promise<TaskRecord> {
  const found = await (await runtime.tasks()).find(id);
  const isVisible =
    found !== null &&
    coversName(caller.agents, found.agent_id) &&
    coversName(caller.tenants, found.tenant_id);
  if (!isVisible) throw buildNotFoundRefusal();
  return found;
}

function buildNotFoundRefusal(): Refusal {
  return new Refusal('not_found', 'There is no such task. `customshouse tasks list` lists tasks.');
}
