/** Tenants and their policies over the API, on the real service: activation, history, scope and refusals. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runInProcess } from '../src/entry/cli/testing/run.ts';
import { startTestService, type TestService } from './support/service.ts';

const KEY = ['svc', 'key', 'g'.repeat(43)].join('_');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const CONFIG = {
  auth: {
    api_keys: [
      {
        id: 'grabbing',
        sha256: sha256(KEY),
        permissions: ['check', 'tenants:read', 'tenants:manage', 'policies:edit', 'keys:manage'],
      },
    ],
  },
  dashboard: {
    users: [
      { user_id: 'ann', role: 'viewer', tenants: ['acme'] },
      { user_id: 'root', role: 'admin', tenants: ['*'] },
    ],
  },
  tenants: {
    acme: {
      policies: [{ name: 'acme-ssn', boundary: 'output', data_tags: ['personal.pii.ssn'], action: 'block' }],
    },
  },
};

let service: TestService;
let operator: string;
before(async () => {
  service = await startTestService({ config: CONFIG, workers: 2 });
  operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
});
after(() => service.stop());

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  readonly body: any;
}

interface Call {
  readonly method?: string;
  readonly body?: object;
  /** A credential, or a user of this machine. */
  readonly as?: { readonly token: string } | { readonly user: string } | null;
}

