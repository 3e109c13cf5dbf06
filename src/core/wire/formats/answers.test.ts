import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonTree } from '../../json/json-tree.ts';
import { applySplices } from '../../json/splice.ts';
import type { JsonNode } from '../../types/json.ts';
import { wireSamples } from '../testing/samples.ts';
import type { EventParts, WireAnswer, WireName } from '../wire-format.ts';
import { wireFormats } from './index.ts';

const LIMITS = { depth_max: 100, nodes_max: 100_000 };
const getSample = (name: WireName) => wireSamples.find((each) => each.format === name)!;
const getFormat = (name: WireName) => wireFormats.find((each) => each.name === name)!;
const usage = (input: number, output: number, read: number, write: number) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_tokens: read,
  cache_write_tokens: write,
});

function read(name: WireName, text: string): WireAnswer {
  const answer = getFormat(name).readAnswer(parseJsonTree(text, LIMITS) as JsonNode);
  assert.ok(answer, text);
  return answer;
}

/** The whole answers of the samples: id, model, finish reasons and usage, and texts that they contain. */
const ANSWERS: readonly (readonly [
  WireName,
  Pick<WireAnswer, 'id' | 'model' | 'finish_reasons' | 'usage'>,
  string[],
])[] = [
  ['anthropic.count_tokens', { id: null, model: null, finish_reasons: [], usage: null }, []],
  [
    'anthropic.messages',
    {
      id: 'msg_1',
      model: 'claude-sonnet-4-5-20250929',
      finish_reasons: ['tool_use'],
      usage: usage(60, 7, 30, 20),
    },
    ['They ask about rain.', 'It rains.', 'rain in Oslo', 'Rain today', 'a file'],
  ],
  [
    'gemini.generate',
    {
      id: 'mAitaLmkHPPlz7IPvtfUqQ4',
      model: 'gemini-2.5-flash',
      finish_reasons: ['STOP'],
      usage: usage(22, 8, 12, 0),
    },
    ['Thinking of rain.', 'It rains.', 'print("a b")', 'a b', 'mit or so', '<div>rain in Oslo</div>'],
  ],
  [
    'openai.chat',
    {
      id: 'chatcmpl-9x',
      model: 'gpt-5-mini-2025-08-07',
      finish_reasons: ['stop', 'tool_calls'],
      usage: usage(82, 17, 64, 0),
    },
    [
      'It rains, says https://example.com .',
      'Look out of the window.',
      'I would rather not.',
      'The sky',
      'It rains.',
    ],
  ],
  [
    'openai.completions',
    {
      id: 'cmpl-1',
      model: 'gpt-3.5-turbo-instruct',
      finish_reasons: ['stop', 'length'],
      usage: usage(5, 7, 0, 0),
    },
    ['a little lamb', 'a time'],
  ],
  [
    'openai.embeddings',
    { id: null, model: 'text-embedding-3-small', finish_reasons: [], usage: usage(8, 0, 0, 0) },
    [],
  ],
  [
    'openai.responses',
    {
      id: 'resp_1',
      model: 'gpt-5-mini-2025-08-07',
      finish_reasons: ['completed'],
      usage: usage(36, 87, 30, 2),
    },
    [
      'It rains.',
      'Not that.',
      'Thought about rain.',
      'Rain is water.',
      'Because of clouds',
      'a wet cat',
      'print("a b")',
    ],
  ],
];

test('a whole answer yields its texts and its usage', () => {
  for (const [name, expected, texts] of ANSWERS) {
    const answer = read(name, JSON.stringify(getSample(name).answers[0]));
    const { id, model, finish_reasons, usage: reported } = answer;
    assert.deepEqual({ id, model, finish_reasons, usage: reported }, expected, name);
    const values = answer.texts.map((each) => each.value);
    for (const text of texts) assert.ok(values.includes(text), `${name}: ${text}`);
  }
  assert.equal(ANSWERS.length, wireFormats.length);
});

