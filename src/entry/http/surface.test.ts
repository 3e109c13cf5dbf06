import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { EXAMPLE_ADAPTER } from '../../operations/testing/adapter.ts';
import { openExampleLlm, startExampleTarget } from '../../operations/testing/upstream.ts';
import { endpoints, operations } from '../../server/operations.ts';
import { llmRoutes } from '../llm/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { type Answer, type ServeOptions, serve, type TestRequest, type TestServer } from './testing/serve.ts';

const scratch = mkdtempSync(join(tmpdir(), 'surface-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** Runs a server for one test. */
async function withService(
  options: Omit<ServeOptions, 'state_dir'>,
  run: (service: TestServer) => Promise<void>,
) {
  const service = await serve({ ...options, state_dir: scratch });
  try {
    await run(service);
  } finally {
    await service.close();
  }
}

test('health returns version, mode, uptime and the seen agents', () =>
  withService({ mode: 'gateway' }, async ({ ask }) => {
    await ask({ path: '/v1/scan/input', body: { text: 'a', agent_id: 'zoe' } });
    await ask({ path: '/v1/scan/input', body: { text: 'a', agent_id: 'adam' } });
    assert.deepEqual((await ask({ path: '/v1/health' })).json, {
      status: 'healthy',
      version: '0.0.0-test',
      mode: 'gateway',
      uptime_seconds: 61,
      agents_seen: ['adam', 'zoe'],
    });
    const strangers = [
      { 'x-forwarded-for': '203.0.113.9' },
      { host: 'evil.test' },
      { origin: 'https://evil.test' },
      { authorization: 'Bearer wrong' },
    ];
    for (const headers of strangers) {
      const { status, json } = await ask({ path: '/v1/health', headers });
      assert.deepEqual([status, json.agents_seen], [200, []], JSON.stringify(headers));
    }
    assert.equal(strangers.length, 4);
  }));

test('readiness is 503 until all stores are open', async () => {
  await withService({}, async ({ ask }) => {
    assert.deepEqual((await ask({ path: '/v1/ready' })).json, { status: 'ready' });
  });
  await withService({ instead: { ready: async () => false } }, async ({ ask }) => {
    const answer = await ask({ path: '/v1/ready' });
    assert.equal(answer.status, 503);
    assert.equal(answer.json.code, 'unavailable');
  });
});

test('metrics follow their configuration', async () => {
  const scraper = { 'x-forwarded-for': '203.0.113.9' };
  await withService({ metrics: { endpoint: '/internal/metrics', public: true } }, async ({ ask }) => {
    const answer = await ask({ path: '/internal/metrics', headers: scraper });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    assert.match(answer.text, /^# HELP service_requests_total/);
    assert.equal((await ask({ path: '/v1/metrics' })).status, 404);
    assert.ok('/internal/metrics' in (await ask({ path: '/openapi.json' })).json.paths);
  });
  await withService({}, async ({ ask }) => {
    assert.equal((await ask({ path: '/v1/metrics' })).status, 200);
    assert.equal((await ask({ path: '/v1/metrics', headers: scraper })).status, 401);
  });
  for (const endpoint of ['/v1/health', '/docs', '/']) {
    await assert.rejects(
      withService({ metrics: { endpoint } }, async () => {}),
      /`metrics.endpoint` is the path of/,
    );
  }
  await withService({ metrics: { enabled: false } }, async ({ ask }) => {
    assert.equal((await ask({ path: '/v1/metrics' })).status, 404);
  });
});

test('a refused reload names the fix, and that the old policy stays active', () =>
  withService(
    {
      instead: {
        reload: async () => ({
          reloaded: false,
          policy_hash: 'sha256:0',
          problems: [{ file: 'policies/a.yaml', path: 'policies[0].action', message: 'is not an action.' }],
        }),
      },
      auth: {},
    },
    async ({ ask }) => {
      const { ensureToken } = await import('../../runtime/access/tokens.ts');
      const headers = { authorization: `Bearer ${ensureToken(scratch, 'operator').token}` };
      const answer = await ask({ path: '/v1/policies/reload', method: 'POST', headers });
      assert.equal(answer.status, 409);
      assert.equal(answer.json.code, 'policy_invalid');
      assert.deepEqual(answer.json.details, [
        { path: 'policies/a.yaml: policies[0].action', message: 'is not an action.' },
      ]);
    },
  ));

test('the API description is valid OpenAPI 3.1 and names every operation once', () =>
  withService({}, async ({ ask }) => {
    const answer = await ask({ path: '/openapi.json', headers: { 'x-forwarded-for': '203.0.113.9' } });
    assert.equal(answer.status, 200);
    const checked = await new Validator().validate(answer.json);
    assert.deepEqual(checked, { valid: true });
    assert.equal(answer.json.openapi, '3.1.0');
    const described = Object.entries<Record<string, { operationId: string }>>(answer.json.paths).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method} ${path}`),
    );
    const offered = [...operations, ...llmRoutes, ...eventRoutes].map(
      ({ name, http }) => `${name} ${http.method.toLowerCase()} ${http.path}`,
    );
    assert.deepEqual(described.sort(), offered.sort());
    const file = answer.json.paths['/v1/scan/file'].post.requestBody.content;
    assert.deepEqual(Object.keys(file), ['application/json', 'multipart/form-data']);
    assert.equal(answer.json.paths['/v1/policies/templates/{template_name}'].get.parameters[0].in, 'path');
    assert.ok(!answer.text.includes('\\\\p{'), 'Python has no such classes');
    for (const { http } of llmRoutes.filter(({ http }) => http.method === 'POST'))
      assert.ok(answer.json.paths[http.path].post.requestBody.content['application/json'].example, http.path);
  }));

/** Permissions that the callers of these tests lack. */
const PERSONS = [
  'approvals:decide',
  'audit:export',
  'audit:manage',
  'policy:reload',
  'secrets:check',
  'secrets:resolve',
  'sessions:reset',
  'tenants:manage',
  'policies:edit',
  'keys:manage',
  'alerts:manage',
  'settings:read',
  'compliance:verify',
];

test('what is answered is what the description says', async (t) =>
  withService(
    { file_roots: [], proxy: await startExampleTarget(t), llm: openExampleLlm(t) },
    async ({ ask, events, endpoints: counted }) => {
      const { Compile } = await import('typebox/schema');
      let ran = 0;
      for (const {
        name,
        http,
        permission,
        needs,
        example,
        answer: shown,
        output,
        unavailable,
        counts_checks,
        for_users,
        input,
      } of operations) {
        assert.ok(Compile(input).Check(example), `${name} example`);
        if (shown !== null) assert.ok(Compile(output).Check(shown), `${name} answer`);
        const isElsewhere = PERSONS.includes(permission as string) || needs === 'store';
        if (unavailable !== undefined || isElsewhere || http.produces !== undefined) continue;
        const path = http.path.replace(/\{(\w+)\}/g, (_whole, key: string) =>
          key === 'event_id' ? events[0]!.event_id : ((example as Record<string, string>)[key] ?? ''),
        );
        const headers: Record<string, string> = for_users === undefined ? {} : { 'x-service-user': 'admin' };
        const answer = await ask(
          http.method === 'GET' ? { path, headers } : { path, headers, body: example },
        );
        assert.equal(answer.status, 200, answer.text);
        const validator = Compile(output);
        assert.ok(validator.Check(answer.json), `${name} ${JSON.stringify(validator.Errors(answer.json))}`);
        assert.deepEqual(findUnknownFields(output, answer.json), [], name);
        if (counts_checks === true) assert.ok(counted.has(name), name);
        ran++;
      }
      assert.equal(ran, 36);
      for (const endpoint of counted) assert.ok(endpoints.includes(endpoint), endpoint);
      assert.ok(counted.size >= 6);
    },
  ));

test('the errors that are described are those that happen', () =>
  withService({ file_roots: [scratch], body_bytes_max: 1_000, mode: 'gateway' }, async ({ ask }) => {
    const { paths } = (await ask({ path: '/openapi.json' })).json;
    const json = { 'content-type': 'application/json' };
    const wrong = { headers: { 'x-service-key': 'wrong' } };
    const long = { body: JSON.stringify({ text: 'a'.repeat(2_000) }), headers: json };
    const cases: readonly [string, Omit<TestRequest, 'path'>, number, string][] = [
      ['/v1/scan/input', { body: '{', headers: json }, 400, 'invalid_request'],
      ['/v1/scan/input', { body: { text: 'a' }, ...wrong }, 401, 'unauthenticated'],
      ['/v1/scan/input', long, 413, 'too_large'],
      [
        '/v1/scan/input',
        { body: 'text=a', headers: { 'content-type': 'text/plain' } },
        415,
        'unsupported_media_type',
      ],
      ['/v1/scan/file', { body: { path: 'none.txt' } }, 404, 'not_found'],
      ['/v1/intercept/tool', { body: { tool: 'a' } }, 400, 'agent_context_required'],
      ['/v1/intelligence/status', {}, 503, 'not_configured'],
      ['/v1/metrics', wrong, 401, 'unauthenticated'],
      ['/v1/policies/reload', { method: 'POST' }, 403, 'forbidden'],
    ];
    let compared = 0;
    for (const [path, requested, status, code] of cases) {
      const answer = await ask({ path, ...requested });
      assert.deepEqual([answer.status, answer.json.code], [status, code], path);
      const { description, content } = getDescribedError(paths[path], status);
      assert.ok(description.includes(`\`${code}\``), `${path} ${status} ${code}`);
      const { example } = content['application/json'];
      if (example?.code !== code) continue;
      assert.deepEqual({ ...answer.json, request_id: '' }, { ...example, request_id: '' }, path);
      compared++;
    }
    assert.equal(compared, 5);
    const status = paths['/v1/intelligence/status'].get.responses;
    assert.ok('200' in status && '503' in status, 'a layer that is off is described like one that is on');
    assert.ok(!('413' in paths['/v1/health'].get.responses));
  }));

