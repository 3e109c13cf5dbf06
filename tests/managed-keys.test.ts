/** API keys that are created over the API: shown once, scoped, rotated with overlap, revoked at once in all workers. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ApiClient, openApiClient } from './support/api-client.ts';
import { startTestService, type TestService } from './support/service.ts';

const KEYS = '/v1/dashboard/keys';
const AGENT = ['svc', 'key', 'g'.repeat(43)].join('_');

let service: TestService;
let call: ApiClient;
before(async () => {
  const sha256 = createHash('sha256').update(AGENT).digest('hex');
  const permissions = ['check', 'keys:manage'];
  service = await startTestService({
    workers: 2,
    config: { auth: { required: true, api_keys: [{ id: 'configured', sha256, permissions }] } },
  });
  call = openApiClient(service);
});
after(() => service.stop());

/** Returns the different statuses of both workers. */
async function statuses(token: string, input: object = { tenant_id: 'acme' }): Promise<readonly number[]> {
  const one = async () =>
    (await call('/v1/scan/input', { body: { text: 'hello', ...input }, as: { token } })).status;
  return [...new Set(await Promise.all(Array.from({ length: 8 }, one)))];
}

const made: string[] = [];
async function create(body: object) {
  const answer = await call(KEYS, { body });
  if (answer.status === 200) made.push(answer.body.key);
  return answer;
}

test('a key works on all workers in its scope, and is shown once', async () => {
  const created = await create({ name: 'support', tenants: ['acme'], expires_in: '90d' });
  assert.equal(created.status, 200, JSON.stringify(created.body));
  const { key } = created.body;
  assert.match(key, /^svc_key_/);
  assert.deepEqual(created.body.warnings, [
    'The tenant `acme` is not registered and has no rules. Check the name, or register it with `customshouse tenants create`.',
  ]);
  assert.deepEqual(await statuses(key), [200]);
  assert.deepEqual(await statuses(key, { tenant_id: 'beta' }), [403]);
  const listed = await call(KEYS);
  assert.deepEqual(
    listed.body.keys.map(({ name, source, status }: Record<string, string>) => [name, source, status]),
    [
      ['support', 'api', 'active'],
      ['configured', 'configuration', 'active'],
    ],
  );
  const hash = createHash('sha256').update(key).digest('hex');
  for (const secret of [key, hash]) assert.ok(!JSON.stringify(listed.body).includes(secret));
});

test('a key proves the people for whom it may act, and no others', async () => {
  const { body: some } = await create({ name: 'orchestrator', may_act_for: ['zoe@corp.example'] });
  const { body: plain } = await create({ name: 'plain' });
  assert.deepEqual([some.may_act_for, plain.may_act_for], [['zoe@corp.example'], null]);
  const { body: next } = await call(`${KEYS}/${some.key_id}/rotate`, { body: { overlap: '1h' } });
  made.push(next.key);
  const { body: listed } = await call(KEYS);
  const found = listed.keys.find(({ key_id }: { key_id: string }) => key_id === next.key_id);
  assert.deepEqual(found.may_act_for, ['zoe@corp.example']);
  const findPerson = async (token: string, userId: string) => {
    const text = `A call of ${userId}.`;
    const body = { text, agent_id: 'planner', context: { user_id: userId } };
    const { body: decided } = await call('/v1/scan/input', { body, as: { token } });
    const { body: events } = await call('/v1/audit/query', { body: { event_id: decided.event_id } });
    const { user_id = null, claimed_user = null } = events.events[0];
    return [user_id, claimed_user];
  };
  for (const key of [some.key, next.key]) {
    assert.deepEqual(await findPerson(key, 'zoe@corp.example'), ['zoe@corp.example', null]);
    assert.deepEqual(await findPerson(key, 'bob'), [null, 'bob']);
  }
  assert.deepEqual(await findPerson(plain.key, 'zoe@corp.example'), [null, 'zoe@corp.example']);
  const { body: events } = await call('/v1/audit/query', { body: { phase: 'api_key_create' } });
  const created = events.events.filter(({ metadata }: { metadata: { name: string } }) =>
    ['orchestrator', 'plain'].includes(metadata.name),
  );
  assert.ok(!JSON.stringify(created).includes('zoe@corp.example'));
});

