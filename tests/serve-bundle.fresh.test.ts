/** `./service` in a checkout runs one bundle, which is built again if a source is newer. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type CheckoutRun, copyCheckout, ownNodeEnvironment, runProgram } from './support/checkout.ts';
import { testNightly } from './support/nightly.ts';
import { freePort } from './support/service.ts';
import { until } from './support/until.ts';

let checkout = copyCheckout();
const dir = mkdtempSync(join(tmpdir(), 'serve-bundle-'));
const env = ownNodeEnvironment({ SERVICE_DEBUG: '1' });
const SENTENCE = 'Give a whole number from';
after(() => {
  for (const folder of [checkout, dir]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const built = (): string => join(checkout, 'node_modules/.cache/service-program/built.sh');
const source = (): string => join(checkout, 'src/operations/cli-kit/options.ts');

/** Runs `./service serve` with a port that it refuses. */
function refuse(): Promise<CheckoutRun> {
  return runProgram([join(checkout, 'service'), 'serve', '--port', 'none'], { cwd: dir, env });
}

/** Returns the command lines of a process and of its children. */
function listCommands({ pid }: ChildProcess): readonly string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return [`${pid}`, ...children].map((each) =>
    readFileSync(`/proc/${each}/cmdline`, 'utf8').replaceAll('\0', ' '),
  );
}

test('the service and its worker run the bundle, find their files, and decide', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const words = ['serve', '--port', `${port}`, '--workers', '1'];
  const service = spawn(join(checkout, 'service'), words, { cwd: dir, env, stdio: 'ignore' });
  const ended = once(service, 'exit');
  try {
    await until(
      async () => (await fetch(`${url}/v1/health`).catch(() => null))?.ok === true,
      'a healthy service',
    );
    const commands = listCommands(service);
    assert.match(commands[0]!, /\/\.cache\/service-program\/[0-9a-f]{16}\/entry\/cli\/main\.mjs serve /);
    assert.equal(commands.filter((each) => /\/[0-9a-f]{16}\/entry\/http\/worker\.mjs /.test(each)).length, 1);
    const decisions = ['clean text', `my key is ${'AK'}${'IA'}Z7QX5LWM2RTY4VBN`].map(async (text) => {
      const body = JSON.stringify({ text });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/v1/scan/input`, { method: 'POST', headers, body });
      return ((await answer.json()) as { decision: string }).decision;
    });
    assert.deepEqual(await Promise.all(decisions), ['allow', 'block']);
    for (const path of ['/docs', '/openapi.json', '/v1/policies/templates'])
      assert.equal((await fetch(`${url}${path}`)).status, 200, path);
  } finally {
    service.kill('SIGTERM');
    await ended;
  }
  assert.equal(service.exitCode, 0);
});

test('a newer source is in the next bundle, and where none is newer nothing is built', async () => {
  const { ino } = statSync(built());
  assert.match((await refuse()).stderr, new RegExp(SENTENCE));
  assert.equal(statSync(built()).ino, ino);
  const text = readFileSync(source(), 'utf8');
  assert.ok(text.includes(SENTENCE));
  writeFileSync(source(), text.replaceAll(SENTENCE, 'Another sentence from'));
  assert.match((await refuse()).stderr, /Another sentence from/);
  assert.notEqual(statSync(built()).ino, ino);
  writeFileSync(source(), `${text}\nconst broken = ;\n`);
  const broken = await refuse();
  assert.notEqual(broken.code, 0);
  assert.match(broken.stderr, /options\.ts/);
  writeFileSync(source(), text);
  assert.match((await refuse()).stderr, new RegExp(SENTENCE));
  rmSync(source());
  const missing = await refuse();
  assert.notEqual(missing.code, 0);
  assert.match(missing.stderr, /options\.ts/);
  writeFileSync(source(), text);
  assert.match((await refuse()).stderr, new RegExp(SENTENCE));
});

testNightly('the bundle searches with an edited detector', {}, async () => {
  const path = join(checkout, 'src/core/detect/detectors/secrets/digitalocean.ts');
  const text = readFileSync(path, 'utf8');
  const token = `${'doq'}_v1_${'0f3a9c5e7b12d846'.repeat(4)}`;
  const scan = (): Promise<CheckoutRun> =>
    runProgram([join(checkout, 'service'), 'scan', `see ${token}`], { cwd: dir, env });
  assert.equal((await scan()).code, 0);
  writeFileSync(path, text.replaceAll('do[opr]_v1_', 'do[opqr]_v1_'));
  assert.deepEqual([(await scan()).code, (await scan()).code], [1, 1]);
  writeFileSync(path, text);
  assert.equal((await scan()).code, 0);
});

test('a checkout that was moved builds its own bundle', async () => {
  const moved = `${checkout}-moved`;
  renameSync(checkout, moved);
  checkout = moved;
  assert.ok(existsSync(built()));
  assert.match((await refuse()).stderr, new RegExp(SENTENCE));
  assert.ok(readFileSync(built(), 'utf8').includes(`built_for='${moved}'\n`));
});
