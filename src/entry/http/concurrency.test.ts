import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from './testing/serve.ts';

test('a worker whose requests wait for the disk sheds further ones, and still answers health checks', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'concurrency-'));
  const disk = Promise.withResolvers<void>();
  let waiting = 0;
  const record = (): Promise<void> => {
    waiting += 1;
    return disk.promise;
  };
  const service = await serve({ state_dir: scratch, requests_max: 8, record });
  const scan = () => service.ask({ path: '/v1/scan/input', body: { text: 'hello' } });
  const first = Array.from({ length: 8 }, scan);
  for (let looks = 0; waiting < 8; looks++) {
    assert.ok(looks < 600, 'the requests did not come');
    await sleep(20);
  }
  const shed = await Promise.all(Array.from({ length: 40 }, scan));
  assert.equal(shed.length, 40);
  for (const { status, headers, json } of shed) {
    assert.deepEqual([status, json.code, headers['retry-after']], [503, 'unavailable', '1']);
    assert.equal(json.decision, undefined);
  }
  assert.equal(waiting, 8);
  for (const path of ['/v1/health', '/v1/ready'])
    assert.equal((await service.ask({ path })).status, 200, path);
  disk.resolve();
  assert.deepEqual(new Set((await Promise.all(first)).map(({ status }) => status)), new Set([200]));
  assert.equal((await scan()).status, 200);
  await service.close();
  rmSync(scratch, { recursive: true });
});
