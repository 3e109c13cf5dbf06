/** Content that no policy changes passes byte for byte, in both directions. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSseReader, writeSseEvent } from '../../src/core/wire/sse.ts';
import { sampleRows } from '../support/nightly.ts';
import { type Exchange, type Step, startProvider } from '../support/provider/provider.ts';
import { readRecordings } from '../support/provider/recording.ts';
import type { TestService } from '../support/service.ts';
import { startGateway } from './gateway.ts';
import { askRaw, getEvents, type RawAnswer, type RawAsk, rawAskFor, STREAMS, streamedText } from './raw.ts';
import { KEY } from './runs.ts';
import { TEXT } from './scenarios.ts';

const provider = await startProvider({ keys: [KEY] });
let service: TestService;

before(async () => {
  service = await startGateway(provider);
});
after(async () => {
  await service?.stop();
  await provider.close();
});

/** Headers that only inform the client. Others must not be sent in the name of this service. */
const PASSED =
  /^(?:content-type|request-id|retry-after(?:-ms)?|x-should-retry|(?:openai|anthropic|x-ratelimit)-.*)$/;

let asks = 0;

/** Sends the same request to the provider and to the proxy. The provider answers both in the same way. */
async function askBoth(
  ask: RawAsk,
  step: Step,
): Promise<{ direct: RawAnswer; through: RawAnswer; received: readonly Exchange[] }> {
  asks += 1;
  const mark = `ask ${asks}`;
  provider.plan(mark, [step]);
  const marked = { ...ask, headers: { ...ask.headers, 'x-case': mark } };
  const direct = await askRaw(provider.url, marked);
  const through = await askRaw(service.url, marked);
  return { direct, through, received: provider.received(mark) };
}

function assertSameHead(direct: RawAnswer, through: RawAnswer, place: string): void {
  assert.equal(through.status, direct.status, place);
  for (const [name, value] of Object.entries(direct.headers))
    if (PASSED.test(name))
      assert.equal(through.headers[name], value === 'text/html' ? 'text/plain' : value, `${place}: ${name}`);
  for (const name of [
    'server',
    'vary',
    'via',
    'x-frame-options',
    'www-authenticate',
    'access-control-expose-headers',
  ])
    assert.equal(through.headers[name], undefined, `${place}: ${name}`);
  assert.equal(through.headers['x-upstream-request-id'], direct.headers['x-request-id'], place);
}

/** Returns the recording whose request fits. Recordings of errors answer any request, so they use the plain one. */
function getKind(name: string): string {
  const [family] = name.split('/') as ['openai' | 'anthropic' | 'gemini'];
  const plain = {
    openai: 'openai/chat/plain',
    anthropic: 'anthropic/messages/plain',
    gemini: 'gemini/plain',
  };
  return name.includes('/errors/') ? plain[family] : name;
}

test('whole answers and errors of every recording: status, headers and every byte', async () => {
  const names = [...readRecordings().keys()].filter((name) => !name.endsWith('.stream'));
  for (const name of names) {
    const { direct, through } = await askBoth(rawAskFor(getKind(name), 'Hello.'), { recording: name });
    assertSameHead(direct, through, name);
    assert.equal(through.body.toString('utf8'), direct.body.toString('utf8'), name);
    const decision = name.endsWith('/models') ? undefined : 'allow';
    assert.equal(through.headers['x-service-decision'], decision, name);
  }
  assert.equal(names.length, 48);
});

const NUMBER = /"sequence_number":(\d+)/;

/**
 * Returns the events of a stream without their texts and numbers, built from name and data: the proxy does not keep
 * line ends, IDs and comments, and an event without a name is called `message`.
 */
function getFrames({ body }: RawAnswer): readonly string[] {
  const { events } = createSseReader({ event_units_max: 1_000_000 }).read(body.toString('utf8'));
  const written = events.map(({ name, data }) => writeSseEvent(name === 'message' ? '' : name, data));
  return written
    .map((event) => event.replace(NUMBER, '"sequence_number":0'))
    .map((event) =>
      /delta"|"choices"|"candidates"/.test(event)
        ? event.replace(/"(content|refusal|text|thinking|delta)":"(?:[^"\\]|\\.)*"/, '"$1":""')
        : event,
    );
}

/** Asserts that the numbers of events are unique and increase, even if an event was added for held text. */
function assertNumbered({ body }: RawAnswer, place: string): void {
  const numbers = [...body.toString('utf8').matchAll(new RegExp(NUMBER, 'g'))].map(([, each]) =>
    Number(each),
  );
  assert.ok(
    numbers.every((each, at) => at === 0 || each > numbers[at - 1]!),
    `${place}: ${numbers}`,
  );
}

/** Asserts that all events arrive in order. Additional events, for held text, must be of a kind that is present. */
function assertSameFrames(direct: readonly string[], through: readonly string[], place: string): void {
  let at = 0;
  for (const frame of through) {
    if (frame === direct[at]) at += 1;
    else assert.ok(direct.slice(0, at).includes(frame), `${place}: ${JSON.stringify(frame)}`);
  }
  assert.equal(at, direct.length, `${place}: ${JSON.stringify(direct[at])}`);
}

