// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import { wireFormats } from '../../core/wire/formats/index.ts';
import { findHeader } from '../upstream/headers.ts';
import {
  type ProviderHandler,
  startTestProvider,
  type TestProvider,
} from '../upstream/testing/test-provider.ts';
import { openTestUpstreams } from '../upstream/testing/test-upstreams.ts';
import { answerModelRequest } from './list-models.ts';

const policy = buildTestPolicy();
const SECRET = ['AKIA', 'QYLPMN5HHHFPWXYZ'].join('');

interface ListedRequest {
  readonly path?: string;
  readonly model?: string | null;
  readonly family?: 'openai' | 'anthropic';
}

interface Said {
  readonly status: number;
  readonly text: string;
  readonly ids: readonly string[];
}

/** Sends requests to a service with this `proxy` section. */
async function ask(t: TestContext, proxy: object, request: ListedRequest = {}): Promise<Said> {
  const { path = '/v1/models', model = null, family = 'openai' } = request;
  const name = family === 'openai' ? 'openai.chat' : 'anthropic.messages';
  const format = wireFormats.find((each) => each.name === name)!;
  const call = { path, headers: ['X-Own', '1'], request_id: 'req_1', signal: new AbortController().signal };
  const upstreams = openTestUpstreams(t, proxy, {});
  const parts = { upstreams, policy, bytes_max: 100_000 };
  const { status, body } = await answerModelRequest({ ...call, format, model }, parts);
  const text = Buffer.from(body as string | Uint8Array).toString();
  const { data } = JSON.parse(text) as { data?: readonly { id: string }[] };
  return { status, text, ids: data?.map(({ id }) => id) ?? [] };
}

const models = (...ids: readonly string[]): string =>
  `{"object":"list", "data":[${ids.map((id) => `{"id":"${id}", "x":1.0}`).join(', ')}]}`;

const says =
  (body: string, status = 200): ProviderHandler =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(body);

const openai = ({ url }: TestProvider, name: string, more: object = {}) => ({
  name,
  family: 'openai',
  base_url: url,
  ...more,
});

test('the list has the aliases and the models of all providers, each once and as its provider writes it', async (t) => {
  const one = await startTestProvider(t, says(models('big', 'both')));
  const two = await startTestProvider(t, says(`[{"id":"both"},{"id":"small","y":12345678901234567890}]`));
  const claude = await startTestProvider(t, says(models('claude')));
  const { status, text, ids } = await ask(t, {
    providers: [
      openai(one, 'one', { api_key: '${A}' }),
      openai(two, 'two', { api_key: '${B}' }),
      { name: 'claude', family: 'anthropic', base_url: claude.url },
    ],
    models: {
      fast: [{ provider: 'two', model: 'small' }],
      thinker: [{ provider: 'claude', model: 'claude' }],
      big: [{ provider: 'one', model: 'big' }],
    },
    fallbacks: [
      { model: 'steady', to: ['big', 'small'] },
      { model: 'big*', to: ['small'] },
    ],
  });
  assert.equal(status, 200);
  assert.deepEqual(ids, ['fast', 'big', 'steady', 'both', 'small']);
  assert.ok(text.includes('{"id":"both", "x":1.0},{"id":"small","y":12345678901234567890}'), text);
  assert.ok(text.includes('{"id":"fast","object":"model","created":0,"owned_by":"proxy"}'), text);
  assert.deepEqual([one.requests.length, two.requests.length, claude.requests.length], [1, 1, 0]);
  assert.equal(findHeader(two.requests[0]!.headers, 'authorization'), 'Bearer key-b');
  assert.equal(findHeader(two.requests[0]!.headers, 'x-own'), '1');
});

test('a model is listed only where a call for it goes to the provider that has it', async (t) => {
  const one = await startTestProvider(t, says(models('gpt-1', 'llama-1', 'two/gpt-1')));
  const two = await startTestProvider(t, says(models('gpt-1', 'llama-2', 'other')));
  const target = await startTestProvider(t, says(models('gpt-1', 'rest-1')));
  const own = [
    openai(one, 'one', { models: ['gpt-*', 'two/*'] }),
    openai(two, 'two', { models: ['llama-*'] }),
  ];
  assert.deepEqual((await ask(t, { providers: own })).ids, ['gpt-1', 'llama-2']);
  assert.deepEqual((await ask(t, { providers: own, target: target.url })).ids, [
    'gpt-1',
    'llama-2',
    'rest-1',
  ]);
  assert.deepEqual((await ask(t, { providers: [...own, openai(one, 'all')], target: target.url })).ids, [
    'gpt-1',
    'llama-2',
    'llama-1',
  ]);
  assert.equal(target.requests.length, 1, 'it is not asked where no call can reach it');
});

