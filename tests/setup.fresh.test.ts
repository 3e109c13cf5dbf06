/** A new clone sets itself up at its first run, for every kind of user. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, runProgram, userEnvironment } from './support/checkout.ts';
import { isNightly, testNightly } from './support/nightly.ts';
import { freePort } from './support/service.ts';

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'service-setup-')));
const clone = join(dir, 'a clone with spaces');
const service = join(clone, 'service');
const stamp = join(clone, 'node_modules', '.service-node');
const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;

before(async () => {
  chmodSync(dir, 0o755);
  const cloned = await runProgram(['git', 'clone', '--quiet', root, clone]);
  assert.equal(cloned.code, 0, cloned.stderr);
});
// A start may still be building the console.
after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));

const env = userEnvironment();
const INSTALLING = /installing packages/;

test('two first uses at once: one sets up, both answer', async () => {
  const [one, two] = await Promise.all([
    runProgram([service, '--version'], { cwd: dir, env }),
    runProgram([service, '--version'], { cwd: clone, env }),
  ]);
  for (const ran of [one, two]) {
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(ran.stdout.trim(), version);
  }
  assert.equal([one, two].filter((ran) => INSTALLING.test(ran.stderr)).length, 1);
  assert.ok(existsSync(stamp) && !existsSync(join(clone, '.setup-lock')));
});

/** The checkout, its Node and its packages. */
const STARTED_BYTES_MAX = 350_000_000;

test('a start installs the packages of the program alone', async () => {
  for (const [name, isThere] of [
    ['fastify', true],
    ['pg', true],
    ['typescript', false],
    ['@biomejs/biome', false],
  ] as const)
    assert.equal(existsSync(join(clone, 'node_modules', name)), isThere, name);
  const { stdout } = await runProgram(['du', '-sb', clone]);
  const bytes = Number.parseInt(stdout, 10);
  assert.ok(bytes > 50_000_000 && bytes <= STARTED_BYTES_MAX, stdout);
});

test('a later use says nothing and starts from anywhere, also through links', async () => {
  const link = join(dir, 'link');
  const chain = join(dir, 'chain');
  symlinkSync('a clone with spaces/service', link);
  symlinkSync(link, chain);
  const ways: readonly [string, string][] = [
    [service, '/'],
    ['./service', clone],
    ['../service', join(clone, 'src')],
    [link, dir],
    ['./chain', dir],
  ];
  for (const [program, cwd] of ways) {
    const ran = await runProgram([program, '--version'], { cwd, env });
    assert.deepEqual(ran, { code: 0, stdout: `${version}\n`, stderr: '' }, program);
  }
  const byName = await runProgram(['service', '--version'], {
    cwd: '/',
    env: { ...env, PATH: `${clone}:${env.PATH}` },
  });
  assert.equal(byName.stdout.trim(), version);
});

test('a lock file that changed in date alone installs nothing', async () => {
  const later = new Date(Date.now() + 60_000);
  utimesSync(join(clone, 'package-lock.json'), later, later);
  for (let round = 0; round < 2; round++) {
    const ran = await runProgram([service, '--version'], { cwd: dir, env });
    assert.deepEqual(ran, { code: 0, stdout: `${version}\n`, stderr: '' });
  }
});

testNightly('the lock of a set-up that was killed does not stop the next one', {}, async () => {
  rmSync(stamp);
  mkdirSync(join(clone, '.setup-lock'));
  writeFileSync(join(clone, '.setup-lock', 'pid'), '2147483646\n');
  const ran = await runProgram([service, '--version'], { cwd: dir, env });
  assert.equal(ran.code, 0, ran.stderr);
  assert.ok(!existsSync(join(clone, '.setup-lock')));
});

testNightly('a package that went missing is installed again', {}, async () => {
  rmSync(stamp);
  rmSync(join(clone, 'node_modules', 'fastify'), { recursive: true });
  const ran = await runProgram([service, '--version'], { cwd: dir, env });
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stderr, INSTALLING);
  assert.ok(existsSync(join(clone, 'node_modules', 'fastify')));
});

test('if npm fails, the next step is printed, and no lock is left', async () => {
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'npm'), '#!/bin/sh\necho "npm error network unreachable" >&2\nexit 1\n', {
    mode: 0o755,
  });
  rmSync(join(clone, 'node_modules'), { recursive: true });
  const ran = await runProgram([service, '--version'], {
    cwd: dir,
    env: { ...env, PATH: `${bin}:${env.PATH}` },
  });
  assert.equal(ran.code, 2);
  assert.equal(ran.stdout, '');
  assert.match(ran.stderr, /^error: npm could not install .*exit code 1/m);
  assert.match(ran.stderr, /network unreachable/);
  assert.match(ran.stderr, /npm registry/);
  assert.ok(!existsSync(join(clone, '.setup-lock')));
});

test('without Node there is a sentence', async () => {
  const bin = join(dir, 'empty');
  mkdirSync(bin);
  const ran = await runProgram(['/bin/sh', service, '--version'], { cwd: dir, env: { PATH: bin } });
  assert.equal(ran.code, 2);
  assert.match(ran.stderr, /^error: there is no Node on this machine/);
});

testNightly('npm start serves, from nothing', {}, async () => {
  await serves('npm', ['start', '--', '--port'], env);
});

if (isNightly && process.getuid?.() === 0) {
  test('another user than root starts from nothing, and without a home', async () => {
    rmSync(join(clone, 'node_modules'), { recursive: true, force: true, maxRetries: 5 });
    rmSync(join(clone, 'scripts', 'node', 'node_modules'), { recursive: true, force: true });
    rmSync(join(clone, '.service'), { recursive: true, force: true });
    assert.equal((await runProgram(['chown', '-R', 'nobody', clone])).code, 0);
    const words = ['-u', 'nobody', '--', 'npm', 'start', '--', '--port'];
    await serves('runuser', words, { ...env, HOME: '/nonexistent', USER: 'nobody' });
  });
}

/** Starts the program until it answers, and stops it as a supervisor would. */
async function serves(program: string, words: readonly string[], given: NodeJS.ProcessEnv): Promise<void> {
  const port = await freePort();
  // A process group of its own, because npm and runuser are between this test and the service.
  const child = spawn(program, [...words, `${port}`], { cwd: clone, env: given, detached: true });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      written += chunk;
    });
  }
  try {
    const health = await getAnswer(`http://127.0.0.1:${port}/v1/health`, () => child.exitCode === null);
    assert.equal(health?.status, 'healthy', written);
    assert.equal(health?.version, version);
  } finally {
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM');
    await ended;
  }
}

async function getAnswer(
  url: string,
  alive: () => boolean,
): Promise<{ status: string; version: string } | null> {
  const untilMs = Date.now() + 120_000;
  while (Date.now() < untilMs && alive()) {
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) return (await answer.json()) as { status: string; version: string };
    await sleep(100);
  }
  return null;
}
