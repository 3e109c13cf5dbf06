/** A full disk at each point of a start: one message, and no stack, no loop, no incomplete file. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MAIN_FILE } from '../src/entry/cli/testing/main-file.ts';

const CAUSE = /the disk is full|The disk of the store is full|file-size limit|the disk reports an error/;
const END_MS_MAX = 30_000;

interface CommandResult {
  /** `null`: it was still running, and this test ended it. */
  readonly code: number | null;
  readonly output: string;
}

/** Runs the program until it exits or reports that it is running. `blocks` is the maximum size of a file. */
function run(dir: string, args: readonly string[], blocks: number | null): Promise<CommandResult> {
  const limit = blocks === null ? '' : `ulimit -f ${blocks}; `;
  const child = spawn('sh', ['-c', `${limit}exec "$0" "$@"`, process.execPath, MAIN_FILE, ...args], {
    cwd: dir,
    env: { PATH: process.env.PATH, HOME: dir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    child.kill('SIGTERM');
  };
  const timer = setTimeout(() => {
    output += '\nIt did not end.';
    child.kill('SIGKILL');
  }, END_MS_MAX);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
      if (!isStopped && output.includes('The service runs')) stop();
    });
  }
  return new Promise((done) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      done({ code: isStopped ? null : code, output });
    });
  });
}

function getFolder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'full-disk-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Asserts that the program either runs, or prints one message that names the cause. */
function assertOneSentence({ code, output }: CommandResult, what: string): void {
  assert.ok(!output.includes('It did not end.'), `${what}: ${output}`);
  assert.doesNotMatch(
    output,
    /^\s+at |"at":\[|something is wrong in this program|SIGKILL/m,
    `${what}: ${output}`,
  );
  if (code === null) return;
  assert.equal(code, 2, `${what}: ${output}`);
  const sentences = output.split('\n').filter((line) => line.startsWith('error:'));
  assert.equal(sentences.length, 1, `${what}: ${output}`);
  assert.match(sentences[0]!, CAUSE, what);
}

test('a start that runs into the size that files may have ends with one sentence', async (t) => {
  let refused = 0;
  const sizes = [0, 40, 200];
  for (const blocks of sizes) {
    const dir = getFolder(t);
    writeFileSync(join(dir, 'service.yaml'), 'server: {port: 0}\n');
    const ran = await run(dir, ['serve'], blocks);
    assertOneSentence(ran, `${blocks} blocks`);
    if (ran.code !== null) refused++;
  }
  assert.ok(refused >= 2, `${refused} of ${sizes.length} were refused`);
});

test('init on a full disk reports it, and leaves no file that the next run would keep', async (t) => {
  const dir = getFolder(t);
  const ran = await run(dir, ['init'], 0);
  assertOneSentence(ran, 'init');
  assert.equal(ran.code, 2);
  assert.equal((await run(dir, ['init'], null)).code, 0);
  assert.notEqual(readFileSync(join(dir, 'policies', 'default.yaml'), 'utf8'), '');
  assert.equal((await run(dir, ['policy', 'test'], null)).code, 0);
});

test('a start on a nearly full disk ends with one sentence, wherever the space runs out', async (t) => {
  const disk = mkdtempSync(join(tmpdir(), 'full-disk-'));
  const isMounted = mount(disk);
  t.after(() => {
    if (isMounted) execFileSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true, force: true });
  });
  // Without the permission to mount, the size limits above replace it.
  if (!isMounted) return t.diagnostic('a disk of its own needs root');
  let ranCount = 0;
  for (const freeKb of [0, 60, 450]) {
    const dir = join(disk, `free-${freeKb}`);
    mkdirSync(dir);
    writeFileSync(join(dir, 'service.yaml'), 'server: {port: 0}\n');
    fill(disk, freeKb);
    const ran = await run(dir, ['serve'], null);
    assertOneSentence(ran, `${freeKb} KB`);
    assert.equal(ran.code, 2, ran.output);
    if (freeKb === 0) {
      const doctor = await run(dir, ['doctor'], null);
      assert.match(doctor.output, /fail +The disk of the state folder .* is full/);
    }
    rmSync(join(disk, 'fill'));
    rmSync(dir, { recursive: true });
    ranCount++;
  }
  assert.equal(ranCount, 3);
});

function mount(disk: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Fills the disk except for the given space. */
function fill(disk: string, freeKb: number): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'fill'), Buffer.alloc(bavail * bsize - freeKb * 1_024));
}
