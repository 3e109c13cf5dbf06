import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listHostileNames } from '../../core/testing/hostile-characters.ts';
import { callOperation } from '../../operations/call.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { observeAgent, observeAgents } from './agent-operations.ts';
import { dashboardBreakdown } from './breakdown-operations.ts';
import { dashboardEventsQuery, dashboardIncidents } from './event-operations.ts';
import { observeHooks } from './hook-operations.ts';
import { dashboardIncident } from './incident-operation.ts';
import { dashboardOverview } from './overview-operation.ts';
import { observeSession, observeSessions } from './session-operations.ts';
import { openIndexedRuntime } from './testing/indexed-runtime.ts';
import { observeMetrics, observeToolContract, observeTools } from './tool-operations.ts';

const block = { decision: 'block', action: 'block', policy_name: 'no-secrets' } as const;
const event = (tenantId: string, fields: Partial<AuditEvent> = {}): Partial<AuditEvent> => ({
  tenant_id: tenantId,
  agent_id: `${tenantId}-bot`,
  session_id: `${tenantId}-session`,
  tool_name: `${tenantId}_tool`,
  data_tags: [`${tenantId}.tag`],
  ...fields,
});
/** Three tenants; the newest events belong to the one that most users do not see. */
const EVENTS = [
  ...Array.from({ length: 30 }, (_, at) => event('acme', at % 3 === 0 ? block : {})),
  ...Array.from({ length: 20 }, (_, at) => event('globex', at % 2 === 0 ? block : {})),
  ...Array.from({ length: 40 }, () => event('initech', block)),
];
const INITECH_EVENT = `evt_${(60).toString(16).padStart(24, '0')}`;
const ACME_EVENT = `evt_${(0).toString(16).padStart(24, '0')}`;

/** Each list, with the input that it needs. */
const LISTS: readonly (readonly [AnyOperation, object])[] = [
  [dashboardOverview, {}],
  [dashboardEventsQuery, {}],
  [dashboardIncidents, {}],
  [observeAgents, {}],
  [observeAgent, { agent_id: 'acme-bot' }],
  [observeSessions, {}],
  [observeSession, { session_id: 'acme-session' }],
  [observeTools, {}],
  [observeMetrics, {}],
  [observeToolContract, { tool_name: 'acme_tool' }],
  [dashboardBreakdown, { by: 'tool' }],
];

test('a user sees the tenants of the user and nothing of others, before any limit', async (t) => {
  const { as } = await openIndexedRuntime(t, EVENTS);
  let ran = 0;
  for (const [operation, input] of LISTS) {
    const seen = JSON.stringify(await callOperation(operation, input, as('ann')));
    assert.ok(!seen.includes('initech'), operation.name);
    assert.ok(seen.includes('acme'), operation.name);
    const all = JSON.stringify(await callOperation(operation, input, as('eve')));
    const isOfAcme = Object.keys(input).some((field) => field.endsWith('_id') || field === 'tool_name');
    assert.ok(isOfAcme || all.includes('initech'), `${operation.name} finds them for who may see them`);
    const abroad = callOperation(operation, { ...input, tenant_id: 'initech' }, as('ann'));
    await assert.rejects(abroad, { code: 'forbidden' }, operation.name);
    const one = JSON.stringify(await callOperation(operation, { ...input, tenant_id: 'globex' }, as('ann')));
    assert.ok(isOfAcme || !one.includes('acme-bot'), operation.name);
    await assert.rejects(callOperation(operation, input, as('bill')), { code: 'forbidden' });
    await assert.rejects(callOperation(operation, input, as('')), { code: 'unauthenticated' });
    ran++;
  }
  assert.equal(ran, 11);
  const few = await callOperation(dashboardIncidents, { limit: 5 }, as('bob'));
  assert.equal((few as { count: number }).count, 5, 'newer events of other tenants do not use up the limit');
});

test('no name that was seen is a pattern in a drafted contract', async (t) => {
  const agents = ['*', 'a*', 'bot', ...listHostileNames().slice(0, 200)];
  const pay = { tool_name: 'pay' };
  const { as } = await openIndexedRuntime(t, [
    ...agents.map((agentId) => event('acme', { ...pay, agent_id: agentId })),
    event('acme', { tool_name: 'wild', agent_id: '*' }),
  ]);
  const draft = async (toolName: string) => {
    const answer = await callOperation(observeToolContract, { tool_name: toolName }, as('ann'));
    return (answer as { contract: { allowed_agents: string[] } }).contract.allowed_agents;
  };
  const allowed = await draft('pay');
  assert.ok(allowed.includes('bot') && allowed.length > 100);
  assert.ok(!allowed.some((name) => name.includes('*')));
  assert.deepEqual(await draft('wild'), ['name-the-agents-here'], 'an empty list would allow every agent');
});

