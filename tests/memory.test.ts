/** Memory of agents, over HTTP and with real processes: permissions, persistence, and refused starts. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  explainMissingPostgres,
  type PostgresServer,
  startPostgres,
} from '../src/platform/store/testing/postgres-server.ts';
import { createApiKey } from '../src/runtime/access/tokens.ts';
import { killAll } from './support/crash.ts';
import { isNightly } from './support/nightly.ts';
import { startTestService, type TestService, type TestServiceOptions } from './support/service.ts';
import { until } from './support/until.ts';

const DOCUMENT = `
version: v1alpha1
memories:
  - name: notes
    scope: session
    fields:
      - { name: note, type: string, tag: internal, encrypted: true }
      - { name: open, type: string, tag: internal }
      - { name: brief, type: string, tag: internal, retention: 1s }
  - name: facts
    scope: global
    max_entries: 1000
    fields:
${Array.from({ length: 400 }, (_, at) => `      - { name: fact-${at}, type: object, tag: internal }`).join('\n')}
`;
const PLAIN = 'the-walrus-and-the-carpenter';

const anna = createApiKey('anna');
const bert = createApiKey('bert');
const checker = createApiKey('checker');
const AUTH = {
  required: true,
  api_keys: [
    { ...anna.entry, agents: ['anna'] },
    { ...bert.entry, agents: ['bert', 'bert-2'] },
    { ...checker.entry, permissions: ['check', 'policy:read'] },
  ],
};

type Body = Record<string, unknown>;
interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  readonly json: any;
}

async function post(service: TestService, path: string, body: Body, key: string | null): Promise<Answer> {
  const headers = {
    'content-type': 'application/json',
    ...(key !== null && { authorization: `Bearer ${key}` }),
  };
  const answer = await fetch(`${service.url}/v1/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: await answer.json() };
}

function getOperator(service: TestService): string {
  return readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
}

function started(options: TestServiceOptions = {}, config: object = {}): Promise<TestService> {
  return startTestService({
    workers: 2,
    files: { 'schemas/memory.yaml': DOCUMENT },
    config: { auth: AUTH, ...config },
    ...options,
  });
}

let service: TestService;
before(async () => {
  service = await started();
});
after(() => service.stop());

test('who may and who may not, for each operation', async () => {
  const own = { agent_id: 'anna', session_id: 's-1' };
  const operator = getOperator(service);
  const kept = await post(service, 'memory/write', { ...own, key: 'note', value: PLAIN }, anna.key);
  assert.equal(kept.json.allowed, true, JSON.stringify(kept.json));
  const { handle_id } = kept.json;
  const theirs = await post(
    service,
    'memory/write',
    { agent_id: 'bert', session_id: 's-1', key: 'note', value: 'x' },
    bert.key,
  );
  const callers: readonly (readonly [string, string | null])[] = [
    ['the owner', anna.key],
    ['another agent', bert.key],
    ['a person', operator],
    ['a key without the permission', checker.key],
    ['nobody', null],
    ['a wrong key', 'svc_key_wrong'],
  ];
  /** Each row: the request, and the status and value that each of the callers above gets. */
  const table: readonly (readonly [string, Body, readonly (readonly [number, unknown])[]])[] = [
    [
      'memory/write',
      { ...own, key: 'open', value: 'y' },
      [
        [200, true],
        [403, undefined],
        [200, true],
        [403, undefined],
        [401, undefined],
        [401, undefined],
      ],
    ],
    [
      'memory/write',
      { session_id: 's-1', key: 'open', value: 'y' },
      [
        [200, true],
        [403, undefined],
        [200, true],
        [403, undefined],
        [401, undefined],
        [401, undefined],
      ],
    ],
    [
      'memory/write',
      { ...own, source_agent_id: 'bert', key: 'open', value: 'y' },
      [
        [403, undefined],
        [403, undefined],
        [403, undefined],
        [403, undefined],
        [401, undefined],
        [401, undefined],
      ],
    ],
    [
      'memory/read',
      { ...own, key: 'note' },
      [
        [200, handle_id],
        [403, undefined],
        [200, handle_id],
        [403, undefined],
        [401, undefined],
        [401, undefined],
      ],
    ],
    [
      'memory/read',
      { ...own, key: 'open' },
      [
        [200, 'y'],
        [403, undefined],
        [200, 'y'],
        [403, undefined],
        [401, undefined],
        [401, undefined],
      ],
    ],
    [
      'memory/read',
      { ...own, session_id: 's-2', key: 'open' },
      [
        [200, null],
        [403, undefined],
        [200, null],
        [403, undefined],
        [401, undefined],
        [401, undefined],
      ],
    ],
    [
      'memory/resolve-handle',
      { ...own, handle_id },
      [
        [200, PLAIN],
        [403, undefined],
        [200, PLAIN],
        [403, undefined],
        [401, undefined],
        [401, undefined],
      ],
    ],
    [
      'memory/resolve-handle',
      { agent_id: 'bert', session_id: 's-1', handle_id },
      [
        [403, undefined],
        [200, null],
        [200, null],
        [403, undefined],
        [401, undefined],
        [401, undefined],
      ],
    ],
    [
      'memory/resolve-handle',
      { ...own, handle_id: theirs.json.handle_id },
      [
        [200, null],
        [403, undefined],
        [200, null],
        [403, undefined],
        [401, undefined],
        [401, undefined],
      ],
    ],
    [
      'memory/resolve-handle',
      { ...own, session_id: 's-2', handle_id },
      [
        [200, null],
        [403, undefined],
        [200, null],
        [403, undefined],
        [401, undefined],
        [401, undefined],
      ],
    ],
    [
      'memory/purge-expired',
      {},
      [
        [403, undefined],
        [403, undefined],
        [200, 0],
        [403, undefined],
        [401, undefined],
        [401, undefined],
      ],
    ],
  ];
  let ran = 0;
  for (const [path, body, expected] of table) {
    for (const [at, [who, key]] of callers.entries()) {
      const { status, json } = await post(service, path, body, key);
      const given = path.endsWith('write')
        ? json.allowed
        : path.endsWith('purge-expired')
          ? json.purged
          : json.value;
      assert.deepEqual(
        [status, given],
        expected[at],
        `${who}: ${path} ${JSON.stringify(json).slice(0, 300)}`,
      );
      ran++;
    }
  }
  assert.equal(ran, 66);
  const foreign = await post(
    service,
    'memory/resolve-handle',
    { ...own, handle_id: theirs.json.handle_id },
    anna.key,
  );
  const unknown = await post(
    service,
    'memory/resolve-handle',
    { ...own, handle_id: `hdl_${'0'.repeat(32)}` },
    anna.key,
  );
  const same = ({ json }: Answer) => ({ ...json, event_id: '', scan_duration_ms: 0 });
  assert.deepEqual(same(foreign), same(unknown));
  const trail = await post(service, 'audit/query', { boundary: 'memory', limit: 500 }, operator);
  const phases = new Set(
    trail.json.events.map(({ metadata }: { metadata: { phase: string } }) => metadata.phase),
  );
  assert.deepEqual([...phases].sort(), ['handle_resolve', 'memory_read', 'memory_write', 'retention_purge']);
  assert.ok(!JSON.stringify(trail.json).includes('walrus'));
});