/** Calls that the client has to execute, in whole answers and in streams: tool, id, arguments. */
const CALLS: readonly (readonly [WireName, readonly (readonly [string, string | null, unknown])[]])[] = [
  ['anthropic.messages', [['get_weather', 'toolu_1', { city: 'Oslo', 'odd key': ['a b', 3] }]]],
  [
    'gemini.generate',
    [
      ['get_weather', 'fc_1', { city: 'New York' }],
      ['now', null, null],
    ],
  ],
  [
    'openai.chat',
    [
      ['now', null, '{"zone":"UTC"}'],
      ['get_weather', 'call_1', '{"city":"Rome"}'],
      ['shell', 'call_2', 'ls -l'],
    ],
  ],
  [
    'openai.responses',
    [
      ['get_weather', 'call_1', '{"city":"Oslo"}'],
      ['grep', 'call_2', 'rain in Oslo'],
      ['computer', 'call_3', { type: 'type', text: 'my password' }],
      ['shell', 'call_4', { commands: ['ls -l', 'rm -rf x'], timeout_ms: 5 }],
      ['ask', 'mr_1', '{"q":"all of it"}'],
    ],
  ],
];

test('a whole answer yields the calls for the client, and not those that the provider made', () => {
  for (const [name, calls] of CALLS) {
    const text = JSON.stringify(getSample(name).answers[0]);
    const reported = read(name, text).tool_calls.map((each) => {
      const { start, end } = each.arguments;
      return [each.tool, each.call_id, start === end ? null : JSON.parse(text.slice(start, end))];
    });
    assert.deepEqual(reported, calls, name);
  }
  assert.equal(CALLS.length, 4);
});

test('what says a text again is taken out with it, and the answer stays one', () => {
  let echoes = 0;
  for (const { format, answers } of wireSamples) {
    for (const body of answers) {
      const text = JSON.stringify(body);
      const answer = read(format, text);
      const changed = applySplices(
        text,
        answer.echoes.map((each) => each.splice),
      );
      JSON.parse(changed);
      assert.ok(answer.echoes.every(({ of }) => of.length > 0));
      assert.doesNotMatch(changed, /"(?:logprob|logProbability|token_logprobs|signature":"E)"/);
      echoes += answer.echoes.length;
    }
  }
  assert.equal(echoes, 6);
});

interface ReadAnswer {
  readonly texts: Map<string, string>;
  readonly calls: Map<string, readonly [tool: string | null, call_id: string | null]>;
  readonly closed: string[];
  readonly parts: readonly EventParts[];
  readonly last: EventParts;
}

/** Returns the concatenated text of each channel of a stream, and checks that every repeat is equal to it. */
function follow(name: WireName, stream: readonly unknown[]): ReadAnswer {
  const reader = getFormat(name).openEvents();
  const texts = new Map<string, string>();
  const calls: ReadAnswer['calls'] = new Map();
  const parts = stream.map((event) => {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    const found = reader.read({ raw: `data: ${data}\n\n`, name: '', data, data_start: 6 });
    assert.ok(found, data);
    for (const { channel, kind, node, tool, call_id } of found.pieces) {
      const piece = node.kind === 'string' ? node.value : '';
      texts.set(channel, (texts.get(channel) ?? '') + piece);
      if (kind === 'arguments') calls.set(channel, [tool, call_id]);
    }
    for (const { of } of found.echoes) assert.ok(texts.has(of), `nobody said ${of}`);
    for (const { channel, node } of found.repeats) {
      if (!texts.has(channel) || node.kind !== 'string') continue;
      assert.equal(node.value, texts.get(channel), channel);
    }
    return found;
  });
  return { texts, calls, closed: parts.flatMap((each) => each.closed), parts, last: parts.at(-1)! };
}

test('chat completions: pieces of texts and calls, by choice', () => {
  const reported = follow('openai.chat', [...getSample('openai.chat').streams[0]!, '[DONE]']);
  assert.deepEqual(Object.fromEntries(reported.texts), {
    '0.content': 'It rains in Oslo.',
    '0.refusal': 'No more.',
    '0.reasoning_content': 'Hm, ',
    '0.reasoning_details.0.text': 'so what',
    '0.audio.transcript': 'It rains',
    '0.call.0': '{"city":"Oslo"}',
    '0.call.1': '',
    '1.content': 'The other one.',
    '1.function_call': '{}',
  });
  assert.deepEqual(reported.calls.get('0.call.0'), ['get_weather', 'call_1']);
  assert.deepEqual(reported.calls.get('0.call.1'), ['now', 'call_2']);
  assert.deepEqual(reported.calls.get('1.function_call'), ['now', null]);
  assert.deepEqual(reported.closed.toSorted(), [...reported.texts.keys()].toSorted());
  assert.equal(reported.last.is_last, true);
  assert.deepEqual(
    reported.parts.flatMap((each) => each.finish_reasons),
    ['function_call', 'tool_calls'],
  );
  const alone = reported.parts.filter((each) => each.is_added_usage);
  assert.deepEqual(
    alone.map((each) => each.usage),
    [usage(82, 17, 64, 0)],
  );
  assert.deepEqual(
    reported.parts.flatMap((each) => each.echoes.map(({ of }) => of)),
    ['0.content', '0.audio.transcript'],
  );
});

