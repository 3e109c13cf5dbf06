import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import { openLlmProxy } from '../../gateways/llm/llm-proxy.ts';
import { parseProxySettings } from '../../gateways/upstream/testing/test-upstreams.ts';
import { openUpstreams } from '../../gateways/upstream/upstreams.ts';
import type { Budgets } from '../../operations/model-costs.ts';
import { hashToken } from '../../runtime/access/tokens.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { buildExamplePorts } from '../../server/testing/examples.ts';
import { type ServeOptions, serve, type TestServer } from '../http/testing/serve.ts';

const SECRET = ['AKIA', 'QYLPMN5HHHFPWXYZ'].join('');
const KEY = ['svc', 'key', 'a'.repeat(32)].join('_');
const scratch = mkdtempSync(join(tmpdir(), 'llm-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

interface ProviderRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface ReceivedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Desk extends TestServer {
  readonly received: ProviderRequest[];
  readonly decided: AuditEvent[];
}

const PLAIN: ReceivedAnswer = {
  body: '{"id":"c1","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}]}',
};

const NO_COST = { micro_usd: 0, is_assumed: true };
const FREE: Budgets = {
  reserve: async () => ({ settle: async () => NO_COST, computeCost: () => NO_COST }),
};

/** Runs the service in front of a provider that gives every call the same answer. */
async function runCalls(
  answered: ReceivedAnswer,
  options: Partial<ServeOptions>,
  work: (desk: Desk) => Promise<void>,
  budgets: Budgets = FREE,
): Promise<void> {
  const received: ProviderRequest[] = [];
  const provider = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { url = '', headers } = request;
    received.push({ path: url, headers, body: Buffer.concat(chunks).toString() });
    const type = { 'content-type': 'application/json' };
    response.writeHead(answered.status ?? 200, { ...type, ...answered.headers });
    response.end(answered.body);
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const target = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const decided: AuditEvent[] = [];
  const operations = buildExamplePorts(decided, { policy: buildTestPolicy() });
  const llm = openLlmProxy({
    ports: () => operations,
    presentCapability: () => Promise.reject(new Error('This test has no capabilities.')),
    upstreams: openUpstreams(parseProxySettings({ target })),
    budgets,
    settings: { mode: 'mask', response_bytes_max: 100_000, held_units_max: 100_000, cache_entries_max: 0 },
    telemetry: null,
    counts: null,
    onSettleFailure: () => {},
  });
  const served = await serve({ state_dir: scratch, llm: async () => llm, ...options });
  try {
    await work({ ...served, received, decided });
  } finally {
    await served.close();
    await llm.close();
    provider.close();
  }
}

const ask = (content: string) => ({ model: 'm', messages: [{ role: 'user', content }] });
const CHAT = { path: '/v1/chat/completions', body: ask('Hello') };

test('nothing of ours reaches the provider, and its own credential does', () =>
  runCalls(PLAIN, {}, async ({ ask, received }) => {
    const headers = {
      authorization: 'Bearer provider-key',
      'x-service-agent': 'agent-1',
      'x-service-session': 's-1',
      'x-custom': 'kept',
    };
    const answer = await ask({ ...CHAT, headers });
    assert.deepEqual([answer.status, answer.text], [200, PLAIN.body]);
    assert.equal(answer.headers['x-service-decision'], 'allow');
    assert.match(String(answer.headers['x-service-event-id']), /^evt_/);
    const [{ headers: sent, path, body } = { headers: {}, path: '', body: '' }] = received;
    assert.deepEqual([path, body], [CHAT.path, JSON.stringify(CHAT.body)]);
    assert.deepEqual([sent.authorization, sent['x-custom']], ['Bearer provider-key', 'kept']);
    assert.deepEqual(
      Object.keys(sent).filter((name) => name.startsWith('x-service-')),
      [],
    );
  }));

const AUTH = {
  required: true,
  api_keys: [{ id: 'k1', sha256: hashToken(KEY), agents: ['agent-1'] }],
};

test('a credential of the service in the URL or in another header does not reach the provider', () =>
  runCalls(PLAIN, {}, async ({ ask, received }) => {
    const token = `svc_key_${'A'.repeat(43)}`;
    for (const written of [token, token.replace('_', '%5F')]) {
      const answer = await ask({ ...CHAT, path: `${CHAT.path}?key=${written}` });
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, /x-goog-api-key/);
      assert.ok(!answer.text.includes(token));
    }
    assert.equal(received.length, 0);
    await ask({ ...CHAT, path: `${CHAT.path}?key=theirs`, headers: { authorization: `Token ${token}` } });
    assert.equal(received[0]?.path, `${CHAT.path}?key=theirs`);
    assert.ok(!JSON.stringify(received).includes(token));
  }));

test('a caller without permission gets an error in the provider’s format, whatever provider key it sends', () =>
  runCalls(PLAIN, { auth: AUTH }, async ({ ask, received }) => {
    const refused: readonly (readonly [string, Record<string, string>])[] = [
      ['/v1/chat/completions', { authorization: 'Bearer provider-key' }],
      ['/v1/chat/completions', {}],
      ['/v1/messages', { 'x-api-key': 'provider-key' }],
      ['/v1/messages', { 'x-api-key': `${KEY}x` }],
      ['/v1beta/models/m:generateContent', { 'x-goog-api-key': 'provider-key' }],
    ];
    for (const [path, headers] of refused) {
      const answer = await ask({ path, body: CHAT.body, headers });
      assert.equal(answer.status, 401, path);
      assert.ok(answer.json.error.message.length > 10, answer.text);
    }
    assert.equal(received.length, 0);
    const allowed: readonly Record<string, string>[] = [
      { 'x-service-key': KEY, authorization: 'Bearer provider-key' },
      { authorization: `Bearer ${KEY}` },
      { 'x-api-key': KEY },
    ];
    for (const headers of allowed) assert.equal((await ask({ ...CHAT, headers })).status, 200);
    assert.ok(!JSON.stringify(received).includes(KEY));
    assert.equal(received[0]?.headers.authorization, 'Bearer provider-key');
    const other = { 'x-service-key': KEY, 'x-service-agent': 'agent-2' };
    assert.equal((await ask({ ...CHAT, headers: other })).status, 403);
  }));

test('what cannot be read is not sent, and is an error of the API that was called', () =>
  runCalls(PLAIN, { body_bytes_max: 1_000 }, async ({ ask, received, decided }) => {
    const json = { 'content-type': 'application/json' };
    const cases: readonly (readonly [number, Parameters<typeof ask>[0]])[] = [
      [400, { path: CHAT.path, body: '{"messages":', headers: json }],
      [400, { path: CHAT.path, body: Buffer.from([0x22, 0xff, 0x22]), headers: json }],
      [400, { path: CHAT.path, body: '[]', headers: json }],
      [400, { path: CHAT.path, body: '{"model":"a","model":"b","messages":[]}', headers: json }],
      [413, { path: CHAT.path, body: ask.name.padEnd(2_000), headers: json }],
      [415, { path: CHAT.path, body: 'a=b', headers: { 'content-type': 'text/plain' } }],
      [415, { path: CHAT.path, body: CHAT.body, headers: { 'content-encoding': 'gzip' } }],
      [400, { path: CHAT.path, body: CHAT.body, headers: { 'x-service-agent': 'a'.repeat(300) } }],
      [404, { path: '/v1beta/models/m:embedContent', body: CHAT.body }],
      [404, { path: '/v1beta/models/m', body: CHAT.body }],
      [400, { path: '/v1beta/models/..%2f..%2ffiles:generateContent', body: CHAT.body }],
      [405, { path: '/v1/messages' }],
      [404, { path: '/v1/models/' }],
      [404, { path: '/v1/models/..%2ffiles' }],
      [404, { path: '/v1/models/a/%2e%2e/%2e%2e/files' }],
      [404, { path: '/v1/models/%252e%252e%252ffiles' }],
      [404, { path: '/v1/models/a%3fb' }],
      [404, { path: `/v1/models/${SECRET}` }],
      [400, { path: '/v1/models/%zz' }],
    ];
    for (const [status, requested] of cases) {
      const answer = await ask(requested);
      assert.equal(answer.status, status, `${requested.path} ${answer.text}`);
      assert.ok(answer.json.error, answer.text);
    }
    assert.deepEqual([received.length, decided.length], [0, 0]);
  }));

test('in gateway mode the agent must be known', () =>
  runCalls(PLAIN, { mode: 'gateway' }, async ({ ask, decided }) => {
    const unknown = await ask({ path: '/v1/messages', body: CHAT.body });
    assert.deepEqual([unknown.status, unknown.json.type], [400, 'error']);
    const headers = { 'x-service-agent': 'agent-1', 'x-claude-code-session-id': 'cc-1' };
    assert.equal((await ask({ ...CHAT, headers })).status, 200);
    assert.deepEqual(
      decided.map(({ source_agent_id, session_id }) => [source_agent_id, session_id]),
      [
        ['agent-1', 'cc-1'],
        ['agent-1', 'cc-1'],
      ],
    );
  }));

test('a block is 400 in the format of the API with its decision, and nothing is sent', () =>
  runCalls(PLAIN, {}, async ({ ask: send, received }) => {
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/embeddings']) {
      const answer = await send({ path, body: { ...ask(`Use ${SECRET}`), input: `Use ${SECRET}` } });
      assert.equal(answer.status, 400, path);
      assert.deepEqual(
        [answer.json.decision, answer.json.violations[0].detector, answer.headers['x-service-decision']],
        ['block', 'api_key', 'block'],
      );
      assert.ok(!answer.text.includes(SECRET));
      const { json, headers } = answer;
      assert.deepEqual([json.error.decision, json.error.violations], ['block', json.violations]);
      assert.equal(headers['x-service-event-id'], json.event_id);
      assert.equal(headers[path === '/v1/messages' ? 'request-id' : 'x-request-id'], json.request_id);
    }
    assert.equal(received.length, 0);
  }));

