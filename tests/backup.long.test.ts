/** Backups of a service under load restore to a state that verifies and has all that was acknowledged before. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInProcess } from '../src/entry/cli/testing/run.ts';
import { explainMissingPostgres, startPostgres } from '../src/platform/store/testing/postgres-server.ts';
import { startTestService, type TestService } from './support/service.ts';

const dir = mkdtempSync(join(tmpdir(), 'backup-'));
after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));

const BACKUPS = 4;
const CLIENTS = 16;
const CONFIG = {
  policies: [{ name: 'held', boundary: 'action', condition: { tools: ['pay'] }, action: 'require_approval' }],
  // Files are closed and compressed while they are copied.
  audit: { max_size_mb: 1 },
};

async function post(service: TestService, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200);
  return (await answer.json()) as Record<string, unknown>;
}

/** Sends checks until it is ended. `acknowledged` has the events of all answers so far. */
function startLoad(service: TestService) {
  const acknowledged: string[] = [];
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let at = 0; !isOver; at++) {
      const answer = await post(service, '/v1/scan/input', {
        text: `Report ${client}.${at}`,
        agent_id: `a${client}`,
      });
      acknowledged.push(answer.event_id as string);
    }
  });
  return {
    acknowledged,
    end: async () => {
      isOver = true;
      await Promise.all(clients);
    },
  };
}

/** Runs the program in a folder and returns its JSON. */
async function runJson(cwd: string, ...words: readonly string[]) {
  const { code, stdout, stderr } = await runInProcess([...words, '--json'], { cwd });
  return { code, stderr, value: stdout.startsWith('{') ? JSON.parse(stdout) : null };
}

/** Restores a backup into a new folder with the configuration. */
async function restore(backup: string, name: string) {
  const folder = join(dir, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'service.yaml'), JSON.stringify(CONFIG));
  return { folder, ran: await runJson(folder, 'restore', backup) };
}

function listEvents(folder: string): Set<string> {
  const journal = join(folder, '.service/journal');
  const found = new Set<string>();
  for (const name of readdirSync(journal, { recursive: true, encoding: 'utf8' })) {
    if (!/\d\.jsonl$/.test(name)) continue;
    for (const [, id = ''] of readFileSync(join(journal, name), 'utf8').matchAll(/"event_id":"(evt_\w+)"/g))
      found.add(id);
  }
  return found;
}

test('a service under load is backed up, restored, verified and continued', async (t) => {
  const service = await startTestService({
    config: CONFIG,
    workers: 2,
    keep: true,
    dir: mkdtempSync(join(dir, 'source-')),
  });
  const held = await post(service, '/v1/intercept/tool', {
    tool: 'pay',
    input: { amount: 1 },
    agent_id: 'a',
    session_id: 's',
  });
  assert.equal(held.decision, 'block');
  const load = startLoad(service);
  const known: { readonly backup: string; readonly before: readonly string[] }[] = [];
  try {
    for (let at = 0; at < BACKUPS; at++) {
      await sleep(1_500);
      const before = [...load.acknowledged];
      const backup = join(dir, `backup-${at}`);
      const { code, value, stderr } = await runJson(service.dir, 'backup', backup);
      assert.equal(code, 0, stderr);
      assert.ok(value.files > 5 && value.bytes > 10_000 && value.store === 'sqlite', JSON.stringify(value));
      known.push({ backup, before });
    }
  } finally {
    await load.end();
    await service.stop();
  }
  t.diagnostic(`${load.acknowledged.length} checks during ${BACKUPS} backups`);
  assert.ok(known.at(-1)!.before.length > 500);
  for (const [at, { backup, before }] of known.entries()) {
    for (const path of ['', 'backup.json', 'state', 'state/operator-token', 'state/store.db'])
      assert.equal(statSync(join(backup, path)).mode & 0o077, 0, path);
    const { folder, ran } = await restore(backup, `restored-${at}`);
    assert.deepEqual([ran.code, ran.value.intact, ran.value.broken], [0, true, null], ran.stderr);
    const verified = await runJson(folder, 'audit', 'verify');
    assert.deepEqual(
      [verified.code, verified.value.intact],
      [0, true],
      JSON.stringify(verified.value.broken),
    );
    const events = listEvents(await decompress(folder));
    assert.deepEqual(
      before.filter((id) => !events.has(id)),
      [],
    );
  }
  await continueWith(join(dir, `restored-${BACKUPS - 1}`), known.at(-1)!.before, service.dir);
});