test('completions: pieces of text', () => {
  const reported = follow('openai.completions', [...getSample('openai.completions').streams[0]!, '[DONE]']);
  assert.deepEqual(Object.fromEntries(reported.texts), { '0.text': 'a little lamb' });
  assert.deepEqual(reported.closed, ['0.text']);
  assert.deepEqual(reported.parts.findLast((each) => each.usage !== null)?.usage, usage(5, 7, 0, 0));
});

test('messages: blocks, the signature that ends reasoning, and usage that adds up', () => {
  const reported = follow('anthropic.messages', getSample('anthropic.messages').streams[0]!);
  assert.deepEqual(Object.fromEntries(reported.texts), {
    'block.0': 'They ask about rain.',
    'block.1': 'It rains a lot.',
    'block.2': '{"query":"rain in Oslo"}',
    'block.4': '{"city": "Oslo"}',
  });
  assert.deepEqual([...reported.calls], [['block.4', ['get_weather', 'toolu_1']]]);
  assert.deepEqual(reported.closed, ['block.0', 'block.1', 'block.2', 'block.4']);
  const signed = reported.parts.findIndex((each) => each.echoes.length > 0);
  assert.deepEqual(reported.parts[signed]?.closed, ['block.0']);
  assert.deepEqual(reported.parts.findLast((each) => each.usage !== null)?.usage, usage(60, 89, 30, 20));
  assert.equal(reported.last.is_last, true);
});

test('messages: one-hour cache writes are counted separately, whole and in streams', () => {
  const stated = {
    input_tokens: 10,
    cache_creation_input_tokens: 20,
    cache_read_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
    output_tokens: 7,
  };
  const wanted = { ...usage(60, 7, 30, 20), cache_write_1h_tokens: 15 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: stated };
  assert.deepEqual(read('anthropic.messages', JSON.stringify(message)).usage, wanted);
  const reported = follow('anthropic.messages', [
    { type: 'message_start', message },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]);
  const last = reported.parts.findLast((each) => each.usage !== null)?.usage;
  assert.deepEqual(last, { ...wanted, output_tokens: 9 });
});

test('responses: deltas, and everything that says them again', () => {
  const reported = follow('openai.responses', getSample('openai.responses').streams[0]!);
  const expected = {
    'item.0.reasoning_summary_text.0': 'Thought about rain.',
    'item.0.reasoning_text.0': 'Rain is water.',
    'item.1.output_text.0': 'It rains.',
    'item.1.refusal.1': 'Not that.',
    'item.2.call': '{"city":"Oslo"}',
    'item.3.call': 'rain in Oslo',
    'item.4.shell_call_command.0': 'ls -l',
  };
  for (const [channel, text] of Object.entries(expected))
    assert.equal(reported.texts.get(channel), text, channel);
  assert.deepEqual(reported.calls.get('item.2.call'), ['get_weather', 'call_1']);
  assert.deepEqual(reported.calls.get('item.3.call'), ['grep', 'call_2']);
  const whole = reported.parts.flatMap((each) => each.repeats).filter((each) => each.kind === 'arguments');
  assert.deepEqual(
    new Set(whole.map((each) => each.tool)),
    new Set(['get_weather', 'grep', 'shell', 'computer']),
  );
  assert.deepEqual(new Set(reported.closed), new Set(reported.texts.keys()));
  assert.deepEqual(reported.last.usage, usage(36, 87, 30, 2));
  assert.equal(reported.last.is_last, true);
});