const OVER = {
  over: true,
  cause: 'exhausted',
  budget: 'tiny',
  reason: 'The budget `tiny` is used up.',
  resets_at_ms: null,
  event_id: 'evt_budget',
} as const;

test('a used-up budget answers 400 with its sentence', () =>
  runCalls(
    PLAIN,
    {},
    async ({ ask: send, received }) => {
      const terms = [
        ['/v1/chat/completions', 'budget_exceeded', 'code'],
        ['/v1/responses', 'budget_exceeded', 'code'],
        ['/v1/messages', 'invalid_request_error', 'type'],
        ['/v1beta/models/m:generateContent', 'INVALID_ARGUMENT', 'status'],
      ] as const;
      for (const [path, term, key] of terms) {
        const { status, headers, json, text } = await send({ path, body: ask('Hello') });
        assert.deepEqual([status, json.error[key], json.error.message], [400, term, OVER.reason], text);
        const reported = ['x-service-decision', 'x-service-event-id', 'x-should-retry'].map(
          (name) => headers[name],
        );
        assert.deepEqual(reported, ['block', 'evt_budget', 'false'], path);
        assert.deepEqual([json.event_id, json.decision], ['evt_budget', 'block']);
      }
      assert.equal(received.length, 0);
    },
    { reserve: async () => OVER },
  ));

