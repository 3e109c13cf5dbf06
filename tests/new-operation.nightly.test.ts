/** An operation is added with one file and one line of a list; every other place derives it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ownNodeEnvironment, runProgram } from './support/checkout.ts';
import { copySource, extensions } from './support/extensions.ts';
import { startTestService } from './support/service.ts';

test('an operation in a file and a line is a route, an OpenAPI entry, a tool, a verb, a label and needs its permission', async () => {
  const copy = copySource(extensions.operation);
  const made = await runProgram([process.execPath, join(copy, 'scripts/generate/main.ts')]);
  assert.equal(made.code, 0, made.stderr);
  const main = join(copy, 'src', 'entry', 'cli', 'main.ts');
  const keys = { checks: 'svc_checks', reads: 'svc_reads' };
  const keyFor = (key: string, permissions: readonly string[]) => ({
    id: key.slice(4),
    sha256: createHash('sha256').update(key).digest('hex'),
    permissions,
  });
  const service = await startTestService({
    main,
    config: {
      auth: {
        required: true,
        api_keys: [keyFor(keys.checks, ['check']), keyFor(keys.reads, ['metrics:read'])],
      },
      metrics: { public: true },
    },
  });
  const ask = (path: string, key?: string, body?: object) =>
    fetch(`${service.url}${path}`, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(key !== undefined && { 'x-service-key': key }),
      },
    });
  try {
    const counted = async () => (await ask('/v1/metrics')).text();
    assert.match(await counted(), /requests_total\{endpoint="review_poem",decision="allow"\} 0/);

    const answer = await ask('/v1/review/poem', keys.checks, { text: 'roses' });
    assert.deepEqual(
      [answer.status, ((await answer.json()) as { decision: string }).decision],
      [200, 'allow'],
    );
    const refused = await ask('/v1/review/poem', keys.checks, { poem: 'roses' });
    assert.equal(refused.status, 400);
    assert.equal((await ask('/v1/review/poem', undefined, { text: 'roses' })).status, 401);
    assert.equal((await ask('/v1/review/poem', keys.reads, { text: 'roses' })).status, 403);
    assert.match(await counted(), /requests_total\{endpoint="review_poem",decision="allow"\} 1/);

    const { paths } = (await (await ask('/openapi.json', keys.checks)).json()) as {
      paths: Record<string, { post: { operationId: string } }>;
    };
    assert.equal(paths['/v1/review/poem']?.post.operationId, 'review_poem');

    const listed = await ask('/mcp', keys.checks, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
      params: {},
    });
    assert.match(await listed.text(), /"name":"review_poem"/);

    const run = (...words: string[]) =>
      runProgram([process.execPath, main, ...words], { cwd: service.dir, env: ownNodeEnvironment() });
    assert.match((await run('--help')).stdout, /^ {2}poems +review a poem$/m);
    assert.match((await run('poems', 'review', '--help')).stdout, /<text>[\s\S]*--agent <agent_id>/);
    assert.match((await run('completion', 'bash')).stdout, /poems review/);
    const ran = await run('poems', 'review', 'roses', '--agent', 'poet');
    assert.deepEqual([ran.code, ran.stdout], [0, 'The poem: allow\n'], ran.stderr);
  } finally {
    await service.stop();
    rmSync(copy, { recursive: true, force: true });
  }
});
