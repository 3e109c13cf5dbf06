import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasMoreNodes } from '../web/json-size.ts';
import { serve } from './testing/serve.ts';

const texts: readonly { text: string; over: number; within: number }[] = [
  { text: '[0,0,0,0,0,0,0,0]', over: 7, within: 9 },
  { text: '{"a":1,"b":2,"c":3}', over: 5, within: 8 },
  { text: '[[],[],[],[],[],[]]', over: 6, within: 13 },
  { text: '["a,b,c:[{","\\",,,,,,,,,"]', over: 2, within: 3 },
  { text: '["\\\\",0,0,0,0,0,0,0,0]', over: 8, within: 10 },
  { text: '"unterminated ,,,,,,,,,', over: 0, within: 1 },
];

test('a body is known to have too many parts before it is parsed', () => {
  let ran = 0;
  for (const { text, over, within } of texts) {
    assert.equal(hasMoreNodes(Buffer.from(text), over), true, text);
    assert.equal(hasMoreNodes(Buffer.from(text), within), false, text);
    ran++;
  }
  assert.equal(ran, texts.length);
});

test('a body with more parts than the limit is blocked, and one with far more is refused unparsed', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'json-size-'));
  // The policy of this test allows 200,000 values in a check.
  const service = await serve({ state_dir: scratch });
  const payload = (keys: number) =>
    Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${at.toString(36)}`, true]));
  const scan = (keys: number) =>
    service.ask({ path: '/v1/scan/structured', body: { payload: payload(keys) } });
  const within = await scan(90_000);
  assert.deepEqual([within.status, within.json.coverage], [200, 'full']);
  const over = await scan(120_000);
  assert.deepEqual([over.status, over.json.decision, over.json.coverage], [200, 'block', 'partial']);
  const farOver = await scan(400_000);
  assert.deepEqual([farOver.status, farOver.json.code], [413, 'too_large']);
  assert.match(farOver.json.error, /400000 keys and values/);
  await service.close();
  rmSync(scratch, { recursive: true });
});