interface DescribedError {
  readonly description: string;
  readonly content: Record<'application/json', { readonly example?: { readonly code: string } }>;
}

/** Returns the description of an error for the one operation of a path. */
function getDescribedError(path: object, status: number): DescribedError {
  const [operation] = Object.values(path) as { responses: Record<string, DescribedError> }[];
  const described = operation?.responses[status];
  assert.ok(described !== undefined, `${status}`);
  return described;
}

/** Lists fields of an answer that its schema does not name. */
function findUnknownFields(schema: unknown, value: unknown, path = ''): string[] {
  const { properties, items } = schema as { properties?: Record<string, unknown>; items?: unknown };
  if (Array.isArray(value))
    return items === undefined ? [] : value.flatMap((one) => findUnknownFields(items, one, `${path}[]`));
  if (properties === undefined || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key in properties ? findUnknownFields(properties[key], one, `${path}.${key}`) : [`${path}.${key}`],
  );
}

test('the root redirects browsers and lists links for programs', () =>
  withService({}, async ({ ask }) => {
    const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
    const page = await ask({ path: '/?last=7d', headers: browser });
    assert.deepEqual([page.status, page.headers.location], [308, '/dashboard/?last=7d']);
    for (const accept of ['*/*', 'application/json']) {
      const { status, json } = await ask({ path: '/', headers: { accept } });
      assert.equal(status, 200);
      for (const path of Object.values<string>(json)) {
        const { status } = await ask({ path, headers: browser });
        assert.ok(status < 400, path);
      }
    }
    assert.equal((await ask({ path: '/', method: 'POST', body: {} })).status, 404);
  }));

