/** Calls of a model provider's API through `/v1/proxy/forward`: guarded and charged as on the LLM routes. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findApiRoute } from '../../gateways/llm/api-routes.ts';
import { openTestLlm } from '../../gateways/llm/testing/open-llm.ts';
import { type ProviderHandler, startTestProvider } from '../../gateways/upstream/testing/test-provider.ts';
import { parseProxySettings } from '../../gateways/upstream/testing/test-upstreams.ts';
import type { Budgets, ChargedUsage, SpendRequest } from '../../operations/model-costs.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { serve } from './testing/serve.ts';

const EMAIL = ['jane.doe', 'acme-corp.io'].join('@');
const KEY = ['AKIA', 'QYLPMN5HHHFPWXYZ'].join('');

const OVER = {
  over: true,
  cause: 'exhausted',
  budget: 'tiny',
  reason: 'The budget `tiny` is used up.',
  resets_at_ms: null,
  event_id: 'evt_budget',
} as const;

/** Runs the service in front of a provider, with a ledger that the test can read. */
async function startWorld(
  t: TestContext,
  answers: ProviderHandler,
  options: { readonly is_over?: boolean } = {},
) {
  const upstream = await startTestProvider(t, answers);
  const requested: SpendRequest[] = [];
  const spent: (ChargedUsage | null)[] = [];
  const budgets: Budgets = {
    reserve: async (ask) => {
      requested.push(ask);
      if (options.is_over === true) return OVER;
      return {
        settle: async (usage) => {
          spent.push(usage);
          return { micro_usd: 1, is_assumed: false };
        },
        computeCost: ({ input_tokens }) => ({ micro_usd: input_tokens, is_assumed: false }),
      };
    },
  };
  const decided: AuditEvent[] = [];
  const proxy = parseProxySettings({ target: `${upstream.url}/v1` });
  const llm = openTestLlm(budgets, decided);
  const stateDir = mkdtempSync(join(tmpdir(), 'forward-model-'));
  const service = await serve({ state_dir: stateDir, proxy, llm: async () => llm });
  t.after(async () => {
    await service.close();
    await llm.close();
    rmSync(stateDir, { recursive: true, force: true });
  });
  const forward = (envelope: object, headers: Record<string, string> = {}) =>
    service.ask({ path: '/v1/proxy/forward', body: envelope, headers });
  return { upstream, asked: requested, spent, decided, forward };
}

const json =
  (body: unknown, status = 200): ProviderHandler =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const call = (name: string, args: unknown) => ({
  id: 'c1',
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});
const stated = (message: object) => ({
  id: 'x',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 5 },
});
const CHAT = {
  path: '/v1/chat/completions',
  json_body: { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] },
  agent_id: 'bot',
};

test('a call of a model is reserved, guarded, charged and answered as any forwarded request', async (t) => {
  const {
    forward,
    upstream,
    asked: requested,
    spent,
    decided,
  } = await startWorld(t, json(stated({ content: `Write to ${EMAIL}.` })));
  const answer = await forward(
    { ...CHAT, headers: { authorization: 'Bearer provider-key' } },
    { 'x-service-user': 'ann' },
  );
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual([answer.json.decision, answer.json.upstream_status], ['modify', 200]);
  assert.equal(JSON.parse(answer.json.body).choices[0].message.content, 'Write to [REDACTED].');
  assert.ok(!answer.text.includes(EMAIL));
  assert.equal(upstream.requests[0]?.path, '/v1/chat/completions');
  assert.partialDeepStrictEqual(requested, [
    { agent_id: 'bot', user_id: 'ann', model: 'm', max_output_tokens: 5 },
  ]);
  assert.partialDeepStrictEqual(spent, [{ input_tokens: 3, output_tokens: 5, is_estimated: false }]);
  const endpoints = decided.map(({ metadata, event_id }) => [metadata.endpoint, event_id]);
  assert.deepEqual(endpoints, [
    ['llm_request', answer.json.input_event_id],
    ['llm_response', answer.json.event_id],
  ]);
});

