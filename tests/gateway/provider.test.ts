/** The recorded provider itself: its recordings are complete, and its faults are as named. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProvider } from '../support/provider/provider.ts';
import { type ProviderRecording, readRecording, readRecordings } from '../support/provider/recording.ts';
import { render } from '../support/provider/render.ts';

const provider = await startProvider({ keys: ['the-key'] });
after(() => provider.close());

const ask = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${provider.url}${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer the-key', 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const chat = (text: string, more: object = {}) =>
  ask('/v1/chat/completions', {
    model: 'gpt-5.4-mini',
    messages: [{ role: 'user', content: text }],
    ...more,
  });

/** Returns the JSON values that a recording sends. */
function getValues(recording: ProviderRecording): unknown[] {
  const text = Buffer.concat(render(recording, { has_usage: true })).toString('utf8');
  if (!text.includes('data:')) return [JSON.parse(text)];
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return lines
    .map((line) => line.slice(5).trim())
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)));
}

test('every recording can be read and sends JSON', () => {
  let values = 0;
  const recordings = [...readRecordings().values()].filter(({ name }) => name !== 'openai/errors/502');
  for (const recording of recordings) values += getValues(recording).length;
  assert.ok(recordings.length > 70, `${recordings.length} recordings`);
  assert.ok(values > 300, `${values} values`);
  assert.throws(() => readRecording('a', 'GET /\n\n'), /does not begin as one does/);
});

test('it refuses what the real ones refuse, each in its own words', async () => {
  const tool = { role: 'tool', tool_call_id: 'call_none', content: 'x' };
  const bodies: readonly [string, unknown, Record<string, string>, number, RegExp][] = [
    ['/v1/chat/completions', { model: 'm' }, { authorization: '' }, 401, /You didn't provide an API key/],
    ['/v1/chat/completions', { model: 'm' }, { authorization: 'Bearer x' }, 401, /invalid_api_key/],
    ['/v1/chat/completions', '{"model":', {}, 400, /could not parse the JSON body/],
    ['/v1/chat/completions', {}, {}, 400, /must provide a model/],
    ['/v1/chat/completions', { model: 'm', messages: [tool] }, {}, 400, /must be a response to a preceeding/],
    ['/v1/nothing', { model: 'm' }, {}, 404, /Invalid URL/],
    ['/v1/messages', { model: 'm' }, {}, 400, /anthropic-version: header is required/],
    [
      '/v1/messages',
      { model: 'm' },
      { 'anthropic-version': '2023-06-01' },
      400,
      /max_tokens: Field required/,
    ],
    ['/v1beta/models/g:generateContent', { contents: [] }, {}, 403, /unregistered callers/],
    [
      '/v1beta/models/g:generateContent',
      {},
      { 'x-goog-api-key': 'the-key' },
      400,
      /contents is not specified/,
    ],
  ];
  for (const [path, body, headers, status, words] of bodies) {
    const answer = await ask(path, body, headers);
    assert.equal(answer.status, status, path);
    assert.match(await answer.text(), words);
  }
  assert.equal(provider.received().length, bodies.length);
  assert.deepEqual(provider.complaints(), []);
});

test('a plan answers in turn, in pieces and cuts of its own, and what was received is kept', async () => {
  provider.plan('(a)', [
    { recording: 'openai/errors/429' },
    {
      recording: 'openai/chat/plain.stream',
      pieces: { text: ['Ber', 'lin'] },
      cut_bytes: 7,
      encoding: 'gzip',
    },
  ]);
  assert.equal((await chat('(a)', { stream: true })).status, 429);
  const answer = await chat('(a)', { stream: true, stream_options: { include_usage: true } });
  const text = await answer.text();
  assert.equal(answer.headers.get('content-encoding'), 'gzip');
  assert.match(
    text,
    /"content":"Ber"[\s\S]*"content":"lin"[\s\S]*"usage":null[\s\S]*"total_tokens":52[\s\S]*\[DONE\]\n\n$/,
  );
  assert.doesNotMatch(await (await chat('no plan', { stream: true })).text(), /usage/);
  const [first, second] = provider.received('(a)');
  assert.equal(first?.recording, 'openai/errors/429');
  assert.equal(JSON.parse(second!.body.toString()).stream_options.include_usage, true);
  assert.equal(second?.aborted, false);
});

test('faults: reset, silent, broken off; and it sees who goes away', async () => {
  for (const [mark, afterWrites, kind] of [
    ['(b)', 0, 'reset'],
    ['(c)', 2, 'reset'],
    ['(d)', 2, 'end'],
  ] as const)
    provider.plan(mark, [{ recording: 'openai/chat/plain.stream', fault: { after: afterWrites, kind } }]);
  await assert.rejects(chat('(b)', { stream: true }));
  await assert.rejects((await chat('(c)', { stream: true })).text());
  assert.doesNotMatch(await (await chat('(d)', { stream: true })).text(), /DONE/);
  provider.plan('(e)', [{ recording: 'openai/chat/plain', fault: { after: 0, kind: 'silent' } }]);
  const leaving = new AbortController();
  const asked = fetch(`${provider.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer the-key' },
    body: '{"model":"m","messages":[],"x":"(e)"}',
    signal: leaving.signal,
  });
  while (provider.received('(e)').length === 0) await sleep(5);
  leaving.abort();
  await assert.rejects(asked);
  const [exchange] = provider.received('(e)');
  await exchange?.ended;
  assert.equal(exchange?.aborted, true);
  assert.equal(provider.received('(c)')[0]?.aborted, false);
});

test('a plan that does not match its request is reported', async () => {
  provider.plan('(f)', [{ recording: 'anthropic/messages/plain' }]);
  await chat('(f)');
  assert.match(provider.complaints().join(), /`anthropic\/messages\/plain` does not answer POST \/v1\/chat/);
  assert.throws(() => provider.plan('(g)', [{ recording: 'none' }]), /there is no recording `none`/);
});

test('it runs as a process of its own', async () => {
  const file = resolve(import.meta.dirname, '..', 'support', 'provider', 'main.ts');
  const child = spawn(process.execPath, [file, '--latency-ms', '20'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const beganMs = performance.now();
    const answer = await fetch(`${line.toString().trim()}/v1/models`, {
      headers: { authorization: 'Bearer x' },
    });
    assert.equal(answer.status, 200);
    assert.ok(performance.now() - beganMs >= 19);
  } finally {
    child.kill();
  }
});