test('the docs pages load nothing from elsewhere', () =>
  withService({}, async ({ ask }) => {
    for (const path of ['/docs', '/redoc']) {
      const page = await ask({ path });
      assert.equal(page.status, 200);
      assert.match(String(page.headers['content-type']), /^text\/html/);
      const policy = String(page.headers['content-security-policy']);
      assert.match(policy, /default-src 'none'/);
      assert.doesNotMatch(policy, /script-src[^;]*unsafe|https?:|\*/);
      assert.equal(page.headers['x-frame-options'], 'DENY');
      assert.doesNotMatch(page.text, /https?:|\/\/|<script>/);
      const loaded = [...page.text.matchAll(/(?:src|href|spec-url)="([^"]+)"/g)].map(
        (match) => match[1] ?? '',
      );
      assert.ok(loaded.length >= 2, path);
      for (const address of loaded) {
        const { status, text } = await ask({ path: new URL(address, `http://x${path}`).pathname });
        assert.equal(status, 200, address);
        assert.ok(text.length > 100, address);
        assert.doesNotMatch(text, /cdn\.redoc/, address);
      }
    }
    for (const path of [
      '/docs/../server.ts',
      '/docs/%2e%2e/server.ts',
      '/docs/nothing.js',
      '/redoc/redoc.standalone.js.map',
    ]) {
      assert.equal((await ask({ path })).status, 404, path);
    }
  }));

