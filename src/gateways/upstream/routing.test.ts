// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { findHeader } from './headers.ts';
import type { UpstreamTry } from './ports.ts';
import { type ProviderHandler, startTestProvider } from './testing/test-provider.ts';
import {
  buildUpstreamRequest,
  expectUpstreamFailure,
  openTestUpstreams,
  openUpstreamTestPorts,
  readBodyText,
} from './testing/test-upstreams.ts';

const ok: ProviderHandler = (response) => void response.end('ok');

/** Answers with the given statuses in order, and then always with the last one. */
const statuses =
  (...list: readonly (readonly [number, Record<string, string>?])[]): ProviderHandler =>
  (response, _, number) => {
    const [status, headers] = list[Math.min(number, list.length) - 1]!;
    response.writeHead(status, headers).end(`status ${status}`);
  };

async function findClosedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

test('what may be tried again is, after a wait, and the caller sees the answer that came', async (t) => {
  const rows = [
    { answers: statuses([503], [529], [200]), slept: [250, 500], attempts: 3, status: 200 },
    { answers: statuses([429, { 'retry-after': '2' }], [200]), slept: [2_000], attempts: 2, status: 200 },
    { answers: statuses([500, { 'retry-after-ms': '7' }], [200]), slept: [7], attempts: 2, status: 200 },
    { answers: statuses([500]), slept: [250, 500], attempts: 3, status: 500 },
    { answers: statuses([429, { 'retry-after': '61' }]), slept: [], attempts: 1, status: 429 },
    { answers: statuses([429, { 'retry-after': '31' }]), slept: [], attempts: 1, status: 429 },
    { answers: statuses([503, { 'x-should-retry': 'false' }]), slept: [], attempts: 1, status: 503 },
    { answers: statuses([400]), slept: [], attempts: 1, status: 400 },
    { answers: statuses([401]), slept: [], attempts: 1, status: 401 },
  ];
  for (const { answers, slept, attempts, status } of rows) {
    const provider = await startTestProvider(t, answers);
    const world = openUpstreamTestPorts();
    const settings = { target: provider.url, retry: { max_attempts: 3 }, timeout_seconds: 30 };
    const answer = await openTestUpstreams(t, settings, world.ports).send(buildUpstreamRequest());
    assert.equal(
      await readBodyText(answer),
      status === 200 ? 'status 200' : `status ${status}`,
      'byte for byte',
    );
    assert.deepEqual([answer.status, answer.attempts, world.slept], [status, attempts, slept]);
    assert.equal(provider.requests.length, attempts);
    assert.equal(world.alarms.length, 0, 'nothing is left that could ring');
  }
  assert.equal(rows.length, 9);
});

test('a connection that breaks before the answer is tried again, one that breaks within it is not', async (t) => {
  const early = await startTestProvider(t, (response, _, number) =>
    number === 1 ? void response.destroy() : void response.end('ok'),
  );
  const answer = await openTestUpstreams(t, { target: early.url, retry: { max_attempts: 2 } }).send(
    buildUpstreamRequest(),
  );
  assert.deepEqual([await readBodyText(answer), answer.attempts], ['ok', 2]);

  const late = await startTestProvider(
    t,
    (response) => void response.write('half', () => response.destroy()),
  );
  const begun = await openTestUpstreams(t, { target: late.url }).send(buildUpstreamRequest());
  const failure = await expectUpstreamFailure(readBodyText(begun));
  assert.deepEqual([failure.code, failure.provider, failure.attempts], ['upstream_broken', 'target', 1]);
  assert.equal(late.requests.length, 1);
});

test('what is no answer is a failure with words of ours', async (t) => {
  const rows: readonly (readonly [ProviderHandler, string])[] = [
    [(r) => void r.writeHead(200, { 'content-encoding': 'lzma' }).end('x'), 'upstream_broken'],
    [(r) => void r.writeHead(302, { location: 'http://x/' }).end(), 'upstream_broken'],
    [(r) => void r.writeHead(200, { 'x-big': 'x'.repeat(70_000) }).end(), 'upstream_broken'],
    [(r) => void r.socket?.end('nonsense\r\n\r\n'), 'upstream_broken'],
  ];
  const once = { retry: { max_attempts: 1 } };
  for (const [answers, code] of rows) {
    const provider = await startTestProvider(t, answers);
    const failure = await expectUpstreamFailure(
      openTestUpstreams(t, { target: provider.url, ...once }).send(buildUpstreamRequest()),
    );
    assert.equal(failure.code, code, failure.message);
    assert.match(failure.message, /^(?:The|What the) /);
  }
  const refused = await expectUpstreamFailure(
    openTestUpstreams(t, { target: await findClosedPort(), ...once }).send(buildUpstreamRequest()),
  );
  assert.deepEqual([refused.code, refused.attempts], ['upstream_unreachable', 1]);
  assert.equal(rows.length, 4);
});