test('a drafted contract has the arguments of all recorded calls', async (t) => {
  const call = (...argumentShape: string[]) =>
    event('acme', { tool_name: 'pay', metadata: { phase: 'request', argument_shape: argumentShape } });
  const { as } = await openIndexedRuntime(t, [
    call('amount integer 0 100', 'to string 0 16'),
    call('amount number 0 10', 'to string 0 64', 'note null'),
    event('acme', { tool_name: 'pay', metadata: { phase: 'request' } }),
  ]);
  const drafted = await callOperation(observeToolContract, { tool_name: 'pay' }, as('ann'));
  const { arguments_from, contract } = drafted as { arguments_from: string; contract: { arguments: object } };
  assert.equal(arguments_from, 'recorded_calls');
  assert.deepEqual(contract.arguments, {
    type: 'object',
    required: ['amount', 'to'],
    properties: {
      amount: { type: 'number', minimum: 0, maximum: 100 },
      note: { type: 'null' },
      to: { type: 'string', maxLength: 64 },
    },
    additionalProperties: false,
  });
});

test('hooks are listed with the version of the newest event, of the tenants of the user only', async (t) => {
  const hook = (tenantId: string, hookEvent: string, hookVersion?: string) =>
    event(tenantId, {
      metadata: {
        hook: 'claude-code',
        hook_event: hookEvent,
        ...(hookVersion !== undefined && { hook_version: hookVersion }),
      },
    });
  const { as } = await openIndexedRuntime(t, [
    hook('acme', 'PreToolUse', '0.1.0'),
    hook('acme', 'PreToolUse', '0.2.0'),
    hook('globex', 'UserPromptSubmit'),
    hook('initech', 'PostToolUse', '0.3.0'),
    event('acme'),
  ]);
  const list = async (user: string) => {
    const { hooks } = await callOperation(observeHooks, {}, as(user));
    return hooks.map((each) => [each.hook_event, each.hook_version, each.event_count]);
  };
  const own = [
    ['UserPromptSubmit', null, 1],
    ['PreToolUse', '0.2.0', 2],
  ];
  assert.deepEqual(await list('ann'), own);
  assert.deepEqual(await list('eve'), [['PostToolUse', '0.3.0', 1], ...own]);
  await assert.rejects(callOperation(observeHooks, {}, as('bill')), { code: 'forbidden' });
});

test('bad durations, filters and limits are refused', async (t) => {
  const { as } = await openIndexedRuntime(t, EVENTS.slice(0, 3));
  const bad: readonly (readonly [AnyOperation, object])[] = [
    ...LISTS.flatMap(([operation, input]) =>
      operation !== dashboardEventsQuery && 'last' in operation.input.properties
        ? ['yesterday', '0h', '9999d', '1e3s'].map((last) => [operation, { ...input, last }] as const)
        : [],
    ),
    [dashboardEventsQuery, { last: 'yesterday' }],
    [dashboardEventsQuery, { last: '1e3s' }],
    [dashboardEventsQuery, { agent_id: 'x'.repeat(257) }],
    [dashboardEventsQuery, { action: 'explode' }],
    [dashboardEventsQuery, { since: 'soon' }],
    [dashboardEventsQuery, { limit: 0 }],
    [dashboardEventsQuery, { limit: 1_001 }],
    [dashboardEventsQuery, { cursor: 'x'.repeat(1_025) }],
    [dashboardEventsQuery, { metadata_value: 'x' }],
    [observeSessions, { cursor: 'e30' }],
  ];
  for (const [operation, input] of bad)
    await assert.rejects(
      callOperation(operation, input, as('ann')),
      { code: 'invalid_request' },
      `${operation.name} ${JSON.stringify(input).slice(0, 80)}`,
    );
  assert.equal(bad.length, 46);
});

interface Page {
  readonly next_cursor: string | null;
  readonly count: number;
  readonly [list: string]: unknown;
}

