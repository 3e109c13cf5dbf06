/** An operation is added with one file and one line of a list; every other place derives it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ownNodeEnvironment, root, runProgram } from './support/checkout.ts';
import { startTestService } from './support/service.ts';

const RECORD = `
import { check } from './check.ts';
import { checkBody } from './check-body.ts';
import { defineOperation } from './operation.ts';
import { aboutText, textCrossing } from './scan.ts';
import { verdictProperties, verdictRequired } from './shapes.ts';

export const reviewPoem = defineOperation({
  name: 'review_poem',
  summary: 'Review a poem',
  description: 'Decides on a poem by the input rules.',
  http: { method: 'POST', path: '/v1/review/poem' },
  mcp: { tool: 'review_poem', read_only: true },
  cli: {
    verb: 'poems review',
    arguments: ['text'],
    options: ['agent_id'],
    line: ({ decision }: { readonly decision: string }) => 'The poem: ' + decision,
    examples: [['service poems review roses', '']],
  },
  permission: 'check',
  counts_checks: true,
  needs: 'policy',
  check_body: {},
  input: checkBody({
    type: 'object',
    required: ['text'],
    properties: { text: { type: 'string' }, ...aboutText },
  }),
  output: { type: 'object', required: verdictRequired, properties: verdictProperties },
  example: { text: 'roses' },
  answer: null,
  async run(input, context) {
    const crossing = textCrossing('input', { kind: 'text', text: input.text }, input, context);
    return (await check({ crossing, endpoint: 'review_poem', matches: false }, context)).reply;
  },
});
`;

/** Copies the sources and adds the operation to the copy. */
function copyWithOperation(): string {
  const copy = mkdtempSync(join(tmpdir(), 'new-operation-'));
  cpSync(join(root, 'src'), join(copy, 'src'), { recursive: true });
  for (const name of ['package.json', 'data', 'skills', 'integrations'])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'src', 'operations', 'review-poem.ts'), RECORD);
  const list = join(copy, 'src', 'server', 'operations.ts');
  const text = readFileSync(list, 'utf8');
  const changed = text.replace(
    'export const operationCatalogue = {',
    "import { reviewPoem } from '../operations/review-poem.ts';\nexport const operationCatalogue = { reviewPoem,",
  );
  assert.notEqual(changed, text);
  writeFileSync(list, changed);
  return copy;
}

test('an operation in a file and a line is a route, an OpenAPI entry, a tool, a verb, a label and needs its permission', async () => {
  const copy = copyWithOperation();
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