test('over budget nothing is sent, however the path is written', async (t) => {
  const { forward, upstream } = await startWorld(t, json(stated({ content: 'Hi.' })), { is_over: true });
  const paths = [
    '/v1/chat/completions',
    '/chat/completions',
    '/v1//chat//completions/',
    '/v1/chat/completions?x=1',
    '/v1/chat%2Fcompletions',
    '/v1/%63hat/completions',
    '/v1/%2563hat/completions',
    '/v1/x/../chat/completions',
    '/v1/Chat/Completions',
    '/v1/responses',
    '/v1/messages',
    '/v1beta/models/m:generateContent',
  ];
  for (const path of paths) {
    const answer = await forward({ ...CHAT, path });
    assert.deepEqual([answer.status, answer.json.code], [400, 'budget_exceeded'], `${path} ${answer.text}`);
    assert.deepEqual([answer.json.budget, answer.json.event_id], ['tiny', 'evt_budget']);
  }
  assert.equal(paths.length, 12);
  assert.equal(upstream.requests.length, 0);
});

test('a tool call that the policy blocks is not handed out, streamed or not', async (t) => {
  const bad = { tool_calls: [call('mail.send', { body: KEY })] };
  const chunk = { choices: [{ index: 0, delta: { ...bad }, finish_reason: 'tool_calls' }] };
  const stream: ProviderHandler = (response) =>
    void response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  const rows = [
    [json(stated(bad)), CHAT],
    [stream, { ...CHAT, json_body: { ...CHAT.json_body, stream: true } }],
  ] as const;
  for (const [answers, envelope] of rows) {
    const { forward, decided } = await startWorld(t, answers);
    const answer = await forward(envelope);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.json.decision, answer.json.body], ['block', '']);
    assert.equal(answer.json.event_id, decided.find(({ decision }) => decision === 'block')?.event_id);
    assert.ok(!answer.text.includes(KEY));
  }
});

test('a secret anywhere blocks with 403, and an error of the provider is judged', async (t) => {
  const { forward, upstream } = await startWorld(t, json({ error: { message: `for ${EMAIL}` } }, 400));
  const rows = [
    { json_body: { ...CHAT.json_body, messages: [{ role: 'user', content: KEY }] } },
    { path: `/v1/chat/completions?q=${KEY}` },
    { headers: { 'x-note': KEY } },
  ];
  for (const row of rows) {
    const answer = await forward({ ...CHAT, ...row });
    assert.deepEqual(
      [answer.status, answer.json.code, answer.json.decision],
      [403, 'policy_violation', 'block'],
    );
    assert.ok(!answer.text.includes(KEY));
  }
  assert.equal(upstream.requests.length, 0);
  const refused = await forward(CHAT);
  assert.deepEqual([refused.status, refused.json.upstream_status], [200, 400], refused.text);
  assert.ok(!refused.text.includes(EMAIL));
});

test('routes of providers that cannot be guarded are refused, and other services are not', async (t) => {
  const { forward, upstream } = await startWorld(t, json({ ok: true }));
  for (const path of ['/v1/batches', '/v1/threads/t1/runs', '/v1beta/models/m:batchGenerateContent']) {
    const answer = await forward({ path, json_body: {} });
    assert.deepEqual([answer.status, answer.json.code], [400, 'invalid_request'], path);
  }
  const stored = [
    '/v1/responses/resp_1?stream=true',
    '/v1/chat/completions/chatcmpl-1',
    '/v1/threads/thread_1/messages',
    '/v1/conversations/conv_1/items',
    '/v1/messages/batches/msgbatch_1/results',
    '/v1/files/file-1/content',
    '/v1beta/batches/1',
  ];
  for (const path of stored) {
    const answer = await forward({ method: 'GET', path });
    assert.deepEqual([answer.status, answer.json.code], [400, 'invalid_request'], path);
  }
  assert.deepEqual([upstream.requests.length, stored.length], [0, 7]);
  for (const path of ['/v1/models/m', '/v1/files/7/content', '/v1/responses/7'])
    assert.equal((await forward({ method: 'GET', path })).status, 200, path);
  upstream.requests.length = 0;
  const other = ['/v1/things', '/chats/completions-of-mine', '/rooms/1/messages', '/v1/batches/b1/notes'];
  for (const path of other) assert.equal((await forward({ path, json_body: {} })).status, 200, path);
  assert.equal(upstream.requests.length, 4);
  const kindAt = (address: string, method = 'POST') => findApiRoute(new URL(address), method)?.kind ?? null;
  assert.equal(kindAt('https://api.openai.com/v1/files'), 'unserved');
  assert.equal(kindAt('https://api.openai.com/v1/files', 'GET'), null);
  assert.equal(kindAt('https://example.com/v1/files'), null);
});