test('HEAD and OPTIONS', () =>
  withService({}, async ({ ask }) => {
    const head = await ask({ path: '/v1/health', method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [200, '']);
    const cases: readonly [string, string, number, string | undefined][] = [
      ['OPTIONS', '/v1/health', 204, 'GET, HEAD, OPTIONS'],
      ['OPTIONS', '/v1/scan/input', 204, 'POST, OPTIONS'],
      ['OPTIONS', '/v1/policies/templates/finance', 204, 'GET, HEAD, OPTIONS'],
      ['OPTIONS', '/v1/nothing', 404, undefined],
      ['HEAD', '/v1/scan/input', 405, 'POST, OPTIONS'],
      ['PUT', '/v1/policies/reload', 405, 'POST, OPTIONS'],
      ['DELETE', '/v1/policies/templates/finance', 405, 'GET, HEAD, OPTIONS'],
      ['PATCH', '/v1/policies/templates/a/b', 404, undefined],
    ];
    for (const [method, path, status, allow] of cases) {
      const answer = await ask({ method, path });
      assert.deepEqual([answer.status, answer.headers.allow], [status, allow], `${method} ${path}`);
    }
  }));

test('no origin may read without being named; a named one may', async () => {
  const preflight = { origin: 'https://app.test', 'access-control-request-method': 'POST' };
  const cors = (answer: Answer) => answer.headers['access-control-allow-origin'];
  await withService({}, async ({ ask }) => {
    assert.equal(
      cors(await ask({ path: '/v1/scan/input', method: 'OPTIONS', headers: preflight })),
      undefined,
    );
    assert.equal(cors(await ask({ path: '/v1/health', headers: { origin: 'https://app.test' } })), undefined);
  });
  await withService({ cors_origins: ['https://app.test'] }, async ({ ask }) => {
    const answer = await ask({ path: '/v1/scan/input', method: 'OPTIONS', headers: preflight });
    assert.equal(answer.status, 204);
    assert.equal(cors(answer), 'https://app.test');
    assert.match(String(answer.headers['access-control-allow-methods']), /POST/);
    assert.equal(answer.headers['access-control-allow-credentials'], undefined);
    const other = await ask({
      path: '/v1/scan/input',
      method: 'OPTIONS',
      headers: { ...preflight, origin: 'https://evil.test' },
    });
    assert.notEqual(cors(other), 'https://evil.test');
    const scan = { path: '/v1/scan/input', body: { text: 'a' } };
    const named = await ask({ ...scan, headers: { origin: 'https://app.test' } });
    assert.deepEqual([named.status, cors(named)], [200, 'https://app.test']);
    // The page that sent the request can read the refusal.
    const wrong = await ask({ ...scan, headers: { origin: 'https://app.test', 'x-service-key': 'wrong' } });
    assert.deepEqual([wrong.status, cors(wrong)], [401, 'https://app.test']);
    assert.equal((await ask({ ...scan, headers: { origin: 'https://evil.test' } })).status, 401);
  });
});

test('a caller may name its request, if the name is fit for a log', () =>
  withService({}, async ({ ask }) => {
    const idFor = async (given: string) => {
      const answer = await ask({ path: '/v1/nothing', headers: { 'x-request-id': given } });
      assert.equal(answer.json.request_id, answer.headers['x-request-id']);
      return answer.json.request_id as string;
    };
    assert.equal(await idFor('trace-7:a.b_c'), 'trace-7:a.b_c');
    for (const given of ['', 'a b', '<script>', 'a'.repeat(129), 'é'])
      assert.match(await idFor(given), /^req_[0-9a-f]{12}_\w+$/);
    assert.notEqual(await idFor(''), await idFor(''));
    const scan = { path: '/v1/scan/input', body: { text: 'a' } };
    const named = await ask({ ...scan, headers: { 'x-request-id': 'mine' } });
    assert.deepEqual([named.status, named.headers['x-request-id']], [200, 'mine']);
    assert.equal((await ask(scan)).headers['x-request-id'], undefined);
  }));

test('no answer is kept by a cache, or taken for another type', () =>
  withService({}, async ({ ask }) => {
    for (const path of ['/v1/health', '/v1/metrics', '/v1/nothing', '/docs']) {
      const { headers } = await ask({ path });
      assert.deepEqual(
        [headers['cache-control'], headers['x-content-type-options']],
        ['no-store', 'nosniff'],
        path,
      );
    }
  }));

const SECRET = 'zqxFAULTxqz';
const EXAMPLE_ID = 'req_0123456789ab_1';
const throwing = () => {
  throw Object.assign(new Error(SECRET), { code: 'EFAULT' });
};

test('a fault of ours blocks, is logged without its text, and says nothing more', async (t) =>
  withService(
    { proxy: await startExampleTarget(t), instead: { enforce: throwing, agentsSeen: throwing } },
    async ({ ask, logged }) => {
      const { paths } = (await ask({ path: '/openapi.json' })).json;
      const checks = operations.filter(
        ({ permission, needs }) => permission === 'check' && needs === 'policy',
      );
      assert.equal(checks.length, 8);
      for (const { http, example } of checks) {
        const path = http.path.replace('{adapter_name}', EXAMPLE_ADAPTER.name);
        const answer = await ask({ path, body: example });
        assert.equal(answer.status, 500, http.path);
        assert.deepEqual(Object.keys(answer.json), ['error', 'code', 'decision', 'request_id']);
        assert.deepEqual([answer.json.code, answer.json.decision], ['internal_error', 'block']);
        const { content } = getDescribedError(paths[http.path], 500);
        assert.partialDeepStrictEqual(content['application/json'].example, {
          ...answer.json,
          request_id: EXAMPLE_ID,
        });
        assert.ok(!answer.text.includes(SECRET));
      }
      const health = await ask({ path: '/v1/health' });
      assert.deepEqual([health.status, 'decision' in health.json], [500, false]);
      assert.equal(logged.length, 9);
      assert.ok(!logged.join().includes(SECRET));
      assert.match(logged[0] ?? '', /"request_id":.*"code":"EFAULT"/);
    },
  ));

test('a decision that cannot be recorded is a 500 that blocks', () =>
  withService({ record: async () => throwing() }, async ({ ask }) => {
    const answer = await ask({ path: '/v1/scan/input', body: { text: 'hello' } });
    assert.equal(answer.status, 500);
    assert.partialDeepStrictEqual(answer.json, {
      decision: 'block',
      code: 'internal_error',
      rule: 'fault.audit',
      violations: [],
    });
    assert.equal(typeof answer.json.request_id, 'string');
    assert.equal(typeof answer.json.error, 'string');
    assert.ok(!answer.text.includes(SECRET));
  }));

test('what is in flight is answered when the server closes', async () => {
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  const service = await serve({ state_dir: scratch, record: () => held });
  const requested = service.ask({ path: '/v1/scan/input', body: { text: 'hello' } });
  // An answer on another connection proves that the first request has arrived.
  await service.ask({ path: '/v1/health' });
  const closed = service.close();
  await new Promise((done) => setImmediate(done));
  release();
  assert.equal((await requested).json.decision, 'allow');
  await closed;
  await assert.rejects(service.ask({ path: '/v1/health' }), { code: 'ECONNREFUSED' });
});
