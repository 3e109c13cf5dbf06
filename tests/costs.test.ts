/** Costs of a running service, over HTTP for users and agents, and on the command line. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { MAIN_FILE } from '../src/entry/cli/testing/main-file.ts';
import { openTestCosts, reserveAndSettle } from '../src/features/costs/testing/test-costs.ts';
import type { Store } from '../src/platform/store/index.ts';
import { createApiKey } from '../src/runtime/access/tokens.ts';
import { openServiceStore } from '../src/server/store.ts';
import { startTestService, type TestService } from './support/service.ts';

const BUDGETS = [
  { name: 'all', limit_usd: 1, period: 'day' },
  { name: 'ann', limit_usd: 0.0005, period: 'total', scope: { user_id: 'each' }, warn_at: 0.5 },
];
const KEYS = {
  agent: createApiKey('agent'),
  exporter: createApiKey('exporter'),
  only_b: createApiKey('only-b'),
};
const DAY = new Date().toISOString().slice(0, 10);

let service: TestService;
let store: Store;
before(async () => {
  service = await startTestService({
    config: {
      cost: { budgets: BUDGETS },
      dashboard: {
        users: [
          { user_id: 'ada', role: 'admin', tenants: ['*'] },
          { user_id: 'bill', role: 'billing', tenants: ['acme'] },
          { user_id: 'vera', role: 'viewer', tenants: ['*'] },
        ],
      },
      auth: {
        api_keys: [
          KEYS.agent.entry,
          { ...KEYS.exporter.entry, permissions: ['costs:read'] },
          { ...KEYS.only_b.entry, agents: ['b'] },
        ],
      },
    },
  });
  // Another process that forwards calls, with the same budgets and the same store.
  store = await openServiceStore({ kind: 'sqlite', path: join(service.state_dir, 'store.db') });
  const { costs } = openTestCosts(
    async () => store,
    { budgets: BUDGETS },
    {
      ports: () => {
        throw new Error('nothing is told');
      },
    },
  );
  const nowMs = Date.now();
  await reserveAndSettle(costs, { tenant_id: 'acme', now_ms: nowMs });
  await reserveAndSettle(
    costs,
    { tenant_id: 'acme', agent_id: 'b', user_id: null, now_ms: nowMs },
    { output_tokens: 5, is_estimated: true },
  );
  await reserveAndSettle(
    costs,
    { user_id: 'bob', now_ms: nowMs },
    { model: 'mystery', input_tokens: 110, output_tokens: 0 },
  );
  await costs.close();
});
after(async () => {
  await store?.close();
  await service?.stop();
});

async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${service.url}${path}`, { headers });
  // biome-ignore lint/suspicious/noExplicitAny: answers of several shapes are looked into.
  return { status: answer.status, json: (await answer.json()) as any };
}

const SUMMARY = '/v1/dashboard/cost/summary';
const as = (user: string) => ({ 'x-service-user': user });

test('the summary adds up what every process spent', async () => {
  const { status, json } = await get(`${SUMMARY}?period=last_7d`, as('ada'));
  assert.equal(status, 200);
  const { since, ...rest } = json;
  assert.ok(since < DAY);
  assert.deepEqual(rest, {
    total_cost: 0.00028,
    // A model without a price is charged at the price of the requested model.
    by_model: { toy: 0.00017, mystery: 0.00011 },
    by_tenant: { acme: 0.00017, default: 0.00011 },
    period: 'last_7d',
    until: DAY,
    by_agent: { a: 0.00022, b: 0.00006 },
    by_user: { ann: 0.00011, bob: 0.00011, '(none)': 0.00006 },
    by_provider: { p: 0.00028 },
    by_day: { [DAY]: 0.00028 },
    calls: 3,
    tokens: { input: 130, output: 15, cache_read: 0, cache_write: 0 },
    estimated_calls: 1,
    assumed_calls: 0,
    assumed_models: [],
  });
});

test('who may see it, and how much of it', async () => {
  const operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const bearer = { authorization: `Bearer ${operator}` };
  const rows: readonly (readonly [string, Record<string, string>, number, (number | string)?])[] = [
    ['nobody', {}, 401, 'unauthenticated'],
    ['a blank', as(' '), 401, 'unauthenticated'],
    ['a viewer', as('vera'), 403, 'forbidden'],
    ['somebody unknown', as('eve'), 403, 'forbidden'],
    ['a name that is a role', as('admin'), 403, 'forbidden'],
    ['an administrator', as('ADA'), 200, 0.00028],
    ['billing, of one tenant', as('bill'), 200, 0.00017],
    ['billing, for its tenant', { ...as('bill'), 'x-service-tenant': 'acme' }, 200, 0.00017],
    ['billing, for another tenant', { ...as('bill'), 'x-service-tenant': 'default' }, 403, 'forbidden'],
    ['an administrator, for one tenant', { ...as('ada'), 'x-service-tenant': 'default' }, 200, 0.00011],
    [
      'an agent that names an administrator',
      { ...as('ada'), 'x-service-key': KEYS.agent.key },
      403,
      'forbidden',
    ],
    ['a key that may', { ...as('ada'), 'x-service-key': KEYS.exporter.key }, 200, 0.00028],
    ['a key that may, and names nobody', { 'x-service-key': KEYS.exporter.key }, 401, 'unauthenticated'],
    ['a person who names nobody', bearer, 401, 'unauthenticated'],
    ['a person who names an administrator', { ...as('ada'), ...bearer }, 200, 0.00028],
    ['from elsewhere', { ...as('ada'), 'x-forwarded-for': '203.0.113.9' }, 401, 'unauthenticated'],
    ['a name that is none', { 'x-service-user': 'a'.repeat(300) }, 400, 'invalid_request'],
  ];
  for (const [name, headers, status, told] of rows) {
    for (const path of [SUMMARY, '/v1/dashboard/cost/report', '/v1/dashboard/cost/budgets']) {
      const answer = await get(path, headers);
      assert.equal(answer.status, status, `${name} ${path}`);
      if (status !== 200) assert.equal(answer.json.code, told, name);
      else if (path === SUMMARY) assert.equal(answer.json.total_cost, told, name);
    }
  }
  assert.equal(rows.length, 17);
});

test('a period that is none is refused', async () => {
  for (const period of ['24h', '2026-02-31', 'x'.repeat(40)])
    assert.equal((await get(`${SUMMARY}?period=${period}`, as('ada'))).status, 400, period);
  const none = await get(`${SUMMARY}?since=2020-01-01/2020-02-01`, as('ada'));
  assert.deepEqual([none.json.period, none.json.calls, none.json.by_model], ['2020-01-01/2020-02-01', 0, {}]);
});

test('the report has a line for each requested group', async () => {
  const { json } = await get('/v1/dashboard/cost/report?group_by=tenant,user&limit=2', as('ada'));
  assert.deepEqual(
    json.lines.map(({ tenant, user, cost }: Record<string, unknown>) => [tenant, user, cost]),
    [
      ['acme', 'ann', 0.00011],
      ['default', 'bob', 0.00011],
    ],
  );
  assert.equal(json.truncated, true);
  assert.equal((await get('/v1/dashboard/cost/report?group_by=session', as('ada'))).status, 400);
});

test('agents see what is left for them', async () => {
  const path = '/v1/costs/budget?agent_id=a&user_id=ann';
  const own = await get(path);
  assert.equal(own.status, 200);
  assert.equal(own.json.remaining_usd, 0.00039);
  assert.deepEqual(
    own.json.budgets.map(({ budget, spent_usd, state }: Record<string, unknown>) => [
      budget,
      spent_usd,
      state,
    ]),
    [
      ['all', 0.00028, 'ok'],
      ['ann', 0.00011, 'ok'],
    ],
  );
  assert.equal((await get(path, { 'x-service-key': KEYS.agent.key })).status, 200);
  assert.equal((await get(path, { 'x-service-key': KEYS.only_b.key })).status, 403);
  assert.equal((await get('/v1/costs/budget?agent_id=b', { 'x-service-key': KEYS.only_b.key })).status, 200);
});

async function cli(...args: string[]): Promise<{ code: number; stdout: string }> {
  const run = promisify(execFile)(process.execPath, [MAIN_FILE, 'cost', ...args], { cwd: service.dir });
  return run.then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }) => ({ code, stdout }),
  );
}

test('the command line shows the same', async () => {
  const rows: readonly (readonly [string[], number, RegExp])[] = [
    [['summary'], 0, /^\$0\.000280 from .*\n3 calls, 130 tokens in, 15 out\nestimated, .*: 1 call\n/],
    [['summary', '--json'], 0, /^\{"total_cost":0\.00028,/],
    [['budget'], 0, /^BUDGET +FOR +STATE +SPENT +LIMIT +LEFT[\s\S]*^ann +user bob +ok/m],
    [
      ['budget', '--agent', 'a', '--user', 'ann'],
      0,
      /^ann +user ann +ok +\$0\.000110 +\$0\.000500 +\$0\.000390/m,
    ],
    [
      ['report', '--group-by', 'tenant', '--format', 'csv'],
      0,
      /^tenant,calls,.*\nacme,2,20,15,0,0,1,0,0\.000170\ndefault,/,
    ],
    [
      ['report', '--group-by', 'model', '--format', 'markdown'],
      0,
      /^\| model \| calls .*\n\| --- \| ---: .*\n\| toy \| 2 /,
    ],
    [['report', '--group-by', 'model', '--limit', '1'], 1, /^MODEL +CALLS/],
    [['report', '--group-by', 'colour'], 2, /^$/],
  ];
  for (const [args, code, stdout] of rows) {
    const ran = await cli(...args);
    assert.match(ran.stdout, stdout, args.join(' '));
    assert.equal(ran.code, code, args.join(' '));
  }
  assert.equal(rows.length, 8);
});

test('the exit code reports a used-up budget', async () => {
  const { costs } = openTestCosts(async () => store, { budgets: BUDGETS });
  const carl = { user_id: 'carl', now_ms: Date.now() };
  for (let call = 0; call < 4; call++) await reserveAndSettle(costs, carl);
  assert.equal((await cli('budget', '--user', 'carl')).code, 0);
  await reserveAndSettle(costs, { ...carl, max_output_tokens: 5 }, { output_tokens: 5 });
  await costs.close();
  const { code, stdout } = await cli('budget', '--user', 'carl');
  assert.match(stdout, /^ann +user carl +exhausted/m);
  assert.equal(code, 1);
});