test('a budget that renews says when a client can try again', () =>
  runCalls(
    PLAIN,
    {},
    async ({ ask: send, received }) => {
      for (const path of expectRows(3, ['/v1/chat/completions', '/v1/responses', '/v1/messages'])) {
        const { status, headers } = await send({ path, body: ask('Hello') });
        assert.deepEqual([status, headers['x-should-retry']], [400, 'false'], path);
        const waitS = Number(headers['retry-after']);
        assert.ok(Number.isInteger(waitS) && waitS >= 1, `${path}: ${headers['retry-after']}`);
      }
      assert.equal(received.length, 0);
    },
    { reserve: async () => ({ ...OVER, resets_at_ms: Date.now() + 90_000 }) },
  ));

test('a call that the policy blocks is not to be tried again after some time', () =>
  runCalls(PLAIN, {}, async ({ ask: send, received }) => {
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/messages']) {
      const { status, headers } = await send({ path, body: ask(`Use ${SECRET}`) });
      assert.deepEqual([status, headers['retry-after']], [400, undefined], path);
    }
    assert.equal(received.length, 0);
  }));

test('a worker at its limit rejects model calls in each format, with a retry time', () =>
  runCalls(PLAIN, { requests_max: 0 }, async ({ ask: send, received }) => {
    for (const path of expectRows(4, [
      '/v1/chat/completions',
      '/v1/responses',
      '/v1/messages',
      '/v1beta/models/m:generateContent',
    ])) {
      const { status, headers } = await send({ path, body: ask('Hello') });
      assert.deepEqual(
        [status, headers['retry-after'], headers['x-should-retry']],
        [503, '1', undefined],
        path,
      );
    }
    assert.equal(received.length, 0);
  }));

test('an error of the provider goes back byte for byte', () =>
  runCalls(
    {
      status: 400,
      headers: { 'retry-after': '7', 'x-request-id': 'up-1' },
      body: '{ "error" :{"message":"slow"}}',
    },
    {},
    async ({ ask }) => {
      const answer = await ask(CHAT);
      assert.deepEqual([answer.status, answer.text], [400, '{ "error" :{"message":"slow"}}']);
      assert.deepEqual(
        [answer.headers['retry-after'], answer.headers['x-upstream-request-id']],
        ['7', 'up-1'],
      );
      assert.match(String(answer.headers['x-request-id']), /^req_/);
      assert.match(String(answer.headers['x-service-event-id']), /^evt_/);
    },
  ));

