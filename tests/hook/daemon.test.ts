/** The life of the daemon: it hands over, stops when idle, is killed, and finds its disk full. */

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { expectRows } from '../../src/core/testing/expect-rows.ts';
import { isNightly, testNightly } from '../support/nightly.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { gone, hook, readOwner, root, run, service } from './support.ts';

const ALONE = { SERVICE_HOOK_DAEMON: 'off' };
const HARMLESS = { tool: 'Bash', input: { command: 'ls' } };
const HARMFUL = { tool: 'Bash', input: { command: 'rm -rf /' } };

/** Creates a folder. Its daemon, if any, is stopped with the test. */
function getFolder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'hook-daemon-'));
  t.after(async () => {
    const owner = readOwner(dir);
    if (owner !== null && (await isOpen(dir))) {
      process.kill(owner, 'SIGKILL');
      await gone(owner);
    }
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  return dir;
}

interface DaemonReply {
  readonly decision: string;
  readonly rule: string;
  readonly event_id: string;
}

async function decided(
  dir: string,
  call: object,
  env: Readonly<Record<string, string>> = {},
): Promise<DaemonReply> {
  const { stdout, stderr } = await hook(dir, call, [], env);
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout) as DaemonReply;
}

/** Starts a daemon as a hook does, in the requested version. */
async function startDaemonProcess(
  t: TestContext,
  dir: string,
  words: readonly string[],
): Promise<ChildProcess> {
  const child = spawn(process.execPath, words, { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await until(async () => readOwner(dir) === child.pid && (await isOpen(dir)), 'it is up');
  return child;
}

/** Returns whether a process accepts connections at the socket. A killed process leaves its socket file. */
async function isOpen(dir: string): Promise<boolean> {
  const socket = connect(join(dir, '.service/content.sock'));
  const answers = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  socket.destroy();
  return answers;
}

const program = join(root, 'src', 'entry', 'hook', 'daemon-process.ts');

/** Returns the events of a folder by their IDs, including those that are not chained yet. */
function written(dir: string): string {
  const journal = join(dir, '.service', 'journal');
  return readdirSync(journal, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(journal, name), 'utf8'))
    .join('');
}

const timesIn = (text: string, part: string): number => text.split(`"event_id":"${part}"`).length - 1;

test('a service takes over from a daemon, and the hook keeps working', async (t) => {
  const dir = getFolder(t);
  const first = await decided(dir, HARMFUL);
  await until(() => existsSync(join(dir, '.service/content.sock')), 'a resident process comes up');
  const daemon = readOwner(dir)!;
  const second = await decided(dir, HARMFUL);
  const running = await startTestService({ dir, keep: true });
  await gone(daemon);
  assert.equal(readOwner(dir), running.pid);
  const third = await decided(dir, HARMFUL);
  for (const { decision } of [first, second, third]) assert.equal(decision, 'block');
  const shown = await run(dir, ['logs', '--json', '--agent', 'unknown']);
  for (const { event_id } of [first, second, third]) assert.equal(timesIn(shown.stdout, event_id), 1);
  assert.deepEqual(readdirSync(join(dir, '.service/journal/spool')), [], 'it was the service that decided');
  await running.stop();
  assert.equal((await run(dir, ['audit', 'verify'])).code, 0);
  assert.equal((await decided(dir, HARMFUL, ALONE)).decision, 'block', 'and without it, too');
});

testNightly('an idle daemon ends on its own and releases the folder', {}, async (t) => {
  const dir = getFolder(t);
  const child = await startDaemonProcess(t, dir, [join(root, 'tests/support/daemon/main.ts'), '1500']);
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 0);
  assert.equal(readOwner(dir), null);
  assert.ok(!existsSync(join(dir, '.service/content.sock')));
  assert.equal((await decided(dir, HARMLESS, ALONE)).decision, 'allow');
  const next = await startDaemonProcess(t, dir, [program, '0.0.1']);
  next.kill();
});

test('a daemon of an older program ends: the hook decides in its own process, and starts a new one', async (t) => {
  const dir = getFolder(t);
  const old = await startDaemonProcess(t, dir, [program, '0.0.1']);
  const ended = once(old, 'close');
  assert.equal((await decided(dir, HARMFUL)).decision, 'block');
  assert.deepEqual(await ended, [0, null]);
  await until(
    () => readOwner(dir) !== null && existsSync(join(dir, '.service/content.sock')),
    'a new one is up',
  );
  assert.notEqual(readOwner(dir), old.pid);
  const owner = JSON.parse(readFileSync(join(dir, '.service/owner.json'), 'utf8')) as { version: string };
  assert.notEqual(owner.version, '0.0.1');
  assert.equal((await decided(dir, HARMLESS)).decision, 'allow');
  assert.deepEqual(
    readdirSync(join(dir, '.service/journal/spool')).filter((name) => name.endsWith('.refused')),
    [],
  );
});

test('one that is killed in the middle of a question leaves the hook to decide alone', async (t) => {
  const dir = getFolder(t);
  await decided(dir, HARMLESS, ALONE);
  for (const [call, decision] of expectRows(2, [
    [HARMFUL, 'block'],
    [HARMLESS, 'allow'],
  ] as const)) {
    const child = await startDaemonProcess(t, dir, [program, getVersion(dir)]);
    // It has received the request, and cannot answer it.
    child.kill('SIGSTOP');
    const asking = decided(dir, call, ALONE);
    await until(() => waitingAt(dir) > 0, 'the hook waits for its answer');
    child.kill('SIGKILL');
    const { decision: told, event_id } = await asking;
    assert.equal(told, decision);
    assert.equal(timesIn(written(dir), event_id), 1, 'what was decided is written down');
  }
  for (let round = 0; round < 6; round += isNightly ? 1 : 3) {
    const child = await startDaemonProcess(t, dir, [program, getVersion(dir)]);
    const asking = decided(dir, HARMFUL, ALONE);
    await new Promise((done) => setTimeout(done, round * 15));
    child.kill('SIGKILL');
    const { decision, event_id } = await asking;
    assert.equal(decision, 'block');
    assert.equal(timesIn(written(dir), event_id), 1);
    await gone(child.pid!);
  }
});