async function call(path: string, { method, body, as = { token: operator } }: Call = {}): Promise<Reply> {
  const answer = await fetch(`${service.url}${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      connection: 'close',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(as !== null &&
        ('token' in as ? { authorization: `Bearer ${as.token}` } : { 'x-service-user': as.user })),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
}

const read = (path: string, user = 'root') => call(path, { as: { user } });
const SETS = '/v1/dashboard/tenants/acme/policies';
const put = (policies: readonly object[], more: object = {}, as?: Call['as']) =>
  call(SETS, { method: 'PUT', body: { policies, ...more }, ...(as !== undefined && { as }) });

const EMAIL = 'Write to jane.doe@corp-mail.io today.';
/** Sends a text on eight connections, so that both workers answer. */
async function decisions(tenantId: string): Promise<readonly string[]> {
  const one = () =>
    call('/v1/guard/output', { body: { text: EMAIL, tenant_id: tenantId }, as: null }).then(
      ({ body }) => body.decision,
    );
  return [...new Set(await Promise.all(Array.from({ length: 8 }, one)))];
}

const RULE = { name: 'acme-email', boundary: 'output', data_tags: ['personal.pii.email'], action: 'block' };

test('a saved set is active in all workers for its tenant alone, and a rollback takes it back', async () => {
  assert.deepEqual(await decisions('acme'), ['modify']);
  const saved = await put([RULE], { note: 'no mail', base_version: 0 });
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
  assert.deepEqual([saved.body.version, saved.body.created_by, saved.body.note], [1, 'operator', 'no mail']);
  assert.deepEqual(await decisions('acme'), ['block']);
  assert.deepEqual(await decisions('beta'), ['modify'], 'another tenant is not affected');

  const shown = await read(SETS);
  assert.deepEqual(shown.body.policies, [RULE]);
  assert.deepEqual(shown.body.configured, ['acme-ssn']);

  const flagged = { ...RULE, action: 'flag' };
  assert.equal((await put([flagged], { base_version: 1 })).body.code, 'weaker_policy');
  const weaker = { base_version: 1, confirm_weaker: true, note: 'a test' };
  assert.equal((await put([flagged], weaker)).body.version, 2);
  assert.deepEqual(await decisions('acme'), ['allow']);
  const diff = await read(`${SETS}/diff?from=1&to=2`);
  assert.deepEqual(diff.body.differences, [
    { name: 'acme-email', change: 'changed', before: RULE, after: flagged },
  ]);

  const line = ['tenants', 'rollback', 'acme', '1', '--note', 'too lax', '--json'];
  const back = await runInProcess(line, { cwd: service.dir });
  assert.equal(back.code, 0, back.stderr);
  assert.match(back.stdout, /"version":3,[^}]*"restored_from":1\b/);
  assert.deepEqual(await decisions('acme'), ['block']);

  const first = await read(`${SETS}/versions?limit=2`);
  assert.deepEqual(
    first.body.versions.map((each: { version: number }) => each.version),
    [3, 2],
  );
  const second = await read(`${SETS}/versions?limit=2&cursor=${first.body.next_cursor}`);
  assert.deepEqual(
    second.body.versions.map((each: { version: number }) => each.version),
    [1],
  );
  assert.equal(second.body.next_cursor, null);
});

test('each change is an audit event of its tenant with the actor and both hashes', async () => {
  const { body } = await call('/v1/audit/query', {
    body: { tenant_id: 'acme', phase: 'tenant_policies_save', newest_first: false },
  });
  assert.equal(body.count, 2);
  const [one, two] = body.events;
  assert.deepEqual([one.caller_id, one.metadata.version, one.metadata.before_sha256], ['operator', 1, null]);
  assert.equal(two.metadata.before_sha256, one.metadata.after_sha256);
  const back = await call('/v1/audit/query', { body: { phase: 'tenant_policies_rollback' } });
  assert.equal(back.body.events[0].metadata.after_sha256, one.metadata.after_sha256);
});

test('what does not compile, conflicts or was changed meanwhile is refused, and changes nothing', async () => {
  const before = await read(SETS);
  const rows: readonly (readonly [string, readonly object[], object, number, RegExp])[] = [
    ['an unknown action', [{ ...RULE, action: 'blok' }], {}, 409, /blok|action/],
    ['a rule of another tenant', [{ ...RULE, tenant_id: 'beta' }], {}, 409, /tenant/],
    ['a name that the configuration has', [{ ...RULE, name: 'acme-ssn' }], {}, 409, /second rule/],
    ['an old version', [RULE], { base_version: 1 }, 409, /changed meanwhile/],
  ];
  for (const [name, rules, more, status, message] of rows) {
    const answer = await put(rules, more);
    assert.equal(answer.status, status, `${name}: ${JSON.stringify(answer.body)}`);
    assert.match(JSON.stringify(answer.body), message, name);
  }
  assert.equal(rows.length, 4);
  assert.deepEqual((await read(SETS)).body, before.body);
  assert.deepEqual(await decisions('acme'), ['block']);
});

test('no agent, and no name without a credential, changes anything', async () => {
  const changes: readonly (readonly [string, string, object])[] = [
    ['POST', '/v1/dashboard/tenants', { tenant_id: 'evil' }],
    ['PUT', SETS, { policies: [] }],
    ['POST', `${SETS}/rollback`, { version: 1 }],
  ];
  for (const [method, path, body] of changes)
    for (const as of [{ token: KEY }, { user: 'root' }, null])
      assert.equal((await call(path, { method, body, as })).status, 403, `${method} ${path}`);
  assert.equal(
    (await call('/v1/dashboard/tenants', { body: { tenant_id: 'globex', name: 'Globex' } })).status,
    200,
  );
  assert.equal((await call('/v1/dashboard/tenants', { body: { tenant_id: 'globex' } })).status, 409);
});

test('a user of one tenant sees that tenant alone', async () => {
  const own = await read('/v1/dashboard/tenants', 'ann');
  assert.deepEqual(
    own.body.tenants.map((each: { tenant_id: string }) => each.tenant_id),
    ['acme'],
  );
  assert.deepEqual((await read('/v1/dashboard/tenants')).body.total, 2);
  const foreign = ['policies', 'policies/versions', 'policies/diff?from=0&to=0'];
  for (const path of foreign) {
    assert.equal((await read(`/v1/dashboard/tenants/globex/${path}`, 'ann')).status, 403, path);
    assert.equal((await read(`/v1/dashboard/tenants/globex/${path}`)).status, 200, path);
    assert.equal((await read(`/v1/dashboard/tenants/acme/${path}`, 'ann')).status, 200, path);
  }
  assert.equal(foreign.length, 3);
  assert.equal((await read('/v1/dashboard/tenants/nobody/policies')).status, 404);
});

test('a saved set survives a restart, also one that lost its copy', async () => {
  const again = await startTestService({ config: CONFIG, keep: true });
  const token = readFileSync(join(again.state_dir, 'operator-token'), 'utf8').trim();
  const first = service;
  service = again;
  try {
    assert.equal((await put([RULE], {}, { token })).status, 200);
    await again.stop();
    const { rmSync } = await import('node:fs');
    rmSync(join(again.state_dir, 'managed-policy.json'));
    service = await startTestService({ dir: again.dir });
    assert.deepEqual(await decisions('acme'), ['block']);
    await service.stop();
  } finally {
    service = first;
  }
});
