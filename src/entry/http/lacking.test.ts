import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { serve } from './testing/serve.ts';

test('what the interface names and this version lacks is 503 with a sentence, and anything else 404', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'lacking-'));
  const service = await serve({ state_dir: stateDir });
  const rows: readonly [string, number, string, RegExp][] = [
    ['/v1/dashboard/nothing', 503, 'not_configured', /dashboard/],
    ['/v1/alerts', 404, 'not_found', /no such route/],
    ['/v1/intelligence/status', 503, 'not_configured', /not configured/],
    ['/dashboards', 404, 'not_found', /no such route/],
    ['/v1/nothing', 404, 'not_found', /no such route/],
  ];
  try {
    for (const [path, status, code, sentence] of rows) {
      const { json, ...answer } = await service.ask({ path });
      assert.deepEqual([answer.status, json.code], [status, code], path);
      assert.match(json.error, sentence);
    }
  } finally {
    await service.close();
    rmSync(stateDir, { recursive: true });
  }
  assert.equal(rows.length, 5);
});
