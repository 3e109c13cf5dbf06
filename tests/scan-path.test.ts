/** Records the path of `POST /v1/scan/input` from the socket to `judge`, as the real program runs it. It has no limit. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { startTestService } from './support/service.ts';

/** The file that `npm run figures` prints. `UPDATE=1` writes it. */
const RECORDED = resolve(import.meta.dirname, 'support/scan-path/scan-path.json');
const FRAME = /^\s*at (?:async )?(?:(\S+) \()?file:\/\/.*\/(src\/[\w/-]+\.ts):\d+:\d+\)?$/;

test('records the functions from socket to judge', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'scan-path-'));
  const file = join(folder, 'stacks');
  const service = await startTestService({
    workers: 1,
    // The path is measured in the sources, whose functions keep their files.
    main: resolve(import.meta.dirname, '..', 'src', 'entry', 'cli', 'main.ts'),
    env: {
      SCAN_PATH: file,
      NODE_OPTIONS: `--import=${resolve(import.meta.dirname, 'support/scan-path/main.ts')}`,
    },
  });
  try {
    for (let asked = 0; asked < 3; asked += 1) {
      const answer = await fetch(`${service.url}/v1/scan/input`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'hello' }),
      });
      assert.equal(answer.status, 200);
    }
  } finally {
    await service.stop();
  }
  const stacks = readFileSync(file, 'utf8').trim().split('\n');
  const last = JSON.parse(stacks.at(-1)!) as readonly string[];
  rmSync(folder, { recursive: true });
  // The stack is whole: nothing waits between the last byte of the body and `judge`, so no frame is lost.
  assert.ok(last.some((frame) => frame.includes('IncomingMessage.onEnd')));
  const own = last.flatMap((frame) => {
    const [, name = 'anonymous', path] = FRAME.exec(frame) ?? [];
    return path === undefined ? [] : [`${path} ${name}`];
  });
  const hops = own.slice(own.indexOf('src/core/decision/judge.ts judge') + 1).reverse();
  assert.match(hops.join('\n'), /entry\/web\/body\.ts[\s\S]*routes\.ts[\s\S]*call\.ts[\s\S]*enforce\.ts/);
  const text = `${JSON.stringify(hops, null, 2)}\n`;
  if (process.env.UPDATE === '1') writeFileSync(RECORDED, text);
  assert.equal(readFileSync(RECORDED, 'utf8'), text, 'Run this test with UPDATE=1.');
});
