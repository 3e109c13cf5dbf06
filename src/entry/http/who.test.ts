import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { AnyOperation } from '../../operations/operation.ts';
import { openExampleLlm, startExampleTarget } from '../../operations/testing/upstream.ts';
import { createApiKey, ensureToken } from '../../runtime/access/tokens.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { OPERATOR_PERMISSIONS, type Permission } from '../../runtime/config/permissions.ts';
import { operations } from '../../server/operations.ts';
import { serve, type TestRequest } from './testing/serve.ts';

const scratch = mkdtempSync(join(tmpdir(), 'who-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const operator = ensureToken(scratch, 'operator').token;
const checking = createApiKey('checking');
const scoped = createApiKey('scoped');
const pair = createApiKey('pair');
const auditor = createApiKey('auditor');
const idle = createApiKey('idle');

const apiKeys = [
  { ...checking.entry },
  { ...scoped.entry, tenants: ['acme'], agents: ['a'] },
  { ...pair.entry, tenants: ['acme', 'globex'], agents: ['a', 'b'] },
  { ...auditor.entry, permissions: ['audit:read' as const, 'audit:read_own' as const], tenants: ['acme'] },
  { ...idle.entry, permissions: [] },
];

/** The callers, each with the headers that identify it. */
const callers = {
  loopback: {},
  elsewhere: { 'x-forwarded-for': '203.0.113.9' },
  rebound: { host: 'evil.test' },
  page: { origin: 'https://evil.test' },
  wrong: { authorization: 'Bearer svc_key_wrong' },
  operator: { authorization: `Bearer ${operator}` },
  checking: { 'x-service-key': checking.key },
  idle: { 'x-service-key': idle.key },
} as const;
type Who = keyof typeof callers;

const OPEN: readonly Who[] = Object.keys(callers) as Who[];
const EVERYONE_KNOWN: readonly Who[] = ['loopback', 'operator', 'checking'];

/** Allowed callers per permission; all others are refused. Only an operator has the permissions that are not listed. */
const allowed: Partial<Record<Permission, readonly Who[]>> = {
  'account:own': [],
  'approvals:own': EVERYONE_KNOWN,
  'audit:import': EVERYONE_KNOWN,
  'audit:read_own': EVERYONE_KNOWN,
  check: EVERYONE_KNOWN,
  'costs:own': EVERYONE_KNOWN,
  'memory:use': EVERYONE_KNOWN,
  'metrics:read': ['loopback', 'operator'],
  'policy:read': EVERYONE_KNOWN,
};

/** Callers whose request may come from a page of this service: it is for this machine and from it. */
const HERE: readonly Who[] = ['loopback', 'wrong', 'operator', 'checking', 'idle'];

function listAllowed({ permission, for_users, browser }: AnyOperation): readonly Who[] {
  if (permission === null) return browser === true ? HERE : OPEN;
  // A name in `x-service-user` from this machine reads.
  if (for_users === true && !OPERATOR_PERMISSIONS.includes(permission)) return ['loopback', 'operator'];
  return allowed[permission] ?? ['operator'];
}

/** Operations that need the store, an audit log or a running service. */
const MANAGED =
  /^(?:tenant_policies_|policy_(?:document_|lint|test|replay)|dashboard_template_(?:install|remove)|skill_(?:install|remove)|keys_|allowlist_|approvals_proposal|alerts_test|audit_verify_start|evidence_pack_start)/;

/** Operations on a job of the audit log, or on the event of their example. This service has neither. */
const ABSENT = /^(?:audit_job_|evidence_pack_download|policy_case$)/;

/** The signature of its example is in the query, which these tests leave out. */
const LINK = 'approvals_open';

/** The memory contract that the examples use. */
const PREFERENCES = {
  memory: {
    name: 'preferences',
    scope: 'session',
    fields: [{ name: 'user_preference', type: 'string', tag: 'internal' }],
  },
};

/**
 * Returns a request for an operation's example. Each caller asks about an event of its own, because earlier requests in
 * the list have recorded some.
 */
function getExample(
  { http, example }: AnyOperation,
  events: readonly AuditEvent[],
  who: string,
): TestRequest {
  const own = events.find(({ caller_id }) => caller_id.endsWith(who));
  const values: Record<string, string> = { ...(example as object), event_id: own?.event_id ?? 'evt_none' };
  const path = http.path.replace(/\{(\w+)\}/g, (_whole, name: string) => values[name] ?? '');
  return http.method === 'GET' ? { path } : { path, method: http.method, body: example };
}

test('every operation runs its example only for callers with its permission', async (t) => {
  const proxy = await startExampleTarget(t);
  const llm = openExampleLlm(t);
  const service = await serve({
    state_dir: scratch,
    auth: { api_keys: apiKeys },
    documents: [PREFERENCES],
    proxy,
    llm,
  });
  const cells = new Set<string>();
  try {
    for (const operation of operations.filter((one) => one.unavailable === undefined)) {
      const may = listAllowed(operation);
      for (const [who, headers] of Object.entries(callers)) {
        const user = operation.for_users === true ? { 'x-service-user': 'admin' } : {};
        const request = getExample(operation, service.events, who);
        const answer = await service.ask({ ...request, headers: { ...headers, ...user } });
        const note = `${who} calls ${operation.name}: ${answer.status} ${answer.text.slice(0, 200)}`;
        // This runtime only has a store for blocked agents, so a caller that gets 503 passed the authorization.
        const needsStore = operation.needs === 'store' || MANAGED.test(operation.name);
        const passed = needsStore && !operation.name.startsWith('agents_') ? 503 : 200;
        const done = operation.name === LINK ? 400 : ABSENT.test(operation.name) ? 404 : passed;
        if (may.includes(who as Who)) assert.equal(answer.status, done, note);
        else if (operation.permission === null) assert.equal(answer.status, 403, note);
        else assertRefused(who as Who, operation.permission, answer, note);
        cells.add(`${operation.name} ${who}`);
      }
    }
  } finally {
    await service.close();
  }
  const offered = operations.filter((one) => one.unavailable === undefined);
  assert.equal(cells.size, offered.length * OPEN.length);
});

function assertRefused(
  who: Who,
  permission: Permission,
  answer: { status: number; headers: object; json: { code: string } },
  note: string,
) {
  // An operation for signed-in users asks a caller on this machine to sign in.
  const signsIn = permission === 'account:own' && who === 'loopback';
  const recognised = ['loopback', 'checking', 'idle', 'operator'].includes(who) && !signsIn;
  assert.equal(answer.status, recognised ? 403 : 401, note);
  assert.equal(answer.json.code, recognised ? 'forbidden' : 'unauthenticated', note);
  assert.equal('www-authenticate' in answer.headers, !recognised, note);
}

test('routes of the advisory layer say that it is not configured, before anything else', async () => {
  const service = await serve({ state_dir: scratch, auth: { required: true } });
  const advisory = operations.filter((one) => one.unavailable !== undefined);
  assert.deepEqual(
    advisory.map(({ http }) => `${http.method} ${http.path}`),
    [
      'POST /v1/dashboard/intelligence/explain',
      'POST /v1/intelligence/auto-config',
      'POST /v1/intelligence/compliance',
      'POST /v1/intelligence/explain',
      'POST /v1/intelligence/integrate',
      'POST /v1/intelligence/recommend',
      'GET /v1/intelligence/status',
    ],
  );
  try {
    for (const { http } of advisory) {
      const bodies = http.method === 'GET' ? [undefined] : [undefined, '{broken', '{}', Buffer.from([0xff])];
      for (const body of bodies) {
        for (const headers of [
          {},
          { 'content-type': 'application/json' },
          { authorization: 'Bearer wrong' },
        ]) {
          const answer = await service.ask({ path: http.path, method: http.method, body, headers });
          assert.equal(answer.status, 503, http.path);
          assert.equal(answer.json.code, 'not_configured');
          assert.match(answer.json.error, /not configured/);
        }
      }
    }
  } finally {
    await service.close();
  }
});

const scan = (named: object, key?: string): TestRequest => ({
  path: '/v1/scan/input',
  body: { text: 'hello', ...named },
  ...(key !== undefined && { headers: { 'x-service-key': key } }),
});
const tool = (named: object, key: string): TestRequest => ({
  path: '/v1/intercept/tool',
  body: { tool: 't', ...named },
  headers: { 'x-service-key': key },
});

test('a credential names what is in its scope, and what it leaves no choice about is filled in', async () => {
  const service = await serve({ state_dir: scratch, auth: { api_keys: apiKeys } });
  const cases: readonly { ask: TestRequest; status: number; recorded?: object }[] = [
    {
      ask: scan({}),
      status: 200,
      recorded: { caller_id: 'loopback', tenant_id: 'default', agent_id: 'unknown' },
    },
    {
      ask: scan({ agent_id: 'z', tenant_id: 'y' }),
      status: 200,
      recorded: { tenant_id: 'y', agent_id: 'z' },
    },
    {
      ask: scan({}, scoped.key),
      status: 200,
      recorded: { caller_id: 'key:scoped', tenant_id: 'acme', agent_id: 'a' },
    },
    { ask: scan({ agent_id: 'a', tenant_id: 'acme' }, scoped.key), status: 200, recorded: { agent_id: 'a' } },
    { ask: scan({ agent_id: 'b' }, scoped.key), status: 403 },
    { ask: scan({ agent_id: 'unknown' }, scoped.key), status: 403 },
    { ask: scan({ tenant_id: 'globex' }, scoped.key), status: 403 },
    { ask: scan({ tenant_id: 'default' }, scoped.key), status: 403 },
    { ask: scan({ context: { tenant_id: 'globex' } }, scoped.key), status: 403 },
    {
      ask: { ...scan({}), headers: { 'x-service-key': scoped.key, 'x-service-tenant': 'globex' } },
      status: 403,
    },
    { ask: tool({ source_agent_id: 'b' }, scoped.key), status: 403 },
    { ask: tool({ agent_id: 'a', source_agent_id: 'b' }, scoped.key), status: 403 },
    // The destination agent may be outside the credential's scope, which limits only the acting agent.
    {
      ask: tool({ destination_agent_id: 'b' }, scoped.key),
      status: 200,
      recorded: { agent_id: 'a', destination_agent_id: 'b' },
    },
    { ask: scan({}, pair.key), status: 403 },
    { ask: scan({ agent_id: 'a' }, pair.key), status: 403 },
    { ask: scan({ tenant_id: 'acme' }, pair.key), status: 403 },
    {
      ask: scan({ agent_id: 'b', tenant_id: 'globex' }, pair.key),
      status: 200,
      recorded: { agent_id: 'b', tenant_id: 'globex' },
    },
  ];
  let ran = 0;
  try {
    for (const { ask, status, recorded } of cases) {
      const answer = await service.ask(ask);
      const note = `${JSON.stringify(ask)}: ${answer.text}`;
      assert.equal(answer.status, status, note);
      if (recorded !== undefined) assert.partialDeepStrictEqual(service.events.at(-1), recorded, note);
      ran++;
    }
  } finally {
    await service.close();
  }
  assert.equal(ran, cases.length);
  assert.equal(service.events.length, cases.filter(({ status }) => status === 200).length);
});

test('the audit log shows a caller its own, and never more than its scope', async () => {
  const service = await serve({ state_dir: scratch, auth: { api_keys: apiKeys } });
  const query = (filter: object, headers: Record<string, string> = {}) =>
    service.ask({ path: '/v1/audit/query', body: filter, headers });
  try {
    await service.ask(scan({ agent_id: 'a', tenant_id: 'acme' }, pair.key));
    await service.ask(scan({ agent_id: 'b', tenant_id: 'globex' }, pair.key));
    await service.ask(scan({ agent_id: 'a', tenant_id: 'globex' }));
    const seen = async (filter: object, headers: Record<string, string>) => {
      const answer = await query(filter, headers);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.json.count, answer.json.events.length);
      return answer.json.events.map(
        (event: { caller_id: string; tenant_id: string }) => `${event.caller_id} ${event.tenant_id}`,
      );
    };
    const asPerson = { 'x-service-key': operator };
    assert.deepEqual(await seen({}, asPerson), ['loopback globex', 'key:pair globex', 'key:pair acme']);
    assert.deepEqual(await seen({ limit: 1 }, asPerson), ['loopback globex']);
    assert.deepEqual(await seen({ agent_id: 'b', unknown: 7 }, asPerson), ['key:pair globex']);
    assert.deepEqual(await seen({}, {}), ['loopback globex']);
    assert.deepEqual(await seen({ caller_id: 'loopback' }, {}), ['loopback globex']);
    assert.deepEqual(await seen({}, { 'x-service-key': checking.key }), []);
    assert.deepEqual(await seen({}, { 'x-service-key': auditor.key }), ['key:pair acme']);
    const asPair = { 'x-service-key': pair.key };
    assert.deepEqual(await seen({ tenant_id: 'globex', agent_id: 'b' }, asPair), ['key:pair globex']);
    for (const [filter, headers] of [
      [{ caller_id: 'key:pair' }, {}],
      [{ tenant_id: 'globex' }, { 'x-service-key': auditor.key }],
      [{ tenant_id: 'globex' }, asPair],
      [{ agent_id: 'a' }, asPair],
      [{ tenant_id: 'globex', agent_id: 'c' }, asPair],
    ] as const) {
      const answer = await query(filter, { ...headers });
      assert.equal(answer.status, 403, `${JSON.stringify(filter)} ${answer.text}`);
    }
  } finally {
    await service.close();
  }
});

test('where loopback needs a credential too, only health, readiness and sign-in are open', async () => {
  const service = await serve({ state_dir: scratch, auth: { required: true } });
  try {
    const statuses: Record<string, number> = {};
    for (const operation of operations.filter((one) => one.unavailable === undefined)) {
      statuses[operation.name] = (await service.ask(getExample(operation, [], ''))).status;
    }
    for (const [name, status] of Object.entries(statuses)) {
      const { permission, needs } = operations.find((one) => one.name === name)!;
      const open = name === LINK ? 400 : needs === 'store' ? 503 : 200;
      assert.equal(status, permission === null ? open : 401, name);
    }
  } finally {
    await service.close();
  }
});
