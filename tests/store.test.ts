// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
/** The store of a running service: its location, its outages, and refused starts. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBadLine } from '../src/platform/store/testing/bad-line.ts';
import {
  explainMissingPostgres,
  type PostgresServer,
  startPostgres,
} from '../src/platform/store/testing/postgres-server.ts';
import { startTestService, type TestService } from './support/service.ts';

const skip = explainMissingPostgres() ?? false;
let server: PostgresServer | null = null;
after(() => server?.remove());

/** Creates a database and returns its URL. */
async function newDatabase(): Promise<string> {
  server ??= await startPostgres();
  return server.makeDatabase();
}

const readiness = async (service: TestService) => (await fetch(`${service.url}/v1/ready`)).status;

async function becomes(service: TestService, status: number): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    if ((await readiness(service)) === status) return;
    await sleep(50);
  }
  assert.fail(`/v1/ready does not become ${status}:\n${service.logs()}`);
}

async function scan(service: TestService): Promise<string> {
  const answer = await fetch(`${service.url}/v1/scan/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"text":"What is the weather like in Lisbon?"}',
  });
  return ((await answer.json()) as { decision: string }).decision;
}

test('without a word about it, it is a file in the state folder, for its owner alone', async () => {
  const service = await startTestService();
  const file = join(service.state_dir, 'store.db');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.doesNotMatch(service.logs(), /^ {2}Store /m);
  await service.stop();
});

test('`sqlite:FILE` is another file, relative to the configuration', async () => {
  const service = await startTestService({ config: { storage: { url: 'sqlite:elsewhere.db' } } });
  assert.ok(existsSync(join(service.dir, 'elsewhere.db')));
  assert.ok(!existsSync(join(service.state_dir, 'store.db')));
  assert.match(service.logs(), /^ {2}Store +.*elsewhere\.db$/m);
  await service.stop();
});

test('while the file is away the service is not ready, and it needs no restart', async () => {
  const service = await startTestService();
  const workers = service.worker_pids();
  const file = join(service.state_dir, 'store.db');
  renameSync(file, `${file}.away`);
  await becomes(service, 503);
  assert.equal(await scan(service), 'allow');
  renameSync(`${file}.away`, file);
  await becomes(service, 200);
  assert.deepEqual(service.worker_pids(), workers);
  await service.stop();
});

test('while PostgreSQL is away the service is not ready, and it needs no restart', { skip }, async () => {
  const url = await newDatabase();
  const service = await startTestService({ config: { storage: { url } } });
  const workers = service.worker_pids();
  assert.match(service.logs(), /^ {2}Store +PostgreSQL at 127\.0\.0\.1:\d+, database test_\w+$/m);
  assert.ok(!existsSync(join(service.state_dir, 'store.db')));
  await server!.stop();
  await becomes(service, 503);
  assert.equal(await scan(service), 'allow');
  await server!.start();
  await becomes(service, 200);
  assert.deepEqual(service.worker_pids(), workers);
  await service.stop();
});

test('while PostgreSQL is silent the service can be stopped', { skip }, async (t) => {
  const line = await openBadLine(await newDatabase());
  t.after(() => line.close());
  const service = await startTestService({ config: { storage: { url: line.url } } });
  line.goSilent();
  await becomes(service, 503);
  assert.deepEqual(await service.stop(), { code: 0, signal: null }, service.logs());
});

test('a start without its store is refused, says what to do, and repeats no credential', {
  skip,
}, async () => {
  const url = await newDatabase();
  const password = ['not', 'for', 'anyone'].join('-');
  const unreachable = 'postgres://someone:${STORE_PASSWORD}@127.0.0.1:1/safety';
  const rows: readonly (readonly [string, RegExp])[] = [
    [unreachable, /does not answer.*Check that it runs/],
    [`${url}_missing`, /has no database of that name.*`createdb`/],
    ['sqlite:no/such/folder/store.db', /cannot be opened.*Check that its folder is there/],
    [unreachable.replace('${STORE_PASSWORD}', password), /`storage\.url` has a password in plain text/],
    [`postgres://127.0.0.1/safety?password=${password}`, /`storage\.url` has a password in plain text/],
  ];
  for (const [given, sentence] of rows) {
    const start = startTestService({
      config: { storage: { url: given } },
      env: { STORE_PASSWORD: password },
    });
    await assert.rejects(start, ({ message }: Error) => {
      assert.match(message, /exit code 2/, given);
      assert.match(message, sentence, given);
      assert.ok(!message.includes(password), given);
      return true;
    });
  }
  assert.equal(rows.length, 5);
});

test('a store that another version made is refused unchanged', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'store-other-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'service.yaml'), '{}');
  const first = await startTestService({ dir, keep: true });
  await first.stop();
  const file = join(dir, '.service', 'store.db');
  const others = [
    ['9999_later', /exit code 2[\s\S]*later version of this program/],
    ['0010_approvals', /exit code 2[\s\S]*development version[\s\S]*Move `store\.db\*`/],
  ] as const;
  for (const [name, sentence] of others) {
    const database = new DatabaseSync(file);
    database.exec(`insert into store_migrations values ('${name}', '2030-01-01T00:00:00.000Z')`);
    const names = database.prepare('select name from store_migrations order by name').all();
    database.close();
    await assert.rejects(startTestService({ dir }), sentence);
    const again = new DatabaseSync(file);
    assert.deepEqual(again.prepare('select name from store_migrations order by name').all(), names);
    again.exec(`delete from store_migrations where name = '${name}'`);
    again.close();
  }
  await (await startTestService({ dir, keep: true })).stop();
});
