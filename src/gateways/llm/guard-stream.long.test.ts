import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutText, splitUnits } from '../../core/stream/testing/pieces.ts';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import type { UpstreamAnswer } from '../upstream/types.ts';
import { guardStream, type StreamObserver } from './guard-stream.ts';
import { buildCallContext, buildUpstreamAnswer, type CallContextOptions } from './testing/call-context.ts';
import { parseEvents, STREAMING_APIS, type StreamingApi } from './testing/streams.ts';

const SECRET = ['AKIA', 'QYLPMN5HHHFPWXYZ'].join('');
const QUIET: StreamObserver = { onChunk: () => {}, onEvent: () => {}, onEnd: () => {} };
const ASKED = { choices: 1, drops_usage: false, repeatable: new Set<string>() };

/** Returns the whole output for an answer. */
async function guardAnswer(answer: UpstreamAnswer, options: CallContextOptions = {}, request = ASKED) {
  const { call_context, events } = buildCallContext(options);
  const news: string[] = [];
  const out: string[] = [];
  const answering = { call_context, model: null, tokens: null };
  const reported = { ...QUIET, onEnd: (error: string | null) => void news.push(error ?? 'whole') };
  for await (const text of await guardStream(answer, request, answering, reported)) out.push(text);
  return { text: out.join(''), out, events, news };
}

const SAID = `The key is ${SECRET}, keep it.`;
const SHOWN = 'The key is [REDACTED], keep it.';

test('a secret never leaves, wherever its text is cut, and what a client puts together is the masked text', async () => {
  let ran = 0;
  for (const { wire, text, read } of STREAMING_APIS) {
    const cuts = Array.from({ length: SAID.length - 1 }, (_, at) => cutText(SAID, [at + 1]));
    for (const pieces of [[SAID], splitUnits(SAID), ...cuts]) {
      const { text: shown, news, events } = await guardAnswer(buildUpstreamAnswer(text(pieces)), { wire });
      assert.ok(!shown.includes(SECRET), `${wire} ${JSON.stringify(pieces)}`);
      for (const stated of read(parseEvents(shown)))
        assert.equal(stated, SHOWN, `${wire} ${JSON.stringify(pieces)}`);
      assert.deepEqual([news, events.length], [['whole'], 1]);
      ran += 1;
    }
  }
  assert.equal(ran, 5 * (SAID.length + 1));
});

test('bytes may be cut anywhere, within characters too', async () => {
  let ran = 0;
  for (const { wire, text, read } of STREAMING_APIS) {
    const bytes = Buffer.from(text([SAID.slice(0, 18), `${SAID.slice(18)} – 🗼`]).join(''));
    for (let at = 1; at < bytes.length; at += 3) {
      const answer = buildUpstreamAnswer([bytes.subarray(0, at), bytes.subarray(at)]);
      const { text: shown } = await guardAnswer(answer, { wire });
      for (const stated of read(parseEvents(shown))) assert.equal(stated, `${SHOWN} – 🗼`, `${wire} ${at}`);
      ran += 1;
    }
  }
  assert.ok(ran > 1_000);
});

test('what has nothing in it goes out byte for byte, but for where it is held', async () => {
  let ran = 0;
  for (const { wire, text, call } of STREAMING_APIS) {
    const plain = text(['One. ', 'Two. ', 'Three.\n']);
    const { text: shown } = await guardAnswer(buildUpstreamAnswer(plain), { wire });
    assert.equal(parseEvents(shown).length >= plain.length - 2, true);
    const calls = call?.('look', ['{"a":', '12345678901234567890}']);
    if (calls === undefined) continue;
    // Pings are not held.
    const { text: letGo } = await guardAnswer(buildUpstreamAnswer(calls), { wire });
    assert.deepEqual(letGo.split('\n\n').sort(), calls.join('').split('\n\n').sort(), wire);
    ran += 1;
  }
  assert.equal(ran, 4);
});

/** Blocks findings in the arguments of calls, and allows them in the output. */
const ARGUMENTS = JSON.stringify({ command: 'ls', note: SECRET });

test('of a tool call that is blocked nothing is shown, whatever its pieces are', async () => {
  let ran = 0;
  for (const { wire, call } of STREAMING_APIS) {
    if (call === null) continue;
    for (let at = 1; at < ARGUMENTS.length; at += 1) {
      const answer = buildUpstreamAnswer(call('run_shell', cutText(ARGUMENTS, [at])));
      const { text: shown, events, news } = await guardAnswer(answer, { wire });
      assert.ok(!shown.includes('command') && !shown.includes('run_shell'), `${wire}: ${shown}`);
      assert.match(shown, /policy_violation/i);
      const [action, output] = events;
      assert.deepEqual(
        [action?.metadata.endpoint, action?.decision, output?.boundary],
        ['llm_tool_call', 'block', 'output'],
      );
      assert.deepEqual([news, events.length], [['policy_violation'], 2]);
      ran += 1;
    }
  }
  assert.equal(ran, 4 * (ARGUMENTS.length - 1));
});

