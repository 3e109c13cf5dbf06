/** Legal holds over the API and the command line, on the real service: scope, refusals, events and the copy. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestService, type TestService } from './support/service.ts';

const KEY = ['svc', 'key', 'h'.repeat(43)].join('_');
const GRABBING = ['check', 'audit:read', 'audit:export', 'audit:manage'];
const CONFIG = {
  auth: {
    api_keys: [
      { id: 'grabbing', sha256: createHash('sha256').update(KEY).digest('hex'), permissions: GRABBING },
    ],
  },
  dashboard: { users: [{ user_id: 'root', role: 'admin', tenants: ['*'] }] },
};
const PATH = '/v1/dashboard/audit/holds';

let service: TestService;
let operator: string;
before(async () => {
  service = await startTestService({ config: CONFIG });
  operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
});
after(() => service.stop());

type Headers = Readonly<Record<string, string>>;

async function call(path: string, body?: object, headers: Headers = { authorization: `Bearer ${operator}` }) {
  const answer = await fetch(`${service.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { connection: 'close', ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  return { status: answer.status, body: (await answer.json()) as any };
}

function readCopy(): readonly { readonly hold_id: string }[] {
  return JSON.parse(readFileSync(join(service.state_dir, 'legal-holds.json'), 'utf8')).holds;
}

test('a hold is added, listed and removed, in effect at once, and each change is an event', async () => {
  const added = await call(PATH, { tenant_id: 'acme', since: '2026-01-01', reason: 'Case 7' });
  assert.equal(added.status, 200, JSON.stringify(added.body));
  const { hold_id } = added.body;
  assert.match(hold_id, /^hold_[0-9a-f]{24}$/);
  assert.deepEqual(
    readCopy().map((each) => each.hold_id),
    [hold_id],
  );
  const listed = await call(PATH);
  assert.deepEqual(listed.body, { holds: [added.body], next_cursor: null });
  const removed = await call(`${PATH}/remove`, { hold_id });
  assert.deepEqual([removed.status, removed.body.hold_id, readCopy().length], [200, hold_id, 0]);
  assert.equal((await call(`${PATH}/remove`, { hold_id })).status, 404);
  const events = await call('/v1/audit/query', { metadata_key: 'hold_id', metadata_value: hold_id });
  assert.deepEqual(
    events.body.events.map((event: { policy_name: string; tenant_id: string; caller_id: string }) => [
      event.policy_name,
      event.tenant_id,
      event.caller_id,
    ]),
    [
      ['service.audit_hold_remove', 'acme', 'operator'],
      ['service.audit_hold_add', 'acme', 'operator'],
    ],
  );
});

test('an agent and a name of this machine change nothing, whatever they are granted', async () => {
  const hold = { agent_id: 'a', reason: 'x' };
  const callers: readonly Headers[] = [{ 'x-service-key': KEY }, { 'x-service-user': 'root' }, {}];
  for (const headers of callers) {
    assert.equal((await call(PATH, hold, headers)).status, 403, JSON.stringify(headers));
    assert.equal((await call(`${PATH}/remove`, { hold_id: `hold_${'0'.repeat(24)}` }, headers)).status, 403);
    assert.equal((await call(PATH, undefined, headers)).status, 403);
  }
  assert.equal((await call(PATH)).body.holds.length, 0);
});

const ERASE = '/v1/dashboard/audit/erase-actions';

/** Has a call blocked, and returns its event. */
async function blockCall(marker: string): Promise<string> {
  const input = { command: `rm -rf / # ${marker}` };
  return (await call('/v1/intercept/tool', { tool: 'Bash', input, agent_id: 'eraser' }, {})).body.event_id;
}

async function readShown(eventId: string): Promise<string | undefined> {
  return (await call('/v1/audit/query', { event_id: eventId })).body.events[0].action_shown;
}

/** Lists the files that contain a text. A file that is renamed meanwhile has another name, so the list is read again. */
function findMarker(marker: string): readonly string[] {
  const files = readdirSync(service.state_dir, { recursive: true, withFileTypes: true });
  try {
    return files
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => readFileSync(path).includes(marker));
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'ENOENT') throw fault;
    return findMarker(marker);
  }
}

test('erases shown actions from every file, unless a hold covers them', async () => {
  const [first, second] = [await blockCall('zebra-1'), await blockCall('zebra-2')];
  assert.match((await readShown(first)) ?? '', /zebra-1/);
  const { hold_id } = (await call(PATH, { agent_id: 'eraser', reason: 'Case 8' })).body;
  const held = await call(ERASE, { event_id: first });
  assert.deepEqual([held.status, held.body.code, held.body.error.includes(hold_id)], [409, 'conflict', true]);
  assert.notDeepEqual(findMarker('zebra-1'), []);
  await call(`${PATH}/remove`, { hold_id });
  assert.deepEqual((await call(ERASE, { event_id: first })).body, { erased: 1, requests_erased: 0 });
  assert.deepEqual([findMarker('zebra-1'), await readShown(first)], [[], undefined]);
  assert.match((await readShown(second)) ?? '', /zebra-2/, 'other events keep theirs');
  const before = new Date(Date.now() + 60_000).toISOString();
  assert.equal((await call(ERASE, { before })).body.erased, 1);
  assert.deepEqual(findMarker('zebra-2'), []);
  const events = await call('/v1/audit/query', { metadata_key: 'erased_event_id', metadata_value: first });
  assert.equal(events.body.events[0].caller_id, 'operator');
});

test('refuses to erase for agents, and without one event or time', async () => {
  const eventId = `evt_${'0'.repeat(24)}`;
  for (const headers of [{ 'x-service-key': KEY }, { 'x-service-user': 'root' }, {}])
    assert.equal((await call(ERASE, { event_id: eventId }, headers)).status, 403);
  for (const [body, status] of [
    [{}, 400],
    [{ event_id: eventId, before: '1d' }, 400],
    [{ before: 'yesterday' }, 400],
    [{ event_id: eventId }, 404],
  ] as const)
    assert.equal((await call(ERASE, body)).status, status, JSON.stringify(body));
});

const REFUSED: readonly [object, RegExp][] = [
  [{ reason: 'x' }, /Name a tenant, an agent, a session or a time/],
  [{ agent_id: 'a' }, /`reason` is required/],
  [{ agent_id: 'a', reason: '' }, /`reason`/],
  [{ agent_id: 'a\u0000', reason: 'x' }, /`agent_id`/],
  [{ since: 'yesterday', reason: 'x' }, /`since` is a time/],
  [{ since: '2026-02-01', until: '2026-01-01', reason: 'x' }, /before `until`/],
];

test('what is not a hold is refused', async () => {
  for (const [hold, message] of REFUSED) {
    const { status, body } = await call(PATH, hold);
    assert.deepEqual([status, message.test(body.error)], [400, true], JSON.stringify(body));
  }
  assert.equal(REFUSED.length, 6);
  assert.equal((await call(PATH)).body.holds.length, 0);
});