test('gemini: text, thoughts and calls that come whole', () => {
  const reported = follow('gemini.generate', getSample('gemini.generate').streams[0]!);
  assert.deepEqual(Object.fromEntries(reported.texts), {
    '0.thought': 'Thinking',
    '0.text': 'It rains a lot.',
    '0.text~2': '',
  });
  const [call] = reported.parts.flatMap((each) => each.repeats).filter((each) => each.kind === 'arguments');
  assert.deepEqual([call?.tool, call?.channel], ['get_weather', '0.call.0']);
  const closed = reported.parts.map((each) => each.closed);
  assert.deepEqual(closed, [[], ['0.thought'], ['0.text'], ['0.text~2']]);
  assert.deepEqual(reported.last.usage, usage(22, 8, 12, 0));
});

test('an error in a stream is its end', () => {
  const error = { message: 'It broke.', type: 'server_error', param: null, code: null };
  const errors: readonly (readonly [WireName, readonly unknown[]])[] = [
    ['anthropic.messages', getSample('anthropic.messages').streams[1]!],
    ['openai.responses', getSample('openai.responses').streams[1]!],
    ['openai.chat', [{ error }]],
    ['openai.completions', [{ error }]],
    ['openai.chat', [{ error: 'It broke.' }]],
    ['gemini.generate', [{ error: { code: 500, message: 'It broke.', status: 'INTERNAL' } }]],
  ];
  for (const [name, stream] of errors) {
    const { last } = follow(name, stream);
    assert.equal(last.is_last, true, name);
    assert.equal(last.repeats.length > 0, true, name);
  }
  assert.equal(errors.length, 6);
  for (const none of [null, '']) {
    const { last } = follow('openai.chat', [
      { error: none, choices: [{ index: 0, delta: { content: 'a' } }] },
    ]);
    assert.equal(last.is_last, false);
  }
});

test('responses: an error may be the last event, or precede the failed response', () => {
  const [error] = getSample('openai.responses').streams[2]!;
  const [failed] = getSample('openai.responses').streams[1]!.slice(-1);
  const alone = follow('openai.responses', [error]);
  assert.deepEqual([alone.last.is_last, alone.last.finish_reasons], [false, ['failed']]);
  const reported = follow('openai.responses', [error, failed]);
  assert.equal(reported.last.is_last, true);
});

test('events that are nothing of the protocol, or cannot be guarded, are not handed on', () => {
  const gemini = (call: object) =>
    JSON.stringify({ candidates: [{ content: { parts: [{ functionCall: { name: 'f', ...call } }] } }] });
  const refused: readonly (readonly [WireName, string])[] = [
    ...wireFormats.flatMap(({ name }): [WireName, string][] => [
      [name, 'hello there'],
      [name, '"hello there"'],
      [name, '{"a":1} {"b":2}'],
      [name, `${'[{"a":'.repeat(300)}`],
      [name, `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`],
    ]),
    ['gemini.generate', gemini({ partialArgs: [{ jsonPath: '$.a', stringValue: 'b' }] })],
    ['gemini.generate', gemini({ args: {}, willContinue: true })],
  ];
  for (const [name, data] of refused) {
    const parts = getFormat(name).openEvents().read({ raw: data, name: '', data, data_start: 0 });
    assert.equal(parts, null, `${name}: ${data.slice(0, 50)}`);
  }
  assert.equal(refused.length, 37);
  const empty = getFormat('openai.chat')
    .openEvents()
    .read({ raw: ': ping\n\n', name: '', data: '', data_start: null });
  assert.deepEqual([empty?.pieces, empty?.repeats], [[], []]);
});

test('more channels than any answer has end the stream', () => {
  const reader = getFormat('openai.chat').openEvents();
  let read = 0;
  for (let index = 0; index < 10_000; index++) {
    const data = JSON.stringify({ choices: [{ index, delta: { content: 'a' } }] });
    if (reader.read({ raw: data, name: '', data, data_start: 0 }) === null) break;
    read += 1;
  }
  assert.equal(read, 4096);
});

test('a channel that is used again after its end is refused', () => {
  const start = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } };
  const reader = getFormat('anthropic.messages').openEvents();
  const read = [start, { type: 'content_block_stop', index: 0 }, start].map((event) => {
    const data = JSON.stringify(event);
    return reader.read({ raw: data, name: '', data, data_start: 0 }) !== null;
  });
  assert.deepEqual(read, [true, true, false]);
});
