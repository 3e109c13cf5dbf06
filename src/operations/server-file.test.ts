import assert from 'node:assert/strict';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { readServerFile, type ServerFilePlaces } from './server-file.ts';

const BYTES_MAX = 100_000;

/** Creates `roots/inner/file` inside the roots, and a folder outside of them that `roots/link` points to. */
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

const below = (root: string): ServerFilePlaces => ({ file_roots: [root], state_dir: join(root, '.service') });

test('no file of the service’s own state is read, on whatever way', async (t) => {
  const roots = makeRoots(t);
  mkdirSync(join(roots, '.service'));
  writeFileSync(join(roots, '.service/token'), 'private');
  writeFileSync(join(roots, '.service-notes'), 'public');
  symlinkSync(join(roots, '.service/token'), join(roots, 'way'));
  symlinkSync(roots, join(roots, 'round'));
  mkdirSync(join(roots, '.service/keys'));
  writeFileSync(join(roots, '.service/keys/a.private.pem'), 'private');
  linkSync(join(roots, '.service/token'), join(roots, 'hard'));
  linkSync(join(roots, '.service/keys/a.private.pem'), join(roots, 'inner/hard'));
  linkSync(join(roots, '.service-notes'), join(roots, 'other'));
  for (const path of [
    '.service/token',
    'way',
    'hard',
    'inner/hard',
    'round/.service/token',
    join(roots, '.service/token'),
  ])
    await assert.rejects(readServerFile(path, below(roots), BYTES_MAX), { code: 'not_found' }, path);
  const stateDir = join(roots, 'round/.service');
  const linked = { file_roots: [roots, join(roots, '.service')], state_dir: stateDir };
  await assert.rejects(readServerFile('token', linked, BYTES_MAX), { code: 'not_found' });
  assert.equal(String(await readServerFile('other', below(roots), BYTES_MAX)), 'public');
  assert.equal(String(await readServerFile('.service-notes', below(roots), BYTES_MAX)), 'public');
});

test('no file outside is read, however fast a folder and a link take turns', async (t) => {
  const roots = makeRoots(t);
  const swapping = new Worker(new URL('./testing/swap-links.ts', import.meta.url), { workerData: { roots } });
  const seen = new Map<string, number>();
  const untilMs = Date.now() + 1_500;
  while (Date.now() < untilMs) {
    const read = await readServerFile('inner/file', below(roots), BYTES_MAX).then(String, ({ code }) => code);
    seen.set(read, (seen.get(read) ?? 0) + 1);
  }
  await swapping.terminate();
  assert.deepEqual([...seen.keys()].sort(), ['inside', 'not_found']);
});

test('a file is read to its end, whatever it says of its size', {
  skip: process.platform !== 'linux',
}, async () => {
  const read = await readServerFile('limits', below('/proc/self'), BYTES_MAX);
  assert.match(String(read), /Max open files/);
  await assert.rejects(readServerFile('limits', below('/proc/self'), 100), { code: 'too_large' });
});

test('a file of exactly the size limit is read, and a larger one is not', async (t) => {
  const roots = makeRoots(t);
  for (const size of [0, 1, 65_535, 65_536, 65_537, BYTES_MAX]) {
    writeFileSync(join(roots, 'sized'), 'a'.repeat(size));
    assert.equal((await readServerFile('sized', below(roots), BYTES_MAX)).length, size);
  }
  writeFileSync(join(roots, 'sized'), 'a'.repeat(BYTES_MAX + 1));
  await assert.rejects(readServerFile('sized', below(roots), BYTES_MAX), { code: 'too_large' });
});