test('the only provider is tried once unless the number of attempts is set', async (t) => {
  const { url, requests } = await startTestProvider(t, statuses([500]));
  const one = { family: 'openai', base_url: url };
  const keys = [{ api_key: '${A}' }, { api_key: '${B}' }];
  const rows = [
    { settings: { target: url }, attempts: 1 },
    { settings: { target: url, retry: { max_attempts: 2 } }, attempts: 2 },
    { settings: { providers: [{ ...one, name: 'a', keys }] }, attempts: 2 },
    { settings: { providers: ['a', 'b'].map((name) => ({ ...one, name, api_key: '${A}' })) }, attempts: 3 },
  ];
  for (const { settings, attempts } of rows) {
    const before = requests.length;
    const answer = await openTestUpstreams(t, settings).send(buildUpstreamRequest());
    assert.deepEqual([answer.attempts, requests.length - before], [attempts, attempts]);
  }
});

test('an aborted wait ends the call', async (t) => {
  const provider = await startTestProvider(t, statuses([503]));
  const client = new AbortController();
  const world = openUpstreamTestPorts({ sleep: async () => client.abort() });
  const failure = await expectUpstreamFailure(
    openTestUpstreams(t, { target: provider.url, retry: { max_attempts: 2 } }, world.ports).send(
      buildUpstreamRequest({ signal: client.signal }),
    ),
  );
  assert.equal(failure.code, 'aborted');
  assert.equal(provider.requests.length, 1);
});

test('when a provider fails, the next one gets the call at once with its own key', async (t) => {
  const [down, limited, up] = [
    await findClosedPort(),
    await startTestProvider(t, statuses([429])),
    await startTestProvider(t, ok),
  ];
  const tries: UpstreamTry[] = [];
  const world = openUpstreamTestPorts({ onTry: (tried) => void tries.push(tried) });
  const upstreams = openTestUpstreams(
    t,
    {
      providers: [
        { name: 'down', family: 'openai', base_url: down, api_key: '${A}' },
        { name: 'limited', family: 'openai', base_url: limited.url, api_key: '${B}' },
        { name: 'up', family: 'openai', base_url: `${up.url}/v1`, api_key: '${C}', auth_header: 'api-key' },
      ],
    },
    world.ports,
  );
  const headers = ['authorization', 'Bearer client', 'x-api-key', 'client', 'X-Other', 'o'];
  const answer = await upstreams.send(
    buildUpstreamRequest({ headers, path: '/v1/chat/completions?key=client&a=1' }),
  );
  assert.deepEqual([answer.provider, answer.attempts, world.slept], ['up', 3, []]);
  assert.equal(findHeader(limited.requests[0]!.headers, 'authorization'), 'Bearer key-b');
  const [got] = up.requests;
  assert.deepEqual(
    ['authorization', 'x-api-key', 'api-key', 'x-other'].map((name) => findHeader(got!.headers, name)),
    [null, null, 'key-c', 'o'],
  );
  assert.equal(got?.path, '/v1/chat/completions?a=1');
  assert.ok(!JSON.stringify([limited.requests, up.requests]).includes('client'));
  assert.deepEqual(
    tries.map(({ provider, status, failure, attempt }) => [provider, status, failure, attempt]),
    [
      ['down', null, 'upstream_unreachable', 1],
      ['limited', 429, null, 2],
      ['up', 200, null, 3],
    ],
  );
});