test('streams of every recording: the same events, the same texts', async () => {
  const names = [...readRecordings().keys()].filter((name) => name.endsWith('.stream'));
  const sample = sampleRows(names, 4);
  for (const name of names) {
    for (const more of [{ cut_bytes: 17 }, ...(sample.includes(name) ? [{}, { cut_bytes: 1 }] : [])]) {
      const { direct, through } = await askBoth(rawAskFor(name, 'Hello.'), { recording: name, ...more });
      assertSameHead(direct, through, name);
      assertSameFrames(getFrames(direct), getFrames(through), name);
      assertNumbered(through, name);
      assert.equal(streamedText(through), streamedText(direct), name);
    }
  }
  assert.equal(names.length, 27);
});

/** JSON that no serializer would write: key order, blanks, escapes, duplicate keys, numbers that exceed a double. */
const ODD = `{ "model":"gpt-5.4-mini" ,"x_unknown":{"b":1.0,"a":-0,"b":12345678901234567890123},"seed":9007199254740993,
  "temperature":1e0,\t"messages":[{"role":"user","name":"\\u0061nna","content":"Par\\u0069s \\ud83d\\uddfc is\\/was é"},
  {"role":"user","content":[{"type":"text","text":"and?","x":[1,2,[]]}]}],"x_unknown":"twice","stop":null}\n`;

test('a request arrives byte for byte, with its unknown headers', async () => {
  const ask = rawAskFor('openai/chat/plain', '');
  const headers = {
    ...ask.headers,
    'x-unknown': 'a, b;c="d"',
    traceparent: `00-${'4b'.repeat(16)}-${'0f'.repeat(8)}-01`,
  };
  const { received } = await askBoth({ ...ask, body: ODD, headers }, { recording: 'openai/chat/odd' });
  assert.equal(received.length, 2);
  for (const { body, headers: arrived } of received) {
    assert.equal(body.toString('utf8'), ODD);
    assert.equal(arrived['x-unknown'], headers['x-unknown']);
    assert.ok(String(arrived.traceparent).startsWith(headers.traceparent.slice(0, 36)));
  }
});

test('nothing addressed to the LLM proxy reaches the provider', async () => {
  const ask = rawAskFor('openai/chat/plain', 'Hello.');
  const own = {
    'x-service-agent': 'a1',
    'x-service-session': 's1',
    'x-service-user': 'u1',
    'x-service-tenant': 'default',
  };
  const { received } = await askBoth(
    { ...ask, headers: { ...ask.headers, ...own } },
    { recording: 'openai/chat/plain' },
  );
  const names = Object.keys(received[1]!.headers);
  assert.deepEqual(
    names.filter((name) => name.startsWith('x-service') || name.startsWith('x-forwarded') || name === 'via'),
    [],
  );
  assert.ok(Object.keys(received[0]!.headers).includes('x-service-agent'), 'the negative control');
});

test('an answer that is encoded without a request for it is decoded and scanned', async () => {
  for (const encoding of ['gzip', 'br'] as const) {
    const step = { recording: 'openai/chat/plain.stream', encoding, insists: true };
    const { through } = await askBoth(rawAskFor('openai/chat/plain.stream', 'Hello.'), step);
    assert.equal(through.headers['content-encoding'], undefined);
    assert.equal(streamedText(through), TEXT);
  }
});

test('what breaks off never looks whole', async () => {
  let broken = 0;
  for (const recording of STREAMS) {
    for (const kind of ['reset', 'end'] as const) {
      const step = { recording, fault: { after: 4, kind } };
      const { through } = await askBoth(rawAskFor(recording, 'Hello.'), step);
      const last = JSON.stringify(getEvents(through).at(-1) ?? {});
      assert.ok(through.is_broken || last.includes('"error"'), `${recording} ${kind}: ${last}`);
      assert.ok(!/DONE|message_stop|response.completed|STOP/.test(through.body.toString('utf8')), recording);
      broken += 1;
    }
  }
  assert.equal(broken, 10);
});

test('a client that goes away is seen by the provider, before and in the middle of an answer', async () => {
  for (const [at, step] of [
    { recording: 'openai/chat/plain.stream', fault: { after: 0, kind: 'silent' } },
    { recording: 'openai/chat/plain.stream', fault: { after: 3, kind: 'silent' } },
  ].entries()) {
    const mark = `left ${at}`;
    provider.plan(mark, [step as Step]);
    const { path, body, headers } = rawAskFor(step.recording, 'Hello.');
    const leaving = new AbortController();
    const init = {
      method: 'POST',
      body,
      headers: { ...headers, 'content-type': 'application/json', 'x-case': mark },
    };
    const asked = fetch(`${service.url}${path}`, { ...init, signal: leaving.signal }).then((answer) =>
      answer.text(),
    );
    asked.catch(() => {});
    while ((provider.received(mark)[0]?.writes ?? -1) < step.fault.after) await sleep(5);
    leaving.abort();
    await assert.rejects(asked);
    const [exchange] = provider.received(mark);
    await exchange!.ended;
    assert.equal(exchange!.aborted, true);
  }
});