test('a daemon decides a payload over several lines', async (t) => {
  const dir = getFolder(t);
  await decided(dir, HARMLESS, ALONE);
  await startDaemonProcess(t, dir, [program, getVersion(dir)]);
  for (const [call, decision] of expectRows(2, [
    [HARMFUL, 'block'],
    [HARMLESS, 'allow'],
  ] as const)) {
    const { stdout } = await hook(dir, JSON.stringify(call, null, '\r\n\t'), [], ALONE);
    assert.equal((JSON.parse(stdout) as DaemonReply).decision, decision);
  }
});

test('a broken policy document denies while a daemon runs', async (t) => {
  const dir = getFolder(t);
  writeFileSync(join(dir, 'service.yaml'), 'paths: { policy_files: [rules.yaml] }');
  const rule = { name: 'mail', boundary: 'input', data_tags: ['personal'], action: 'flag' };
  const write = (...policies: readonly object[]): void =>
    writeFileSync(join(dir, 'rules.yaml'), JSON.stringify({ version: 'v1alpha1', policies }));
  write(rule);
  await decided(dir, HARMLESS, ALONE);
  const daemon = await startDaemonProcess(t, dir, [program, getVersion(dir)]);
  assert.equal((await decided(dir, HARMLESS, ALONE)).decision, 'allow');
  write({ ...rule, action: 'flagg' });
  daemon.kill('SIGHUP');
  let reason = '';
  await until(async () => {
    const { stdout } = await hook(dir, HARMLESS, [], ALONE);
    ({ reason = '' } = JSON.parse(stdout) as { reason?: string });
    return reason !== '' && /rules\.yaml/.test(reason);
  }, 'the daemon sees the change');
  assert.match(reason, /rules\.yaml.*everything is refused\. `customshouse validate` shows every problem\./);
  write(rule);
  assert.equal((await decided(dir, HARMLESS, ALONE)).decision, 'allow');
});

testNightly('a daemon ends when a setting changes that needs a restart', {}, async (t) => {
  const dir = getFolder(t);
  writeFileSync(join(dir, 'service.yaml'), '{}');
  await decided(dir, HARMLESS, ALONE);
  const daemon = await startDaemonProcess(t, dir, [program, getVersion(dir)]);
  let writes = 0;
  await until(
    async () => {
      // A change before the daemon watches its files is not seen.
      writeFileSync(join(dir, 'service.yaml'), `audit: { log_inputs: true } # ${writes++}`);
      return daemon.exitCode === 0;
    },
    'the daemon ends',
    2_000,
  );
  assert.equal((await decided(dir, HARMLESS, ALONE)).decision, 'allow');
});

test('a full disk denies, in the hook and in a daemon, and neither crashes', async (t) => {
  const dir = getFolder(t);
  const full = ['sh', '-c', 'ulimit -f 0; exec "$0" "$@"', service];
  const answer = async (call: string): Promise<string> =>
    (await run(dir, ['hook'], call, ALONE, full)).stdout;
  const harmless = JSON.stringify(HARMLESS);
  const first = await run(dir, ['hook', '--dialect', 'plain'], harmless, ALONE, full);
  assert.match(first.stdout, /"decision":"block"/, 'in a folder where nothing was saved');
  assert.equal((await decided(dir, HARMLESS, ALONE)).decision, 'allow');
  assert.match(await answer(harmless), /"decision":"block".*"rule":"fault\.audit"/);
  assert.equal((await run(dir, ['hook'], 'garbage', ALONE, full)).code, 2);
  assert.equal((await decided(dir, HARMLESS, ALONE)).decision, 'allow', 'when there is room again');

  const child = await startDaemonProcess(t, dir, [program, getVersion(dir)]);
  assert.equal((await decided(dir, HARMLESS)).decision, 'allow');
  const limit = (bytes: string): Buffer =>
    execFileSync('prlimit', ['--pid', `${child.pid}`, `--fsize=${bytes}:`]);
  limit('0');
  const { decision, rule } = await decided(dir, HARMLESS);
  assert.deepEqual([decision, rule], ['block', 'fault.audit']);
  assert.equal(child.exitCode, null);
  limit('unlimited');
  await until(async () => (await decided(dir, HARMLESS)).decision === 'allow', 'it decides again');
  assert.equal(readOwner(dir), child.pid, 'the same process');
  child.kill();
  await once(child, 'close');
  assert.equal((await run(dir, ['audit', 'verify'])).code, 0);
});

/** Returns the version of this checkout's hook, from the file that it saved. */
function getVersion(dir: string): string {
  return (JSON.parse(readFileSync(join(dir, '.service/hook.json'), 'utf8')) as { version: string }).version;
}

/** Returns the number of open connections to the owner's socket. */
function waitingAt(dir: string): number {
  return readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .filter((line) => !line.includes(' 00010000 ') && line.endsWith(join(dir, '.service/content.sock')))
    .length;
}