test('a key that reached its limits is in cooldown, and is used again later', async (t) => {
  const provider = await startTestProvider(t, (response, got) => {
    const isA = findHeader(got.headers, 'authorization') === 'Bearer key-a';
    response.writeHead(isA ? 429 : 200, isA ? { 'retry-after': '10' } : {}).end();
  });
  const world = openUpstreamTestPorts();
  const keys = [{ api_key: '${A}', weight: 1000 }, { api_key: '${B}' }];
  const upstreams = openTestUpstreams(
    t,
    { providers: [{ name: 'p', family: 'openai', base_url: provider.url, keys }] },
    world.ports,
  );
  const send = async () => (await upstreams.send(buildUpstreamRequest())).attempts;
  assert.deepEqual([await send(), await send(), await send()], [2, 1, 1]);
  world.pass(10_000);
  assert.equal(await send(), 2, 'the one with the weight is asked first again');
});

test('a provider that keeps failing gets no calls until a probe succeeds', async (t) => {
  let isUp = false;
  const sick = await startTestProvider(t, (response) => void response.writeHead(isUp ? 200 : 500).end());
  const well = await startTestProvider(t, ok);
  const world = openUpstreamTestPorts();
  const upstreams = openTestUpstreams(
    t,
    {
      circuit_breaker: { failures: 2, open_seconds: 20 },
      providers: [
        { name: 'sick', family: 'openai', base_url: sick.url },
        { name: 'well', family: 'openai', base_url: well.url },
      ],
    },
    world.ports,
  );
  const served = async () => (await upstreams.send(buildUpstreamRequest())).provider;
  for (let count = 0; count < 4; count += 1) assert.equal(await served(), 'well');
  assert.equal(sick.requests.length, 2);
  isUp = true;
  assert.equal(await served(), 'well');
  world.pass(20_000);
  assert.deepEqual([await served(), await served()], ['sick', 'sick']);
});

test('where all are left alone the answer says so, without a call', async (t) => {
  const provider = await startTestProvider(t, statuses([500]));
  const at = { family: 'openai', base_url: provider.url };
  const providers = [
    { name: 'a', ...at },
    { name: 'b', ...at },
  ];
  const upstreams = openTestUpstreams(t, {
    providers,
    retry: { max_attempts: 1 },
    circuit_breaker: { failures: 1 },
  });
  assert.equal((await upstreams.send(buildUpstreamRequest())).status, 500);
  const failure = await expectUpstreamFailure(upstreams.send(buildUpstreamRequest()));
  assert.deepEqual(
    [failure.code, failure.attempts, failure.retry_after_ms],
    ['upstream_circuit_open', 0, 30_000],
  );
  assert.equal(provider.requests.length, 2);
});

test('the only provider is never cut off, and tries of one call count as one failure', async (t) => {
  const provider = await startTestProvider(t, statuses([500]));
  const settings = {
    target: provider.url,
    retry: { max_attempts: 3 },
    circuit_breaker: { failures: 2 },
  };
  const upstreams = openTestUpstreams(t, settings);
  for (let call = 1; call <= 4; call += 1) {
    assert.equal((await upstreams.send(buildUpstreamRequest())).status, 500);
    assert.equal(provider.requests.length, call * 3);
  }
  const reported: string[] = [];
  const ports = {
    ...openUpstreamTestPorts().ports,
    onBreakerState: (_: string, state: string) => void reported.push(state),
  };
  const counted = openTestUpstreams(t, settings, ports);
  await counted.send(buildUpstreamRequest());
  assert.deepEqual(reported, ['closed'], 'three tries of one call are one failure');
  await counted.send(buildUpstreamRequest());
  assert.deepEqual(reported.slice(0, 2), ['closed', 'open'], 'the control: two calls are two');
});

test('a key that the provider refuses is in cooldown, and the same call tries another one', async (t) => {
  for (const status of [401, 403]) {
    const provider = await startTestProvider(t, (response, got) => {
      response
        .writeHead(findHeader(got.headers, 'authorization') === 'Bearer key-a' ? status : 200)
        .end('ok');
    });
    const keys = [{ api_key: '${A}', weight: 1_000 }, { api_key: '${B}' }];
    const own = { name: 'own', family: 'openai', base_url: provider.url, keys };
    const upstreams = openTestUpstreams(t, { providers: [own] });
    for (let call = 0; call < 10; call += 1)
      assert.equal((await upstreams.send(buildUpstreamRequest())).status, 200);
    const refused = provider.requests.filter(
      ({ headers }) => findHeader(headers, 'authorization') === 'Bearer key-a',
    );
    assert.deepEqual([refused.length, provider.requests.length], [1, 11], `${status}`);
    const alone = { ...own, keys: [{ api_key: '${A}' }] };
    assert.equal(
      (await openTestUpstreams(t, { providers: [alone] }).send(buildUpstreamRequest())).status,
      status,
    );
  }
});

