import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { readServerFile } from './server-file.ts';

const BYTES_MAX = 100_000;

/** `roots/inner/file` inside, and outside of the roots what `roots/link` leads to. */
function makeRoots(t: TestContext): string {
  const scratch = mkdtempSync(join(tmpdir(), 'server-file-'));
  t.after(() => rmSync(scratch, { recursive: true, force: true }));
  const roots = join(scratch, 'roots');
  mkdirSync(join(roots, 'inner'), { recursive: true });
  mkdirSync(join(scratch, 'outside'));
  writeFileSync(join(roots, 'inner/file'), 'inside');
  writeFileSync(join(scratch, 'outside/file'), 'outside');
  symlinkSync(join(scratch, 'outside'), join(roots, 'link'));
  return roots;
}

test('no file outside is read, however fast a folder and a link take turns', async (t) => {
  const roots = makeRoots(t);
  const swapping = new Worker(new URL('./testing/swap-links.ts', import.meta.url), { workerData: { roots } });
  const seen = new Map<string, number>();
  const until_ms = Date.now() + 1_500;
  while (Date.now() < until_ms) {
    const read = await readServerFile('inner/file', [roots], BYTES_MAX).then(String, ({ code }) => code);
    seen.set(read, (seen.get(read) ?? 0) + 1);
  }
  await swapping.terminate();
  assert.deepEqual([...seen.keys()].sort(), ['inside', 'not_found']);
});

test('a file is read to its end, whatever it says of its size', {
  skip: process.platform !== 'linux',
}, async () => {
  const read = await readServerFile('limits', ['/proc/self'], BYTES_MAX);
  assert.match(String(read), /Max open files/);
  await assert.rejects(readServerFile('limits', ['/proc/self'], 100), { code: 'too_large' });
});

test('a file of just the size that is allowed is read, and none that is larger', async (t) => {
  const roots = makeRoots(t);
  for (const size of [0, 1, 65_535, 65_536, 65_537, BYTES_MAX]) {
    writeFileSync(join(roots, 'sized'), 'a'.repeat(size));
    assert.equal((await readServerFile('sized', [roots], BYTES_MAX)).length, size);
  }
  writeFileSync(join(roots, 'sized'), 'a'.repeat(BYTES_MAX + 1));
  await assert.rejects(readServerFile('sized', [roots], BYTES_MAX), { code: 'too_large' });
});
