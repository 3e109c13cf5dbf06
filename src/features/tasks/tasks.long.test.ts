import assert from 'node:assert/strict';
import { parseJsonContent } from '../../core/json/source.ts';
import { UNLIMITED_WALK } from '../../core/json/walk.ts';
import type { Json, Policy } from '../../core/types/index.ts';
import type { Store } from '../../platform/store/index.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { TaskUse } from '../../runtime/enforcement/task.ts';
import { deleteExpiredTasks, EXPIRED_TASK_KEPT_MS } from './jobs.ts';
import { openTasks } from './tasks.ts';
import type { DelegationRequest, NewTaskTerms, TaskRecord } from './types.ts';

const REQUEST: NewTaskTerms = {
  tenant_id: 'default',
  agent_id: 'support',
  user_id: null,
  tools: ['refund', 'tickets.*'],
  values: { 'refund.customer': ['cus_1042', 7] },
  sources: {},
  sums: { 'refund.amount': '500' },
  calls_max: null,
  cost_max: null,
  ttl_ms: null,
  created_by: 'operator',
};
const DELEGATION: DelegationRequest = { agent_id: 'refunder', ttl_ms: null, created_by: 'key:support' };

/** Opens tasks over a store, with a clock that a test sets. Two of them on one store are two processes. */
function openTestTasks(store: Store) {
  const events: AuditEvent[] = [];
  const clock = { now_ms: 1_800_000_000_000 };
  const journal = { refuses: false };
  const ports = {
    policy: { hash: 'sha256:0' } as Policy,
    now_ms: () => clock.now_ms,
    record: async (event: AuditEvent) => {
      if (journal.refuses) throw new Error('the journal refuses');
      events.push(event);
    },
  };
  const tasks = openTasks({ store: async () => store, ports: () => ports, secret: 's'.repeat(43) });
  const create = async (request: Partial<NewTaskTerms> = {}): Promise<TaskRecord> => {
    const made = await tasks.create({ ...REQUEST, ...request });
    assert.ok(made !== null);
    return made;
  };
  /** Makes a call, which all rules allow. Returns the rule that refuses it, else `null`. */
  const call = async ({ task_id }: TaskRecord, tool: string, args: Json, about: Partial<TaskUse> = {}) => {
    const { shown, count } = await tasks.check({
      task_id,
      tenant_id: 'default',
      agent_id: 'support',
      user_id: null,
      tool,
      content: { kind: 'json', value: args },
      ...about,
    });
    return (shown.refusal ?? (await count()))?.rule ?? null;
  };
  const delegate = async (parent: TaskRecord, request: Partial<DelegationRequest> = {}) => {
    const made = await tasks.delegate(parent, { ...DELEGATION, ...request });
    assert.ok(made !== null && !('message' in made), JSON.stringify(made));
    return made;
  };
  return { tasks, create, call, delegate, clock, events, journal };
}

const REFUND = { customer: 'cus_1042', amount: 10 };