test('pages follow one another without a gap, and a cursor of another query is refused', async (t) => {
  const { as } = await openIndexedRuntime(t, EVENTS);
  const paged: readonly (readonly [
    operation: AnyOperation,
    input: object,
    list: string,
    id: string,
    expected: number,
  ])[] = [
    [dashboardEventsQuery, {}, 'events', 'event_id', 50],
    [dashboardIncidents, {}, 'events', 'event_id', 20],
    [observeAgents, {}, 'agents', 'agent_id', 2],
    [observeSessions, {}, 'sessions', 'session_id', 2],
    [observeTools, {}, 'tools', 'tool_name', 2],
    [observeSession, { session_id: 'acme-session' }, 'events', 'event_id', 30],
  ];
  for (const [operation, input, list, id, expected] of paged) {
    const limit = expected === 2 ? 1 : 7;
    const ids: string[] = [];
    let cursor: string | null = null;
    let first: string | null = null;
    do {
      const page = (await callOperation(operation, { ...input, limit, cursor }, as('ann'))) as Page;
      ids.push(...(page[list] as readonly Readonly<Record<string, string>>[]).map((row) => row[id]!));
      cursor = page.next_cursor;
      first ??= cursor;
    } while (cursor !== null);
    assert.equal(ids.length, expected, operation.name);
    assert.equal(new Set(ids).size, expected, operation.name);
    const elsewhere = [
      ['another tenant', { tenant_id: 'globex' }, 'ann'],
      ['another user with other tenants', {}, 'bob'],
    ] as const;
    for (const [name, more, user] of elsewhere)
      await assert.rejects(
        callOperation(operation, { ...input, ...more, cursor: first }, as(user)),
        { code: 'invalid_request' },
        `${operation.name}: ${name}`,
      );
  }
  assert.equal(paged.length, 6);
});

test('an incident of another tenant is not found', async (t) => {
  const { as } = await openIndexedRuntime(t, EVENTS);
  const foreign = callOperation(dashboardIncident, { event_id: INITECH_EVENT }, as('ann'));
  await assert.rejects(foreign, { code: 'not_found' });
  const own = await callOperation(dashboardIncident, { event_id: ACME_EVENT }, as('ann'));
  assert.equal(own.event.event_id, ACME_EVENT);
  assert.equal(own.timeline[0]?.event_id, ACME_EVENT);
  assert.ok(own.timeline.every(({ tenant_id }) => tenant_id === 'acme'));
  assert.equal(own.timeline.length, 21);
  assert.equal(own.explanation_status, 'policy_unavailable');
});

test('the overview runs each count once', async (t) => {
  const { as, runtime } = await openIndexedRuntime(t, EVENTS);
  const counts: string[] = [];
  const countEvents: typeof runtime.countEvents = (request) => {
    counts.push(JSON.stringify(request));
    return runtime.countEvents(request);
  };
  const context = { ...as('ann'), runtime: { ...runtime, countEvents } };
  await callOperation(dashboardOverview, { last: '24h' }, context);
  assert.ok(counts.length >= 12, `${counts.length}`);
  assert.deepEqual(
    counts.filter((each, at) => counts.indexOf(each) !== at),
    [],
  );
});

test('the overview counts what the events say', async (t) => {
  const { as } = await openIndexedRuntime(t, EVENTS);
  const overview = await callOperation(dashboardOverview, { last: '24h' }, as('ann'));
  assert.equal(overview.events_total, 50);
  assert.equal(overview.action_counts.block, 20);
  assert.equal(
    overview.buckets.reduce((sum, { block: blocked }) => sum + blocked, 0),
    20,
  );
  assert.deepEqual(
    overview.top.rules.map(({ name, events }) => [name, events]),
    [
      ['default.allow', 30],
      ['no-secrets', 20],
    ],
  );
  assert.equal(overview.previous.events_total, 0);
  assert.equal(overview.recent_incidents.length, 8);
  assert.deepEqual(overview.tenants, ['acme', 'globex']);
});

test('events of an approval request are no decisions of their own', async (t) => {
  const held = { decision: 'block', action: 'require_approval', policy_name: 'refunds' } as const;
  const { as } = await openIndexedRuntime(t, [
    event('acme', held),
    event('acme', { ...held, metadata: { phase: 'approval_pending' } }),
    event('acme', { policy_name: 'refunds', metadata: { phase: 'approval_approved' } }),
  ]);
  const incidents = (await callOperation(dashboardIncidents, {}, as('ann'))) as Page & { total: number };
  assert.deepEqual([incidents.count, incidents.total], [1, 1]);
  const { entries } = await callOperation(dashboardBreakdown, { by: 'rule' }, as('ann'));
  assert.deepEqual(
    entries.map(({ name, event_count }) => [name, event_count]),
    [['refunds', 1]],
  );
  const requested = { policy_name: 'refunds', last: '24h' };
  const all = (await callOperation(dashboardEventsQuery, requested, as('ann'))) as Page & { total: number };
  assert.deepEqual([all.count, all.total], [3, 3], 'the activity shows them');
});