test('a rotated key works until its overlap ends, and its successor at once', async () => {
  const { body: old } = await create({ name: 'rotating' });
  assert.deepEqual(old.warnings, []);
  const rotated = await call(`${KEYS}/${old.key_id}/rotate`, { body: { overlap: '1h' } });
  assert.equal(rotated.status, 200, JSON.stringify(rotated.body));
  made.push(rotated.body.key);
  assert.deepEqual([await statuses(old.key), await statuses(rotated.body.key)], [[200], [200]]);
  assert.equal((await call(`${KEYS}/${old.key_id}/rotate`, { body: {} })).status, 409, 'twice');
  const again = await call(`${KEYS}/${rotated.body.key_id}/rotate`, { body: { overlap: '0' } });
  made.push(again.body.key);
  assert.deepEqual(await statuses(rotated.body.key), [401], 'no overlap');
  assert.deepEqual(await statuses(again.body.key), [200]);
});

test('a revoked key is refused by all workers when the answer arrives', async () => {
  const { body } = await create({ name: 'leaked' });
  assert.deepEqual(await statuses(body.key), [200]);
  assert.equal((await call(`${KEYS}/${body.key_id}/revoke`, { body: {} })).body.status, 'revoked');
  assert.deepEqual(await statuses(body.key), [401]);
  assert.equal((await call(`${KEYS}/${body.key_id}/revoke`, { body: {} })).status, 409);
  const { body: first } = await create({ name: 'chain' });
  const { body: second } = await call(`${KEYS}/${first.key_id}/rotate`, { body: { overlap: '1h' } });
  const { body: third } = await call(`${KEYS}/${second.key_id}/rotate`, { body: { overlap: '1h' } });
  made.push(second.key, third.key);
  assert.deepEqual(await statuses(first.key), [200]);
  assert.equal((await call(`${KEYS}/${third.key_id}/revoke`, { body: {} })).status, 200);
  for (const key of [first.key, second.key, third.key])
    assert.deepEqual(await statuses(key), [401], 'those before it in the rotation too');
  const { body: events } = await call('/v1/audit/query', { body: { phase: 'api_key_revoke' } });
  assert.deepEqual([events.events[0].caller_id, events.events[0].metadata.name], ['operator', 'chain']);
});

test('no key makes keys, none gets a permission of people, and a name is used once', async () => {
  for (const as of [{ token: AGENT }, { token: made[0]! }])
    for (const [path, body] of [
      [KEYS, { name: 'evil' }],
      [`${KEYS}/key_${'0'.repeat(24)}/revoke`, {}],
      [`${KEYS}/key_${'0'.repeat(24)}/rotate`, {}],
    ] as const)
      assert.equal((await call(path, { body, as })).status, 403, path);
  assert.equal((await call(KEYS, { as: { token: AGENT } })).status, 403);
  assert.equal((await create({ name: 'strong', permissions: ['approvals:decide'] })).status, 400);
  assert.equal((await create({ name: 'support' })).status, 409);
  assert.equal((await create({ name: 'configured' })).status, 409);
  assert.equal((await create({ name: 'long', expires_in: 'soon' })).status, 400);
  assert.equal((await call(`${KEYS}/key_${'0'.repeat(24)}/revoke`, { body: {} })).status, 404);
});

test('keys survive a restart, and no file holds one', async () => {
  const again = await startTestService({ config: { auth: { required: true } }, keep: true });
  const { body } = await openApiClient(again)(KEYS, { body: { name: 'kept' } });
  await again.stop();
  const next = await startTestService({ dir: again.dir });
  try {
    const answer = await openApiClient(next)('/v1/scan/input', {
      body: { text: 'hello' },
      as: { token: body.key },
    });
    assert.equal(answer.status, 200);
  } finally {
    await next.stop();
  }
  for (const file of readdirSync(service.state_dir, { recursive: true, withFileTypes: true }))
    if (file.isFile() && !file.name.endsWith('-token')) {
      const bytes = readFileSync(join(file.parentPath, file.name));
      for (const key of made) assert.ok(!bytes.includes(key), file.name);
    }
  assert.equal(made.length, 11);
});