withStores('tasks', (law) => {
  law('a task allows its tools and values, and no others', async ({ store }) => {
    const { create, call } = openTestTasks(store);
    const task = await create();
    const rows: readonly (readonly [rule: string | null, tool: string, args: Json])[] = [
      [null, 'refund', REFUND],
      [null, 'refund', { ...REFUND, customer: 7 }],
      [null, 'refund', { ...REFUND, customer: ['cus_1042', 7], note: 'any text' }],
      [null, 'refund', { ...REFUND, amount: '10.50' }],
      [null, 'tickets.close', {}],
      ['task.tools', 'refunds', REFUND],
      ['task.tools', 'Refund', REFUND],
      ['task.values', 'refund', { ...REFUND, customer: 'cus_1043' }],
      ['task.values', 'refund', { ...REFUND, customer: 'CUS_1042' }],
      ['task.values', 'refund', { ...REFUND, customer: ' cus_1042' }],
      ['task.values', 'refund', { ...REFUND, customer: 'сus_1042' }],
      ['task.values', 'refund', { ...REFUND, customer: '7' }],
      ['task.values', 'refund', { ...REFUND, customer: 7.5 }],
      ['task.values', 'refund', { ...REFUND, customer: ['cus_1042', 'cus_1'] }],
      ['task.values', 'refund', { ...REFUND, customer: [] }],
      ['task.values', 'refund', { ...REFUND, customer: { id: 'cus_1042' } }],
      ['task.values', 'refund', { ...REFUND, customer: [['cus_1042']] }],
      ['task.values', 'refund', { amount: 10 }],
      ['task.values', 'refund', ['cus_1042']],
      ['task.values', 'refund', null],
      ['task.sums', 'refund', { customer: 7 }],
      ['task.sums', 'refund', { ...REFUND, amount: -1 }],
      ['task.sums', 'refund', { ...REFUND, amount: '1,000' }],
      ['task.sums', 'refund', { ...REFUND, amount: 2 ** 53 + 2 }],
      ['task.sums', 'refund', { ...REFUND, amount: true }],
    ];
    for (const [rule, tool, args] of rows)
      assert.equal(await call(task, tool, args), rule, `${tool} ${JSON.stringify(args)}`);
  });

  law('a value that is sent twice is refused', async ({ store }) => {
    const { create, tasks } = openTestTasks(store);
    const { task_id } = await create({ sums: {} });

    const use = (text: string): TaskUse => ({
      ...{ task_id, tenant_id: 'default', agent_id: 'support', user_id: null, tool: 'refund' },
      content: parseJsonContent(text, UNLIMITED_WALK),
    });
    const twice = await tasks.check(use('{"customer":"cus_1","customer":"cus_1042"}'));
    assert.equal(twice.shown.refusal?.rule, 'task.values');
    assert.equal((await tasks.check(use('{"customer":"cus_1042"}'))).shown.refusal, null);
  });

  law('a task is for one tenant, agent and person', async ({ store }) => {
    const { create, call } = openTestTasks(store);
    const task = await create({ user_id: 'ada' });
    const rule = (about: Partial<TaskUse>) => call(task, 'tickets.list', {}, { user_id: 'ada', ...about });
    assert.equal(await rule({}), null);
    assert.equal(await rule({ tenant_id: 'acme' }), 'task.tenant');
    assert.equal(await rule({ agent_id: 'refunder' }), 'task.agent');
    assert.equal(await rule({ user_id: 'bob' }), 'task.user');
    assert.equal(await rule({ user_id: null }), 'task.user');
    assert.equal(await rule({ task_id: 'tsk_000000000000000000000000' }), 'task.unknown');
  });

  law('only the first task says what its creator listed', async ({ store }) => {
    const { tasks, create, delegate } = openTestTasks(store);
    const parent = await create({ values: { 'refund.customer': ['cus_1042'] } });
    const child = await delegate(parent, { values: { 'refund.note': ['Done.'] } });
    const about = { tenant_id: 'default', user_id: null, tool: 'refund' };
    const content = { kind: 'json', value: { customer: 'cus_1042', note: 'Done.', amount: 1 } } as const;
    for (const [{ task_id }, agentId] of [
      [parent, 'support'],
      [child, 'refunder'],
    ] as const) {
      const { shown } = await tasks.check({ ...about, task_id, agent_id: agentId, content });
      assert.deepEqual([shown.refusal, shown.listed_arguments], [null, ['customer']]);
    }
  });

  law('sums and calls are exact over two processes', async ({ store }) => {
    const one = openTestTasks(store);
    const other = openTestTasks(store);
    const task = await one.create({ sums: { 'refund.amount': '0.5' }, calls_max: 40 });
    const refund = (at: number) =>
      (at % 2 === 0 ? one : other).call(task, 'refund', { customer: 7, amount: 0.1 });
    const rules = await Promise.all(Array.from({ length: 12 }, (_, at) => refund(at)));
    assert.equal(rules.filter((rule) => rule === null).length, 5);
    assert.ok(rules.every((rule) => rule === null || rule === 'task.sums'));
    const lists = await Promise.all(Array.from({ length: 40 }, () => other.call(task, 'tickets.list', {})));
    assert.equal(lists.filter((rule) => rule === null).length, 35);
    const found = await one.tasks.find(task.task_id);
    assert.deepEqual([found?.calls, found?.spent], [40, { 'refund.amount': '0.5' }]);
  });

  law('a task ends with its time and by revocation', async ({ store }) => {
    const { create, call, clock, tasks } = openTestTasks(store);
    const other = openTestTasks(store);
    const short = await create({ ttl_ms: 1_000 });
    const long = await create({ ttl_ms: 10 ** 12 });
    assert.equal(Date.parse(long.expires_at) - clock.now_ms, 86_400_000);
    clock.now_ms += 999;
    assert.equal(await call(short, 'tickets.list', {}), null);
    clock.now_ms += 1;
    assert.equal(await call(short, 'tickets.list', {}), 'task.expired');
    clock.now_ms -= 120_000;
    assert.equal(await call(short, 'tickets.list', {}), 'task.not_yet_valid');
    clock.now_ms += 120_000;
    await tasks.revoke(long.task_id, 'operator');
    assert.equal(await other.call(long, 'tickets.list', {}), 'task.revoked');
  });

  law('a call whose task ends before it counts is refused', async ({ store }) => {
    const { create, tasks } = openTestTasks(store);
    const { task_id } = await create();
    const use: TaskUse = {
      ...{ task_id, tenant_id: 'default', agent_id: 'support', user_id: null, tool: 'tickets.list' },
      content: { kind: 'json', value: {} },
    };
    const { shown, count } = await tasks.check(use);
    assert.equal(shown.refusal, null);
    await tasks.revoke(task_id, 'operator');
    assert.equal((await count())?.rule, 'task.revoked');
  });

  law('a delegated task is narrower, and counts for both', async ({ store }) => {
    const { create, call, delegate, tasks } = openTestTasks(store);
    const parent = await create({ calls_max: 3 });
    const child = await delegate(parent, {
      tools: ['refund'],
      sums: { 'refund.amount': '100' },
      calls_max: 2,
    });
    const as = { agent_id: 'refunder' };
    assert.equal(await call(child, 'refund', { ...REFUND, amount: 100 }, as), null);
    assert.equal(await call(child, 'refund', { ...REFUND, amount: 1 }, as), 'task.sums');
    assert.equal(await call(child, 'tickets.list', {}, as), 'task.tools');
    // The values of the parent hold, although the delegation names none.
    assert.equal(await call(child, 'refund', { customer: 'cus_1', amount: 0 }, as), 'task.values');
    assert.equal(await call(parent, 'refund', { ...REFUND, amount: 401 }), 'task.sums');
    assert.equal(await call(parent, 'refund', { ...REFUND, amount: 400 }), null);
    assert.deepEqual((await tasks.find(parent.task_id))?.spent, { 'refund.amount': '500' });
    await tasks.revoke(parent.task_id, 'operator');
    assert.equal(await call(child, 'refund', { ...REFUND, amount: 0 }, as), 'task.revoked');
  });

  law('a task that is wider than its parent is refused', async ({ store }) => {
    const { create, delegate, tasks } = openTestTasks(store);
    const sources = { 'read_file.path': ['todo.md', 'notes.md'] };
    const parent = await create({ calls_max: 5, cost_max: '2.5', sources });
    const wider: readonly (readonly [path: string, request: Partial<DelegationRequest>])[] = [
      ['tools', { tools: ['refund', 'payout'] }],
      ['tools', { tools: ['*'] }],
      ['tools', { tools: ['tickets*'] }],
      ['values', { values: { 'refund.customer': ['cus_1042', 'cus_1'] } }],
      ['sums', { sums: { 'refund.amount': '500.01' } }],
      ['calls_max', { calls_max: 6 }],
      ['cost_max', { cost_max: '2.51' }],
      ['sources', { sources: { 'read_file.path': ['todo.md', 'mail.txt'] } }],
      ['sources', { sources: { 'read_page.url': ['todo.md'] } }],
    ];
    for (const [path, request] of wider) {
      const made = await tasks.delegate(parent, { ...DELEGATION, ...request });
      assert.equal(made !== null && 'message' in made ? made.path : made, path, JSON.stringify(request));
    }
    const child = await delegate(parent, {
      tools: ['tickets.close', 'tickets.*'],
      values: { 'refund.customer': [7], 'tickets.close.id': ['t1'] },
      sums: { 'refund.amount': '500' },
      calls_max: 5,
      cost_max: '2.50',
      sources: { 'read_file.path': ['todo.md'] },
      ttl_ms: 10 ** 9,
    });
    const own = await create();
    const late = await tasks.delegate(own, { ...DELEGATION, sources });
    assert.ok(late !== null && 'message' in late && late.path === 'sources');
    assert.equal(child.expires_at, parent.expires_at);
    let last = child;
    for (let depth = 2; depth < 8; depth += 1) last = await delegate(last);
    const deeper = await tasks.delegate(last, DELEGATION);
    assert.ok(deeper !== null && 'message' in deeper && deeper.path === 'task_id');
  });

  law('a call is a source if the task lists all its arguments', async ({ store }) => {
    const { tasks, create, delegate } = openTestTasks(store);
    const tools = ['read_*'];
    const sources = { 'read_file.path': ['todo.md', 'notes.md'], 'read_file.lines': [20] };
    const parent = await create({ tools, sources });
    const child = await delegate(parent, { sources: { 'read_file.path': ['todo.md'] } });
    const heir = await delegate(parent);
    const plain = await create({ tools });
    const isSource = async ({ task_id, agent_id }: TaskRecord, tool: string, value: Json) => {
      const about = { tenant_id: 'default', user_id: null, tool, content: { kind: 'json', value } } as const;
      const { shown } = await tasks.check({ ...about, task_id, agent_id });
      assert.equal(shown.refusal, null);
      return shown.is_source;
    };
    const rows: readonly (readonly [boolean | undefined, TaskRecord, tool: string, args: Json])[] = [
      [true, parent, 'read_file', { path: 'todo.md' }],
      [true, parent, 'read_file', { path: ['todo.md', 'notes.md'], lines: 20 }],
      [false, parent, 'read_file', { path: 'Todo.md' }],
      [false, parent, 'read_file', { path: ['todo.md', 'mail.txt'] }],
      [false, parent, 'read_file', { path: 'todo.md', host: 'files.example' }],
      [false, parent, 'read_file', {}],
      [false, parent, 'read_file', ['todo.md']],
      [false, parent, 'read_page', { path: 'todo.md' }],
      [true, child, 'read_file', { path: 'todo.md' }],
      [false, child, 'read_file', { path: 'notes.md' }],
      [true, heir, 'read_file', { path: 'notes.md' }],
      [undefined, plain, 'read_file', { path: 'todo.md' }],
    ];
    for (const [expected, task, tool, args] of rows)
      assert.equal(await isSource(task, tool, args), expected, `${tool} ${JSON.stringify(args)}`);
  });

  law('the costs of a task are limited with those above it, while all are active', async ({ store }) => {
    const { tasks, create, delegate, clock } = openTestTasks(store);
    const parent = await create({ cost_max: '2.5' });
    const child = await delegate(parent, { cost_max: '0.000001' });
    const find = async ({ task_id, agent_id }: TaskRecord, about: object = {}) => {
      const found = await tasks.findCostLimits({
        ...{ task_id, tenant_id: 'default', agent_id, user_id: null },
        ...about,
      });
      return 'refusal' in found
        ? found.refusal.rule
        : found.limits.map((limit) => [limit.task_id, limit.cost_max_micro_usd]);
    };
    const own = [child.task_id, 1];
    assert.deepEqual(await find(child), [own, [parent.task_id, 2_500_000]]);
    assert.deepEqual(await find(await create()), []);
    assert.equal(await find(child, { agent_id: 'support' }), 'task.agent');
    assert.equal(await find(child, { tenant_id: 'acme' }), 'task.tenant');
    assert.equal(await find(await create({ user_id: 'ada' }), { user_id: 'bob' }), 'task.user');
    assert.equal(await find(child, { task_id: 'tsk_000000000000000000000000' }), 'task.unknown');
    await tasks.revoke(parent.task_id, 'operator');
    assert.equal(await find(child), 'task.revoked');
    const short = await create({ cost_max: '1', ttl_ms: 1_000 });
    clock.now_ms += 1_000;
    assert.equal(await find(short), 'task.expired');
  });

  law('values are in no row and no event', async ({ store }) => {
    const { create, events, tasks, journal } = openTestTasks(store);
    const listed = { 'refund.customer': ['Zaphod-4711'] };
    const task = await create({ values: listed, sources: listed });
    await tasks.revoke(task.task_id, 'operator');
    const rows = await store.db.selectFrom('tasks').selectAll().execute();
    const kept = JSON.stringify([rows, events, await tasks.list({ limit: 10 })]);
    assert.ok(kept.includes(task.task_id) && !kept.includes('Zaphod'));
    assert.deepEqual(
      events.map(({ metadata }) => metadata.phase),
      ['task_create', 'task_revoke'],
    );
    journal.refuses = true;
    await assert.rejects(create(), Unavailable);
    assert.equal((await tasks.list({ limit: 10 })).length, 1);
  });

  law('old expired tasks are deleted', async ({ store }) => {
    const { create, clock, tasks } = openTestTasks(store);
    await create();
    const young = await create({ ttl_ms: 86_400_000 });
    clock.now_ms += 3_600_001 + EXPIRED_TASK_KEPT_MS;
    assert.equal(await deleteExpiredTasks(store, clock.now_ms), 1);
    assert.deepEqual(
      (await tasks.list({ limit: 10 })).map(({ task_id }) => task_id),
      [young.task_id],
    );
  });
});
