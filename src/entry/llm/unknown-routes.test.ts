import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { serve } from '../http/testing/serve.ts';

const OPENAI = (body: { error: { message: string; code: string } }) => [body.error.code, body.error.message];
const ANTHROPIC = (body: { type: string; error: { type: string; message: string } }) => [
  body.type === 'error' && body.error.type === 'not_found_error' ? 'not_found' : body.type,
  body.error.message,
];
const GEMINI = (body: { error: { status: string; message: string } }) => [
  body.error.status.toLowerCase(),
  body.error.message,
];

test('a route of a provider that is not served is an error in the shape of its API', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'unknown-'));
  const service = await serve({ state_dir: stateDir });
  try {
    const rows = [
      ['/v1/files', OPENAI, /not served/],
      ['/v1/images/generations', OPENAI, /not served/],
      ['/v1/responses/r1', OPENAI, /not served/],
      ['/chat/completions', OPENAI, /must end in `\/v1`/],
      ['/openai/deployments/m/chat/completions', OPENAI, /not served/],
      ['/v1/messages/batches', ANTHROPIC, /not served/],
      ['/v1/v1/messages', ANTHROPIC, /must not/],
      ['/v1beta/models/m:countTokens/x', GEMINI, /not served/],
    ] as const;
    for (const [path, read, message] of rows) {
      const answer = await service.ask({ path, method: 'POST', body: {} });
      assert.equal(answer.status, 404, path);
      const [code, text] = read(answer.json);
      assert.equal(code, 'not_found', path);
      assert.match(text!, message, path);
      assert.equal(answer.headers['x-request-id'], answer.json.request_id, path);
    }
    assert.equal(rows.length, 8);
    for (const path of ['/v1/nothing', '/', '/v1/filesystem'])
      assert.deepEqual(
        (await service.ask({ path, method: 'POST', body: {} })).json.error,
        'There is no such route.',
      );
  } finally {
    await service.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
});