test('a provider cannot set the headers of the service, nor allow web pages to read', () => {
  const headers = {
    'x-service-decision': 'allow',
    'access-control-allow-origin': '*',
    'openai-version': '1',
    'content-type': 'text/html',
  };
  return runCalls({ ...PLAIN, headers }, {}, async ({ ask }) => {
    const answer = await ask(CHAT);
    assert.deepEqual(
      [
        answer.headers['x-service-decision'],
        answer.headers['access-control-allow-origin'],
        answer.headers['openai-version'],
        answer.headers['content-type'],
      ],
      ['allow', undefined, '1', 'text/plain'],
    );
  });
});

test('an answer is masked where it has to be, and every other byte of it stays', () => {
  const body = `{"id":"c1", "n":1.0,"choices":[{"index":0,"message":{"content":"It is ${SECRET}"}}]}`;
  return runCalls({ body, headers: { 'content-length': String(body.length) } }, {}, async ({ ask }) => {
    const answer = await ask(CHAT);
    assert.deepEqual([answer.status, answer.text], [200, body.replace(SECRET, '[REDACTED]')]);
    assert.equal(answer.headers['content-length'], String(answer.text.length));
    assert.equal(answer.headers['x-service-decision'], 'modify');
  });
});

test('a tool call of an answer that is blocked shows nothing of it', () => {
  const call = { name: 'mail.send', arguments: JSON.stringify({ body: SECRET }) };
  const message = { role: 'assistant', tool_calls: [{ id: 't1', type: 'function', function: call }] };
  const body = JSON.stringify({ id: 'c1', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
  return runCalls({ body }, {}, async ({ ask, decided }) => {
    const answer = await ask(CHAT);
    assert.deepEqual([answer.status, answer.json.decision], [400, 'block']);
    assert.ok(!answer.text.includes(SECRET));
    assert.deepEqual(
      decided.map(({ metadata, decision }) => [metadata.endpoint, decision]),
      [
        ['llm_request', 'allow'],
        ['llm_response', 'allow'],
        ['llm_tool_call', 'block'],
      ],
    );
  });
});

test('what cannot be read of an answer is not handed out', async () => {
  const unreadable = ['<html>', '{"choices":', '"text"x', `{"choices":[]}${' '.repeat(200_000)}`];
  for (const body of unreadable) {
    await runCalls({ body }, {}, async ({ ask }) => {
      const answer = await ask(CHAT);
      assert.equal(answer.status, 502, body.slice(0, 20));
      assert.ok(answer.json.error.message.length > 10);
    });
  }
});

test('an internal fault is a block, and reveals no details', () =>
  runCalls(PLAIN, { llm: () => Promise.reject(new Error(`secret ${SECRET}`)) }, async ({ ask, logged }) => {
    const answer = await ask(CHAT);
    assert.deepEqual([answer.status, answer.json.decision], [500, 'block']);
    assert.ok(!answer.text.includes(SECRET));
    assert.equal(logged.length, 1);
  }));

test('a Gemini stream must request server-sent events, and is otherwise refused before anything is sent', async () => {
  const refused = [
    '',
    '?key=x',
    '?alt=json',
    '?$alt=json;enum-encoding=int',
    '?alt=sse&alt=json',
    '?alt=json&$alt=sse',
    '?alt=SSE',
    '?alt=proto',
  ];
  const allowed = ['?alt=sse', '?alt=sse&key=x', '?%24alt=sse'];
  const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
  const sse = 'data: {"candidates":[{"content":{"parts":[{"text":"Hi."}]},"finishReason":"STOP"}]}\n\n';
  const stream = { body: sse, headers: { 'content-type': 'text/event-stream' } };
  await runCalls(stream, {}, async ({ port, received }) => {
    const askFor = (query: string) =>
      fetch(`http://127.0.0.1:${port}/v1beta/models/gemini-2.5-flash:streamGenerateContent${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
    for (const query of refused) {
      const answer = await askFor(query);
      assert.equal(answer.status, 400, query);
      assert.match(await answer.text(), /alt=sse/);
    }
    assert.equal(received.length, 0);
    for (const query of allowed) {
      const answer = await askFor(query);
      assert.equal(answer.status, 200, query);
      assert.match(await answer.text(), /Hi\./);
    }
    assert.equal(received.length, allowed.length);
  });
});