/** Replaces compressed files of a restored journal by their contents in a copy, to read them. */
async function decompress(folder: string): Promise<string> {
  const { gunzipSync } = await import('node:zlib');
  const copy = `${folder}-read`;
  cpSync(folder, copy, { recursive: true });
  const journal = join(copy, '.service/journal');
  for (const name of readdirSync(journal, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.gz'))
      writeFileSync(join(journal, name.slice(0, -3)), gunzipSync(readFileSync(join(journal, name))));
  return copy;
}

/** The restored state serves: with its tokens, requests and past events, and its journal continues. */
async function continueWith(folder: string, before: readonly string[], source: string): Promise<void> {
  const service = await startTestService({ dir: folder, keep: true, workers: 2 });
  try {
    const read = (of: string) => readFileSync(join(of, '.service/operator-token'), 'utf8').trim();
    assert.equal(read(folder), read(source));
    const headers = { authorization: `Bearer ${read(folder)}` };
    const pending = await (await fetch(`${service.url}/v1/approvals?status=pending`, { headers })).text();
    assert.match(pending, /"tool(?:_name)?":"pay"/);
    await post(service, '/v1/scan/input', { text: 'After the restore' });
    const found = await runJson(folder, 'logs', '--event-id', before[0]!);
    assert.equal(found.code, 0, found.stderr);
  } finally {
    await service.stop();
  }
  const verified = await runJson(folder, 'audit', 'verify');
  assert.deepEqual([verified.code, verified.value.intact], [0, true], JSON.stringify(verified.value.broken));
}

test('nothing is overwritten, and a damaged backup is refused as a whole', async () => {
  const service = await startTestService({
    config: CONFIG,
    keep: true,
    dir: mkdtempSync(join(dir, 'small-')),
  });
  await post(service, '/v1/scan/input', { text: 'hello' });
  const backup = join(dir, 'small-backup');
  assert.equal((await runJson(service.dir, 'backup', backup)).code, 0);
  const rows: readonly (readonly [words: readonly string[], code: number, expected: RegExp])[] = [
    [['backup', backup], 1, /is not empty, and nothing is overwritten/],
    [['backup', join(service.state_dir, 'copy')], 2, /cannot be in the state folder/],
    [['restore', backup], 1, /is not empty, and nothing is overwritten/],
  ];
  for (const [words, code, expected] of rows) {
    const ran = await runJson(service.dir, ...words);
    assert.equal(ran.code, code, words.join(' '));
    assert.match(ran.stderr, expected);
  }
  await service.stop();
  const empty = mkdtempSync(join(dir, 'empty-'));
  assert.match((await runJson(empty, 'backup', join(dir, 'none'))).stderr, /There is no state/);

  const damages: readonly (readonly [name: string, damage: (copy: string) => void, expected: RegExp])[] = [
    [
      'longer',
      (copy) => appendFileSync(join(copy, 'state/operator-token'), 'x'),
      /`operator-token` of the backup is not as/,
    ],
    ['missing', (copy) => rmSync(join(copy, 'state/store.db')), /`store\.db` of the backup is missing/],
    ['unfinished', (copy) => rmSync(join(copy, 'backup.json')), /`backup\.json` of the backup is missing/],
    ['other', (copy) => writeFileSync(join(copy, 'backup.json'), '{}'), /not the list of a backup/],
    [
      'outside',
      (copy) => {
        const list = JSON.parse(readFileSync(join(copy, 'backup.json'), 'utf8'));
        list.files[0].path = '../outside';
        writeFileSync(join(copy, 'backup.json'), JSON.stringify(list));
      },
      /not the list of a backup/,
    ],
  ];
  for (const [name, damage, expected] of damages) {
    const copy = join(dir, `damaged-${name}`);
    cpSync(backup, copy, { recursive: true });
    damage(copy);
    const { folder, ran } = await restore(copy, `refused-${name}`);
    assert.equal(ran.code, 1, name);
    assert.match(ran.stderr, expected);
    assert.deepEqual(readdirSync(folder), ['service.yaml'], name);
  }
  assert.equal(damages.length, 5);
});

test('both commands are for operators', async () => {
  for (const command of ['backup', 'restore']) {
    const readLineage = () => ({ ancestors: [{ pid: 7, words: ['claude'] }], has_terminal: true });
    const ran = await runInProcess([command, join(dir, 'agent')], { cwd: dir, readLineage });
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /is for an operator/);
  }
});

test('with PostgreSQL the rest is backed up, and the commands for the store are named', {
  skip: explainMissingPostgres() ?? false,
}, async () => {
  const server = await startPostgres();
  try {
    const config = { ...CONFIG, storage: { url: await server.makeDatabase() } };
    const service = await startTestService({ config, keep: true, dir: mkdtempSync(join(dir, 'postgres-')) });
    const backup = join(dir, 'postgres-backup');
    const ran = await runInProcess(['backup', backup], { cwd: service.dir });
    await service.stop();
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /pg_dump --format=custom/);
    assert.ok(!readdirSync(join(backup, 'state')).includes('store.db'));
    const other = await restore(backup, 'postgres-other');
    assert.equal(other.ran.code, 2);
    assert.match(other.ran.stderr, /The backup is of a service with PostgreSQL/);
    const folder = join(dir, 'postgres-restored');
    mkdirSync(folder);
    cpSync(join(service.dir, 'service.yaml'), join(folder, 'service.yaml'));
    const restored = await runInProcess(['restore', backup], { cwd: folder });
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stdout, /^intact[\s\S]*pg_restore/m);
  } finally {
    await server.remove();
  }
});