test('an alias asks for the model of each provider, and fallbacks come behind', async (t) => {
  const provider = await startTestProvider(t, (response, got) => {
    response.writeHead(got.body.includes('last') ? 200 : 503).end(got.body);
  });
  const at = { family: 'openai', base_url: provider.url };
  const upstreams = openTestUpstreams(t, {
    providers: [
      { name: 'a', ...at },
      { name: 'b', ...at, models: ['last'] },
    ],
    models: {
      fast: [
        { provider: 'a', model: 'one' },
        { provider: 'b', model: 'two' },
      ],
    },
    fallbacks: [{ model: 'fa*', to: ['b/last', 'fast'] }],
    circuit_breaker: { failures: 100 },
  });
  const answer = await upstreams.send(buildUpstreamRequest({ model: 'fast' }));
  assert.deepEqual(
    [answer.provider, answer.model, await readBodyText(answer)],
    ['b', 'last', '{"model":"last"}'],
  );
  assert.deepEqual(
    provider.requests.map(({ body }) => JSON.parse(body).model),
    ['one', 'two', 'last'],
  );
});

test('a model of Gemini is named in the path', async (t) => {
  const provider = await startTestProvider(t, ok);
  const upstreams = openTestUpstreams(t, {
    providers: [{ name: 'g', family: 'gemini', base_url: provider.url, api_key: '${A}' }],
    models: { fast: [{ provider: 'g', model: 'gemini-x' }] },
  });
  const path = '/v1beta/models/fast:streamGenerateContent?alt=sse&key=client';
  await upstreams.send(buildUpstreamRequest({ wire: 'gemini.generate', model: 'fast', path }));
  assert.equal(provider.requests[0]?.path, '/v1beta/models/gemini-x:streamGenerateContent?alt=sse');
  assert.equal(findHeader(provider.requests[0]!.headers, 'x-goog-api-key'), 'key-a');
});

test('a provider that is not to see the key of another does not', async (t) => {
  const provider = await startTestProvider(t, ok);
  const upstreams = openTestUpstreams(t, {
    providers: [
      {
        name: 'l',
        family: 'openai',
        base_url: provider.url,
        client_key: 'drop',
        headers: { 'X-Team': 'own' },
      },
    ],
  });
  await upstreams.send(
    buildUpstreamRequest({ headers: ['Authorization', 'Bearer client', 'x-team', 'client'] }),
  );
  assert.equal(findHeader(provider.requests[0]!.headers, 'x-team'), 'own');
  assert.ok(!JSON.stringify(provider.requests).includes('client'));
});

test('where nothing is configured for an API it says what to set, and nothing goes out', async (t) => {
  const provider = await startTestProvider(t, ok);
  const openai = { name: 'o', family: 'openai', base_url: provider.url, models: ['gpt-*'] };
  const rows = [
    [{}, 'openai.chat', 'not_configured', /`proxy\.target`.*`family: openai`/],
    [{ providers: [openai] }, 'anthropic.messages', 'not_configured', /`family: anthropic`/],
    [{ target: 'https://api.openai.com/v1' }, 'gemini.generate', 'not_configured', /`family: gemini`/],
    [{ providers: [{ ...openai, models: ['other'] }] }, 'openai.chat', 'model_unknown', /`proxy\.models`/],
  ] as const;
  for (const [proxy, wire, code, message] of rows) {
    const failure = await expectUpstreamFailure(
      openTestUpstreams(t, proxy).send(buildUpstreamRequest({ wire, model: 'gpt-x' })),
    );
    assert.equal(failure.code, code);
    assert.match(failure.message, message);
  }
  assert.equal(rows.length, 4);
  assert.equal(provider.requests.length, 0);
  const both = openTestUpstreams(t, { providers: [openai], target: provider.url });
  assert.equal((await both.send(buildUpstreamRequest({ model: 'gpt-x' }))).provider, 'o');
  assert.equal((await both.send(buildUpstreamRequest({ model: 'llama' }))).provider, 'target');
  assert.equal(
    (await both.send(buildUpstreamRequest({ wire: 'anthropic.messages', model: 'claude' }))).provider,
    'target',
  );
});