test('what has expired is not given, and a purge says how much it was', async () => {
  const own = { session_id: 's-3' };
  const { json } = await post(service, 'memory/write', { ...own, key: 'brief', value: 'x' }, anna.key);
  assert.equal(json.allowed, true);
  while (Date.now() <= Date.parse(json.expires_at)) await sleep(50);
  const read = await post(service, 'memory/read', { ...own, key: 'brief' }, anna.key);
  assert.deepEqual([read.json.found, read.json.value], [false, null]);
  assert.deepEqual((await post(service, 'memory/purge-expired', {}, getOperator(service))).json, {
    purged: 1,
  });
  assert.deepEqual((await post(service, 'memory/purge-expired', {}, getOperator(service))).json, {
    purged: 0,
  });
});

/** Returns the fields that a route accepts. */
function bodyFor(
  path: 'memory/write' | 'memory/read' | 'memory/resolve-handle',
  { key, value, handle_id, ...who }: Readonly<Record<string, unknown>>,
) {
  if (path === 'memory/write') return { ...who, key, value };
  return path === 'memory/read' ? { ...who, key } : { ...who, handle_id };
}

test('without a credential memory is there in sidecar mode, and not in gateway mode', async () => {
  const sidecar = await startTestService({ files: { 'schemas/memory.yaml': DOCUMENT }, config: null });
  const body = { agent_id: 'a', session_id: 's', key: 'open', value: 'x' };
  assert.equal((await post(sidecar, 'memory/write', body, null)).json.allowed, true);
  assert.equal((await post(sidecar, 'memory/purge-expired', {}, null)).status, 403);
  await sidecar.stop();
  const withoutDocuments = await startTestService({ config: null });
  const purge = await post(withoutDocuments, 'memory/purge-expired', {}, getOperator(withoutDocuments));
  assert.deepEqual([purge.status, purge.json], [200, { purged: 0 }]);
  await withoutDocuments.stop();
  const gateway = await started({}, { server: { mode: 'gateway', workers: 2 }, auth: {} });
  for (const path of ['memory/write', 'memory/read', 'memory/resolve-handle'] as const) {
    const { status, json } = await post(gateway, path, bodyFor(path, { ...body, handle_id: 'x' }), null);
    assert.deepEqual([status, json.code], [401, 'unauthenticated'], path);
  }
  assert.equal((await post(gateway, 'memory/write', body, getOperator(gateway))).json.allowed, true);
  await gateway.stop();
});

