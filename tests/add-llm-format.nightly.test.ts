/** An API family and an LLM format are each added with one file and one line of a list; every other place derives them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { copySource, extensions } from './support/extensions.ts';
import { startTestService } from './support/service.ts';

const ANSWER = {
  id: 'a1',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' } }],
};
const BLOCKED = 'Write to jane.miller@mail.northwind.com.';

async function openProvider() {
  const seen: { path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    seen.push({ path: request.url ?? '', headers: request.headers });
    response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { seen, port: (server.address() as AddressInfo).port, close: () => server.close() };
}

test('a family and a format are a setting, a route, an OpenAPI entry, a key header, an error format and a page', async () => {
  const copy = copySource(extensions['API family'], extensions['LLM format']);
  const provider = await openProvider();
  try {
    const service = await startTestService({
      main: join(copy, 'src/entry/cli/main.ts'),
      env: { FAKE_KEY: ['key', 'of', 'fake'].join('-') },
      config: {
        pii_protection: { enabled: true, action: 'block' },
        proxy: {
          providers: [
            {
              name: 'one',
              family: 'fake',
              base_url: `http://127.0.0.1:${provider.port}`,
              api_key: ['$', '{FAKE_KEY}'].join(''),
            },
          ],
        },
      },
    });
    const ask = (path: string, content: string) =>
      fetch(`${service.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
      });
    try {
      const answer = await ask('/v1/fake/talk', 'hi');
      assert.deepEqual(await answer.json(), ANSWER);
      assert.deepEqual(
        provider.seen.map(({ path, headers }) => [path, headers['x-fake-key']]),
        [['/v1/fake/talk', 'Fake key-of-fake']],
      );
      const denied = await ask('/v1/fake/talk', BLOCKED);
      assert.ok(denied.headers.get('x-fake-id'));
      assert.equal(((await denied.json()) as { error: { code: string } }).error.code, 'policy_violation');
      const unknown = await ask('/v1/fake/none', 'hi');
      assert.deepEqual(
        [unknown.status, Object.keys((await unknown.json()) as object).includes('error')],
        [404, true],
      );
      assert.equal(provider.seen.length, 1);
      const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
        paths: Record<string, { post: { operationId: string } }>;
      };
      assert.equal(paths['/v1/fake/talk']?.post.operationId, 'fake_talk');
    } finally {
      await service.stop();
    }

    const { findApiRoute } = (await import(
      join(copy, 'src/gateways/llm/api-routes.ts')
    )) as typeof import('../src/gateways/llm/api-routes.ts');
    const kindOf = (path: string) =>
      findApiRoute(new URL(path, 'https://else.example'), 'POST')?.kind ?? null;
    assert.deepEqual(['/x/fake/talk', '/x/fake/other', '/x/fake/none'].map(kindOf), [
      'served',
      'unserved',
      null,
    ]);

    const made = spawnSync(process.execPath, [join(copy, 'scripts/generate/main.ts')], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    const read = (path: string) => readFileSync(join(copy, path), 'utf8');
    assert.match(
      read('docs/reference/configuration.md'),
      /`proxy\.providers\[\]\.family` \| `fake`, `openai`,/,
    );
    assert.match(
      read('docs/reference/llm-proxy.md'),
      /^\| `POST \/v1\/fake\/talk` \| `fake\.talk` \| Fake API \|$/m,
    );
    assert.match(
      read('schemas/service.schema.json').replaceAll(/\s/g, ''),
      /"enum":\["fake","openai","anthropic","gemini"\]/,
    );
  } finally {
    provider.close();
    rmSync(copy, { recursive: true, force: true });
  }
});

test('without their lines in the lists they are nowhere', async () => {
  await assert.rejects(
    startTestService({ config: { proxy: { providers: [{ name: 'one', family: 'fake' }] } } }),
    /`proxy\.providers\[0\]\.family` must be one of `openai`, `anthropic`, `gemini`/,
  );
  const service = await startTestService({});
  try {
    const answer = await fetch(`${service.url}/v1/fake/talk`, { method: 'POST' });
    assert.equal(answer.status, 404);
  } finally {
    await service.stop();
  }
});