test('a provider that fails is left out, and delays nothing for long', async (t) => {
  const up = await startTestProvider(t, says(models('up')));
  const bad: readonly ProviderHandler[] = [
    says('{"error":{"message":"no"}}', 401),
    says('{"error":{"message":"no"}}', 500),
    says('<html>'),
    says('{"data":{}}'),
    says(`{"data":[${'{"id":"a"},'.repeat(20_000)}{"id":"b"}]}`),
    (response) => void response.destroy(),
    // One provider sends nothing, another stops in the middle of its answer.
    () => {},
    (response) => void response.writeHead(200).write('{"data":['),
  ];
  const providers = await Promise.all(bad.map((answers) => startTestProvider(t, answers)));
  const named = providers.map((provider, at) => openai(provider, `bad-${at}`));
  const { status, ids } = await ask(t, { providers: [...named, openai(up, 'up')] });
  assert.deepEqual([status, ids], [200, ['up']]);
  assert.deepEqual(
    providers.map(({ requests }) => requests.length),
    bad.map(() => 1),
    'each is tried once',
  );
  const alias = { fast: [{ provider: 'bad-0', model: 'x' }] };
  assert.deepEqual((await ask(t, { providers: named.slice(0, 2), models: alias })).ids, ['fast']);
  const none = await ask(t, { providers: named.slice(0, 2) });
  assert.deepEqual([none.status, none.text], [401, '{"error":{"message":"no"}}'], 'the first failure');
});

test('entries without one name are left out', async (t) => {
  const odd = '{"data":[1,{"id":1},{"id":""},{"name":"x"},{"id":"a","id":"b"},{"id":"good"}]}';
  const one = await startTestProvider(t, says(odd));
  const two = await startTestProvider(t, says(models()));
  assert.deepEqual((await ask(t, { providers: [openai(one, 'one'), openai(two, 'two')] })).ids, ['good']);
});

test('the one list of one provider goes back byte for byte, errors too', async (t) => {
  for (const [body, status] of [
    [models('a', 'b'), 200],
    ['{"error" :{"message":"no"}}', 401],
  ] as const) {
    const one = await startTestProvider(t, says(body, status));
    const stated = await ask(t, { target: one.url }, { path: '/v1/models?x=1' });
    assert.deepEqual([stated.status, stated.text, one.requests[0]?.path], [status, body, '/v1/models?x=1']);
  }
});

test('Anthropic’s list has its shape and its pages', async (t) => {
  const claude = (id: string) => `{"type":"model","id":"${id}","display_name":"${id.toUpperCase()}"}`;
  const one = await startTestProvider(t, says(`{"data":[${claude('c1')},${claude('c2')}],"has_more":false}`));
  const two = await startTestProvider(t, says(`{"data":[${claude('c3')}],"has_more":false}`));
  const proxy = {
    providers: [
      { name: 'one', family: 'anthropic', base_url: one.url },
      { name: 'two', family: 'anthropic', base_url: two.url },
    ],
    models: { fast: [{ provider: 'two', model: 'c3' }] },
  };
  const rows = [
    ['', ['fast', 'c1', 'c2', 'c3'], false],
    ['?limit=2', ['fast', 'c1'], true],
    ['?limit=2&after_id=c1', ['c2', 'c3'], false],
    ['?limit=2&before_id=c3', ['c1', 'c2'], true],
    ['?after_id=c3', [], false],
  ] as const;
  for (const [query, ids, hasMore] of rows) {
    const stated = await ask(t, proxy, { path: `/v1/models${query}`, family: 'anthropic' });
    const ends = { has_more: hasMore, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null };
    const { data: _, ...rest } = JSON.parse(stated.text);
    assert.deepEqual([stated.ids, rest], [ids, ends], query);
  }
  assert.equal(one.requests[0]?.path, '/v1/models?limit=1000');
  assert.equal(rows.length, 5);
});

test('one model: an alias is answered here, any other goes to the provider that serves it', async (t) => {
  const one = await startTestProvider(t, says('{"id":"gpt-1", "object":"model"}'));
  const two = await startTestProvider(t, says('{"error":{"message":"unknown"}}', 404));
  const proxy = {
    providers: [openai(one, 'one', { models: ['gpt-*'] }), openai(two, 'two', { models: ['llama*'] })],
    models: { fast: [{ provider: 'two', model: 'small' }] },
  };
  const rows = [
    ['fast', 200, '{"id":"fast","object":"model","created":0,"owned_by":"proxy"}', null, null],
    ['gpt-1', 200, '{"id":"gpt-1", "object":"model"}', one, '/v1/models/gpt-1'],
    ['two/a:b', 404, '{"error":{"message":"unknown"}}', two, '/v1/models/a%3Ab'],
    ['llama/1', 404, '{"error":{"message":"unknown"}}', two, '/v1/models/llama%2F1'],
  ] as const;
  for (const [model, status, text, provider, path] of rows) {
    const stated = await ask(t, proxy, { path: '/v1/models/whatever', model });
    assert.deepEqual([stated.status, stated.text], [status, text], model);
    if (provider !== null) assert.equal(provider.requests.at(-1)?.path, path);
  }
  const sent = one.requests.length + two.requests.length;
  for (const model of ['nobody', SECRET, `gpt-${SECRET}`]) {
    const stated = await ask(t, proxy, { model });
    assert.deepEqual([stated.status, JSON.parse(stated.text).error.code], [404, 'model_not_found'], model);
    assert.ok(!stated.text.includes(SECRET));
  }
  assert.equal(one.requests.length + two.requests.length, sent, 'nothing of it was sent');
  assert.equal(rows.length, 4);
});
