import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadPublicKeys } from './keys.ts';
import { FROM_START, readChain } from './reader.ts';
import { waitUntil } from './testing/audit-log.ts';
import { verifyJournal } from './verify.ts';
import type { VerifyReport } from './verify-report.ts';

const PROGRAM = fileURLToPath(new URL('./testing/append-load.ts', import.meta.url));

async function makeState(t: TestContext): Promise<string> {
  const state = await mkdtemp(join(tmpdir(), 'crash-'));
  t.after(() => rm(state, { recursive: true, force: true }));
  return state;
}

async function verify(state: string): Promise<VerifyReport> {
  return verifyJournal({
    dir: join(state, 'journal'),
    public_keys: await loadPublicKeys(join(state, 'keys')),
  });
}

async function readRecordedIdSet(state: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { records } of readChain(join(state, 'journal', 'worker-1'), FROM_START)) {
    for (const { record } of records) if (record.kind === 'event') ids.add(record.event.event_id);
  }
  return ids;
}

/** A process under load, and its output. */
function startLoad(command: readonly string[]): { child: ChildProcess; said: () => string[] } {
  const child = spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout!.on('data', (chunk) => {
    output += String(chunk);
  });
  return { child, said: () => output.split('\n').slice(0, -1) };
}

test('SIGKILL at any moment under load loses nothing acknowledged, and the journal opens and verifies', async (t) => {
  const state = await makeState(t);
  const ROUNDS = 25;
  const acknowledged: string[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const waiters = [1, 8, 64, 256][round % 4]!;
    const { child, said: stated } = startLoad([
      process.execPath,
      PROGRAM,
      state,
      String(round),
      String(waiters),
    ]);
    await waitUntil(() => stated().length > 1);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 25));
    child.kill('SIGKILL');
    await once(child, 'close');
    acknowledged.push(...stated().filter((line) => line.startsWith('evt_')));
    if (round % 5 === 0) assert.equal((await verify(state)).broken, null);
  }
  const recorded = await readRecordedIdSet(state);
  assert.deepEqual(
    acknowledged.filter((id) => !recorded.has(id)),
    [],
  );
  assert.ok(acknowledged.length > ROUNDS * 10, `${acknowledged.length} acknowledged events`);
});

test('a full disk refuses every event, loses no acknowledged one, and recovers on its own', async (t) => {
  const state = await makeState(t);
  const LIMIT_BYTES = 60_000;
  const script = `trap '' XFSZ; exec "$@"`;
  const program = [process.execPath, PROGRAM, state, '1', '32'];
  const { child, said: stated } = startLoad(['sh', '-c', script, 'sh', ...program]);
  const acknowledged = (): string[] => stated().filter((line) => line.startsWith('evt_'));
  const refused = (): string[] => stated().filter((line) => line.startsWith('!'));
  const limit = (bytes: number | string): void => {
    execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]);
  };
  await waitUntil(() => stated().length > 0);
  limit(LIMIT_BYTES);
  await waitUntil(() => refused().length > 100);
  limit('unlimited');
  const before = acknowledged().length;
  await waitUntil(() => acknowledged().length > before + 200);
  child.kill('SIGKILL');
  await once(child, 'close');
  assert.deepEqual([...new Set(refused())], ['!journal_write_failed']);
  const recorded = await readRecordedIdSet(state);
  assert.deepEqual(
    acknowledged().filter((id) => !recorded.has(id)),
    [],
  );
  const report = await verify(state);
  assert.equal(report.broken, null);
  assert.ok(report.writers[0]!.cuts > 0);
});