test('nothing that was acknowledged is lost to SIGKILL, and no file holds a value', {
  timeout: 180_000,
}, async () => {
  const ROUNDS = isNightly ? 3 : 2;
  const kept = new Map<string, string>();
  const asked = new Set<string>();
  let dir: string | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const running: TestService = await started({ dir, keep: true });
    dir = running.dir;
    const beforeKill = kept.size;
    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let at = 0; at < 400; at += 6) {
        const key = `fact-${at + writer}`;
        if (kept.has(key)) continue;
        asked.add(key);
        const value = { round, text: `${PLAIN}-${key}` };
        const answer = await post(running, 'memory/write', { key, value }, anna.key).catch(() => null);
        if (answer === null) return;
        assert.equal(answer.json.allowed, true, JSON.stringify(answer.json));
        kept.set(key, answer.json.handle_id);
      }
    });
    const aim = beforeKill + 20 + 10 * round;
    await until(() => kept.size >= aim, 'writes before the kill', 1);
    killAll(running);
    await Promise.all(writers);
  }
  const last = await started({ dir, keep: true });
  let ran = 0;
  for (const [key, handleId] of kept) {
    const { json } = await post(last, 'memory/resolve-handle', { handle_id: handleId }, anna.key);
    assert.equal(json.value?.text, `${PLAIN}-${key}`, JSON.stringify(json));
    ran++;
  }
  assert.ok(ran >= 20 * ROUNDS && ran === kept.size, `${ran}`);
  assert.ok(asked.size >= kept.size);
  await last.stop();
  const files = readdirSync(last.state_dir, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  for (const file of files) {
    const bytes = readFileSync(join(file.parentPath, file.name));
    assert.ok(!bytes.includes('walrus'), file.name);
  }
  assert.ok(files.some(({ name }) => name === 'store.db'));
  rmSync(last.dir, { recursive: true, force: true });
});

test('a start with a wrong or lost master key is refused, and the right one finds everything again', async () => {
  const right = { MEMORY_KEY: 'the-right-key-'.padEnd(43, 'a') };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
  const memory = { master_key: '${MEMORY_KEY}' };
  const first = await started({ keep: true, env: right }, { memory });
  const body = { session_id: 's', key: 'note', value: PLAIN };
  const { handle_id } = (await post(first, 'memory/write', body, anna.key)).json;
  const { dir } = first;
  await first.stop();
  const wrong = { MEMORY_KEY: 'a-wrong-key---'.padEnd(43, 'a') };
  await assert.rejects(
    started({ dir, keep: true, env: wrong }, { memory }),
    /exit code 2[\s\S]*master key `mk_[0-9a-f]{16}`/,
  );
  await assert.rejects(started({ dir, keep: true }, {}), /Restore the file .*memory-key/);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
  const both = { master_key: '${MEMORY_KEY}', previous_keys: ['${OLD_KEY}'] };
  const again = await started({ dir, env: { ...wrong, OLD_KEY: right.MEMORY_KEY } }, { memory: both });
  const { json } = await post(again, 'memory/resolve-handle', { session_id: 's', handle_id }, anna.key);
  assert.equal(json.value, PLAIN);
  assert.ok(!again.logs().includes('right-key'));
  await again.stop();
});

const reason = explainMissingPostgres();
test('while the database is away memory is refused, and it comes back by itself', {
  skip: reason ?? false,
}, async () => {
  const database: PostgresServer = await startPostgres();
  try {
    const running = await started({}, { storage: { url: await database.makeDatabase() } });
    const body = { session_id: 's', key: 'note', value: PLAIN };
    const { handle_id } = (await post(running, 'memory/write', body, anna.key)).json;
    await database.stop();
    for (const path of ['memory/write', 'memory/read', 'memory/resolve-handle'] as const) {
      const { status, json } = await post(running, path, bodyFor(path, { ...body, handle_id }), anna.key);
      assert.deepEqual(
        [status, json.code, json.allowed, json.value],
        [503, 'unavailable', undefined, undefined],
        path,
      );
    }
    await database.start();
    const resolved = async () =>
      (await post(running, 'memory/resolve-handle', { session_id: 's', handle_id }, anna.key)).json.value;
    await until(async () => (await resolved()) === PLAIN, 'the value of the handle', 100);
    const trail = await post(running, 'audit/query', { policy_name: 'fault.store' }, getOperator(running));
    assert.ok(trail.json.count >= 3);
    await running.stop();
  } finally {
    await database.remove();
  }
});