/** Builds an event of the second call of an answer. */
function moveToNextIndex(event: string): string {
  return event
    .replaceAll('"output_index":0', '"output_index":1')
    .replaceAll(/"(i|call_|toolu_)1"/g, '"$12"')
    .replace(/("status":"completed",.*"output":)\[.*\](?=,"usage")/, '$1[]')
    .replace(/("index":)0(,"(?:content_block|delta":\{"type)|\}|,"id":"call_2"|,"function")/g, '$11$2');
}

test('an allowed call before a blocked one does not go out either', async () => {
  let ran = 0;
  for (const { wire, call } of STREAMING_APIS) {
    if (call === null || wire === 'gemini.generate') continue;
    const allowed = call('look_up', ['{"a":1}']);
    const isEnd = (event: string) =>
      /message_(?:delta|stop)|response.completed|"finish_reason":"|DONE/.test(event);
    const isStart = (event: string) => /message_start|response.created/.test(event);
    const both = (second: readonly string[]) => [
      ...allowed.filter((each) => !isEnd(each)),
      ...second
        .filter((each) => !isStart(each))
        .map(moveToNextIndex)
        // The end of a response repeats all received text, but here it is empty.
        .map((each) => each.replace(/("status":"completed".*"output":)\[.*\](?=,"usage")/, '$1[]')),
    ];
    const { text: harmless } = await guardAnswer(buildUpstreamAnswer(both(call('run_shell', ['{}']))), {
      wire,
    });
    assert.ok(harmless.includes('look_up') && harmless.includes('run_shell'), `${wire}: ${harmless}`);
    const { text: shown, news } = await guardAnswer(
      buildUpstreamAnswer(both(call('run_shell', [ARGUMENTS]))),
      {
        wire,
      },
    );
    assert.ok(!shown.includes('look_up') && !shown.includes('run_shell'), `${wire}: ${shown}`);
    assert.deepEqual(news, ['policy_violation'], wire);
    ran += 1;
  }
  assert.equal(ran, 3);
});

test('a changed tool call is changed in every event that contains it', async () => {
  const policy = buildTestPolicy({
    rules: [{ name: 'mask', boundary: 'action', data_tags: ['secret'], action: 'redact' }],
    settings: { builtin_rules: false },
  });
  let ran = 0;
  for (const { wire, call, readCall } of STREAMING_APIS) {
    if (call === null) continue;
    const { text: shown, events } = await guardAnswer(
      buildUpstreamAnswer(call('run', splitUnits(ARGUMENTS))),
      {
        wire,
        policy,
      },
    );
    const stated = readCall(parseEvents(shown));
    assert.ok(stated.length > 0);
    for (const each of stated)
      assert.deepEqual(each, JSON.stringify({ command: 'ls', note: '[REDACTED]' }), `${wire}: ${shown}`);
    assert.ok(!shown.includes(SECRET));
    assert.equal(events.length, 2);
    ran += 1;
  }
  assert.equal(ran, 4);
});

test('a text that is blocked ends the stream in the way of the protocol', async () => {
  const rules = [{ name: 'no', boundary: 'output', data_tags: ['secret'], action: 'block' }];
  const policy = buildTestPolicy({ rules });
  for (const { wire, text } of expectRows(5, STREAMING_APIS)) {
    const answer = buildUpstreamAnswer(text(splitUnits(SAID)));
    const { text: shown, events } = await guardAnswer(answer, { wire, policy });
    assert.ok(!shown.includes(SECRET.slice(0, 8)), shown);
    assert.match(shown, /policy_violation/i);
    const last = parseEvents(shown).at(-1);
    // Anthropic's clients receive the error in a complete message.
    if (wire === 'anthropic.messages') assert.equal(last?.type, 'message_stop', shown);
    else assert.notEqual((last?.response ?? last)?.error, undefined, shown);
    assert.deepEqual([events.length, events[0]?.decision], [1, 'block']);
    assert.deepEqual(answer.ends, ['left']);
  }
});

test('an upstream that breaks off or ends early is an error; held text is not shown', async () => {
  const fault = new UpstreamFailure('upstream_broken', 'The provider broke off.');
  let ran = 0;
  for (const { wire, text } of STREAMING_APIS) {
    for (const ending of [fault, undefined]) {
      const sent = text(['It is ', SECRET.slice(0, 12), 'x']).slice(0, wire === 'openai.chat' ? 3 : -1);
      const begun = wire === 'gemini.generate' || wire === 'openai.completions' ? sent.slice(0, 2) : sent;
      const {
        text: shown,
        events,
        news,
      } = await guardAnswer(buildUpstreamAnswer(cutBefore(begun), ending), { wire });
      assert.ok(!shown.includes(SECRET.slice(0, 12)), `${wire}: ${shown}`);
      assert.match(shown, /upstream_invalid/i);
      assert.deepEqual([news, events.length], [['upstream_broken'], 1], wire);
      ran += 1;
    }
  }
  assert.equal(ran, 10);
});

/** Returns the events up to the one with the held piece. */
function cutBefore(events: readonly string[]): string[] {
  const at = events.findIndex((each) => each.includes(SECRET.slice(0, 12)));
  return events.slice(0, at + 1);
}

test('a client that leaves stops the upstream, and the received part is recorded', async () => {
  const { call_context, events } = buildCallContext();
  const answer = buildUpstreamAnswer((STREAMING_APIS[0] as StreamingApi).text(['One ', 'two ', 'three ']));
  const news: unknown[] = [];
  const stream = await guardStream(
    answer,
    ASKED,
    { call_context, model: null, tokens: null },
    { ...QUIET, onEnd: (error) => void news.push(error) },
  );
  await stream.next();
  await stream.return(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([news, events.length, answer.ends], [['aborted'], 1, ['left']]);
});

test('the end is not sent before it is recorded', async () => {
  let makeDurable = (): void => {};
  const durable = new Promise<void>((resolve) => {
    makeDurable = resolve;
  });
  const { call_context } = buildCallContext({ ports: { record: () => durable } });
  const answer = buildUpstreamAnswer((STREAMING_APIS[0] as StreamingApi).text(['One ', 'two.']));
  const stream = await guardStream(answer, ASKED, { call_context, model: null, tokens: null }, QUIET);
  const out: string[] = [];
  const reading = (async () => {
    for await (const text of stream) out.push(text);
  })();
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(out.join('').includes('One '));
  assert.ok(!out.join('').includes('[DONE]') && !out.join('').includes('"stop"'), out.join(''));
  makeDurable();
  await reading;
  assert.ok(out.join('').endsWith('data: [DONE]\n\n'));
});

test('an end that cannot be recorded is an error in place of it', async () => {
  const fault = () => Promise.reject(new Error('no space'));
  const answer = buildUpstreamAnswer((STREAMING_APIS[0] as StreamingApi).text(['One ', 'two.']));
  const { text } = await guardAnswer(answer, { ports: { record: fault } });
  assert.ok(!text.includes('[DONE]') && text.includes('"error"'), text);
});

test('pings pass held events, and exceeding the hold limit ends the stream', async () => {
  const { call } = STREAMING_APIS[2] as StreamingApi;
  const [start, block, ping, ...rest] = call!(
    'run',
    splitUnits('{"a":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}'),
  );
  const events = [start!, block!, rest[0]!, ping!, ...rest.slice(1)];
  const wire = 'anthropic.messages';
  const { out } = await guardAnswer(buildUpstreamAnswer(events), { wire });
  assert.deepEqual([out[0], out[1]], [start, ping]);
  // The call is sent with the end of the answer.
  assert.equal(out.length, 3);
  const { text, events: recorded } = await guardAnswer(buildUpstreamAnswer(events), {
    wire,
    settings: { held_units_max: 500 },
  });
  assert.match(text, /proxy.stream_buffer_bytes_max/);
  assert.ok(!text.includes('bbb'));
  assert.deepEqual(recorded.map(({ policy_name, decision }) => [policy_name, decision])[0], [
    'limit.held_bytes',
    'block',
  ]);
});

test('a text that a provider adds to every event is judged and sent once', async () => {
  const [chat] = STREAMING_APIS as readonly [StreamingApi];
  const noted = (note: string) =>
    chat
      .text(['One ', 'two.'])
      .map((event) => event.replace('"id":"c1"', () => `"id":"c1","note":${JSON.stringify(note)}`));
  const clean = await guardAnswer(buildUpstreamAnswer(noted('A note of mine.')));
  assert.equal(clean.text.split('A note of mine.').length, 5);
  const masked = await guardAnswer(buildUpstreamAnswer(noted(SAID)));
  assert.ok(!masked.text.includes(SECRET) && masked.text.includes(SHOWN));
  assert.equal(masked.events[0]?.metadata.findings, 4);
  const rules = [{ name: 'no', boundary: 'output', data_tags: ['secret'], action: 'block' }];
  const blocked = await guardAnswer(buildUpstreamAnswer(noted(SAID)), { policy: buildTestPolicy({ rules }) });
  assert.ok(!blocked.text.includes('note') && /policy_violation/.test(blocked.text));
});

test('no more is read of the provider than the client takes', async () => {
  const [chat] = STREAMING_APIS as readonly [StreamingApi];
  let read = 0;
  async function* streamChunks(): AsyncGenerator<Uint8Array> {
    for (const event of chat.text(splitUnits('a word '.repeat(100)))) {
      read += 1;
      yield Buffer.from(event);
    }
  }
  const { call_context } = buildCallContext();
  const answering = { call_context, model: null, tokens: null };
  const stream = await guardStream(
    { ...buildUpstreamAnswer([]), body: streamChunks() },
    ASKED,
    answering,
    QUIET,
  );
  for (let taken = 1; taken <= 5; taken++) {
    await stream.next();
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    // A word is held until the next one begins, so several events contain one piece.
    assert.ok(read <= taken * 10, `${read} events read for ${taken} pieces`);
  }
  await stream.return(undefined);
});
