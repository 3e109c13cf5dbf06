import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonTree } from '../../json/json-tree.ts';
import { applySplices } from '../../json/splice.ts';
import type { JsonNode } from '../../types/json.ts';
import { wireSamples } from '../testing/samples.ts';
import type { WireName, WireRequest } from '../wire-format.ts';
import { wireFormats } from './index.ts';

const LIMITS = { depth_max: 100, nodes_max: 100_000 };

function read(name: WireName, body: unknown): WireRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const format = wireFormats.find((each) => each.name === name);
  const node = parseJsonTree(text, LIMITS);
  assert.notEqual(node.kind, 'problem', text);
  return format!.readRequest(node as JsonNode);
}

const getSample = (name: WireName) => wireSamples.find((each) => each.format === name)!.requests;

/** The settings of the first sample request of each format. */
const ASKED: readonly (readonly [WireName, Partial<WireRequest>])[] = [
  ['anthropic.count_tokens', { is_stream: false, max_output_tokens: 0, choices: 1 }],
  ['anthropic.messages', { is_stream: true, max_output_tokens: 4000, choices: 1 }],
  ['gemini.generate', { is_stream: false, max_output_tokens: 300, choices: 2 }],
  ['openai.chat', { is_stream: true, max_output_tokens: 300, choices: 2 }],
  ['openai.completions', { is_stream: true, max_output_tokens: 16, choices: 1 }],
  ['openai.embeddings', { is_stream: false, max_output_tokens: 0, choices: 1 }],
  ['openai.responses', { is_stream: true, max_output_tokens: 200, choices: 1 }],
];

test('a request says which model, how much and whether in pieces', () => {
  for (const [name, asked] of ASKED) {
    const [body] = getSample(name);
    const request = read(name, body);
    const { is_stream, max_output_tokens, choices } = request;
    assert.deepEqual({ is_stream, max_output_tokens, choices }, asked, name);
    assert.equal(request.model?.value, (body as { model?: string }).model, name);
    assert.equal(request.problem, null);
  }
  assert.equal(ASKED.length, wireFormats.length);
});

/** Texts of the samples, with their roles. */
const SAID: readonly (readonly [WireName, number, string, string])[] = [
  ['openai.chat', 0, 'system', 'Answer in short words.'],
  ['openai.chat', 0, 'system', 'Be kind.'],
  ['openai.chat', 0, 'user', 'What is on these pictures?'],
  ['openai.chat', 0, 'user', 'https://example.com/a picture.png'],
  ['openai.chat', 0, 'user', 'my plan.pdf'],
  ['openai.chat', 0, 'assistant', '{"city":"Oslo"}'],
  ['openai.chat', 0, 'assistant', 'They want to know the weather.'],
  ['openai.chat', 0, 'tool_definition', 'Tells the weather of a place.'],
  ['openai.chat', 0, 'tool_definition', 'city'],
  ['openai.chat', 0, 'other', 'A role of tomorrow.'],
  ['openai.chat', 0, 'other', 'user 4711'],
  ['openai.chat', 0, 'other', 'ticket'],
  ['openai.chat', 0, 'other', 'ann lee'],
  ['openai.chat', 0, 'other', 'It rains there.'],
  ['openai.responses', 0, 'system', 'Be kind.'],
  ['openai.responses', 0, 'user', 'Does it rain?'],
  ['openai.responses', 1, 'system', 'Short words.'],
  ['openai.responses', 1, 'assistant', 'Thought about rain.'],
  ['openai.responses', 1, 'assistant', '{"city":"Oslo"}'],
  ['openai.responses', 1, 'tool_definition', 'Asks it.'],
  ['openai.responses', 1, 'other', 'Ann Lee'],
  ['openai.completions', 1, 'user', 'Once upon'],
  ['openai.embeddings', 1, 'user', 'jumps over'],
  ['anthropic.messages', 0, 'system', 'Be kind.'],
  ['anthropic.messages', 1, 'system', 'Be kind.'],
  ['anthropic.messages', 0, 'user', 'It rains a lot.'],
  ['anthropic.messages', 0, 'assistant', 'They ask about rain.'],
  ['anthropic.messages', 0, 'assistant', 'odd key'],
  ['anthropic.messages', 0, 'tool_definition', 'Where it is'],
  ['anthropic.messages', 0, 'other', 'user 4711'],
  ['anthropic.count_tokens', 0, 'user', 'Does it rain?'],
  ['gemini.generate', 0, 'system', 'Be kind.'],
  ['gemini.generate', 1, 'system', 'Be kind.'],
  ['gemini.generate', 1, 'user', 'Hello there'],
  ['gemini.generate', 0, 'assistant', 'Thinking of rain.'],
  ['gemini.generate', 0, 'tool_definition', 'Tells the weather.'],
  ['gemini.generate', 0, 'other', 'the rain team'],
];

test('every text has the role of who says it', () => {
  for (const [name, sample, role, text] of SAID) {
    const { texts } = read(name, getSample(name)[sample]);
    assert.ok(
      texts.some((each) => each.role === role && each.node.value === text),
      `${name}: ${role} ${text}`,
    );
  }
  assert.equal(SAID.length, 37);
});

test('texts are in the order of the body', () => {
  for (const { format, requests } of wireSamples) {
    for (const body of requests) {
      const places = read(format, body).texts.map((each) => each.node.start);
      const isFunctionResult = format === 'openai.chat' || format === 'openai.responses';
      if (!isFunctionResult)
        assert.deepEqual(
          places,
          places.toSorted((one, other) => one - other),
          format,
        );
    }
  }
});

/** Tool results in the samples, with their tools. */
const RESULTS: readonly (readonly [WireName, number, readonly (readonly [string | null, string])[]])[] = [
  [
    'openai.chat',
    0,
    [
      ['get_weather', 'It rains in Oslo.'],
      ['shell', 'three files'],
      ['now', 'ten past nine'],
    ],
  ],
  [
    'openai.responses',
    1,
    [
      ['get_weather', 'It rains.'],
      ['grep', 'found it'],
      ['computer', ''],
      ['shell', 'a file'],
      ['local_shell', 'my file'],
      ['apply_patch', 'all done'],
      ['ask', 'Because of clouds'],
      ['code_interpreter', 'a b'],
      ['file_search', 'rain report.txt'],
    ],
  ],
  [
    'anthropic.messages',
    0,
    [
      ['web_search', 'Rain today'],
      [null, 'a file'],
      ['ask', 'Because of clouds'],
      [null, 'https://example.com'],
      ['get_weather', 'It rains.'],
      [null, 'nothing at all'],
      [null, ''],
    ],
  ],
  [
    'gemini.generate',
    0,
    [
      ['code_execution', 'a b'],
      ['get_weather', 'result'],
    ],
  ],
  ['gemini.generate', 1, [['now', 'output']]],
];

test('a tool result has its tool name, and a notice can replace it', () => {
  let replaced = 0;
  for (const [name, sample, expected] of RESULTS) {
    const text = JSON.stringify(getSample(name)[sample]);
    const results = read(name, text).tool_results;
    assert.deepEqual(
      results.map((each) => [each.tool, each.texts[0]?.value ?? '']),
      expected,
      name,
    );
    for (const [index, result] of results.entries()) {
      const changed = applySplices(text, result.replaced('Blocked by policy, see the log.'));
      const again = read(name, changed).tool_results[index];
      const before = new Set(result.texts.map((each) => each.value));
      const left = again?.texts.filter((each) => before.has(each.value) && !/^[a-z_]+$/.test(each.value));
      assert.deepEqual(left ?? [], [], changed);
      replaced += 1;
    }
  }
  assert.equal(replaced, 22);
});

test('pictures, sound and files are counted, and what says that it is text is not one of them', () => {
  const part = (url: string) => ({
    model: 'm',
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  });
  const judged = [
    'data:text/plain;base64,aGVsbG8=',
    'data:image/svg+xml;base64,aGVsbG8=',
    'data:image/png,hello',
    'data:image/png;base64,hello there',
    'https://example.com/?q=secret',
    'aGVsbG8=',
  ];
  for (const url of judged) {
    assert.deepEqual(
      read('openai.chat', part(url)).texts.map((each) => each.node.value),
      [url],
    );
  }
  const request = read('openai.chat', part('data:image/png;base64,aGVsbG8='));
  assert.deepEqual([request.texts.length, request.opaque_units], [0, 30]);
  assert.equal(judged.length, 6);
});

test('a stream always requests its usage, whatever the client requested', () => {
  const cases = [
    [{ stream: true }, true],
    [{ stream: true, stream_options: null }, true],
    [{ stream: true, stream_options: {} }, true],
    [{ stream: true, stream_options: { include_obfuscation: false } }, true],
    [{ stream: true, stream_options: { include_usage: false } }, true],
    [{ stream: true, stream_options: { include_usage: true } }, false],
    [{ stream: false }, false],
    [{}, false],
  ] as const;
  for (const [options, isChanged] of cases) {
    const text = JSON.stringify({ model: 'm', messages: [], ...options });
    const { usage_splice } = read('openai.chat', text);
    assert.equal(usage_splice !== null, isChanged, text);
    if (usage_splice === null) continue;
    const { stream_options } = JSON.parse(applySplices(text, [usage_splice]));
    assert.equal(stream_options.include_usage, true);
  }
  assert.equal(cases.length, 8);
});

test('what can be understood in two ways, or not at all, has a problem', () => {
  const cases = [
    ['openai.chat', '{"model":"a","messages":[],"model":"b"}', /`model`/],
    ['openai.chat', '{"stream":true,"messages":[],"stream":false}', /`stream`/],
    ['openai.chat', '{"model":"a","messages":[],"stream":"true"}', /`stream` must be of type boolean/],
    ['openai.chat', '{"model":["a"],"messages":[]}', /`model` must be of type string/],
    ['openai.chat', '{"model":"a","messages":[],"n":"5"}', /`n` must be of type number/],
    ['openai.responses', '{"model":"a","max_output_tokens":1,"max_output_tokens":9000}', /more than once/],
    ['anthropic.messages', '[]', /object/],
    ['openai.completions', '{"model":"a","prompt":[1,2,3]}', /Token ids/],
    ['openai.embeddings', '{"model":"a","input":[[1],[2]]}', /Token ids/],
    ['openai.embeddings', '{"model":"a","input":["a",7]}', /Token ids/],
  ] as const;
  for (const [name, text, problem] of cases) assert.match(read(name, text).problem ?? '', problem, text);
  assert.equal(read('openai.embeddings', '{"model":"a","input":["a","b"]}').problem, null);
  assert.equal(cases.length, 10);
});

test('a count may be written as Gemini takes it', () => {
  const asked = read('gemini.generate', { generationConfig: { candidateCount: '4', max_output_tokens: 20 } });
  assert.deepEqual([asked.choices, asked.max_output_tokens], [4, 20]);
});

test('reasoning is taken out whole where it would change, or has lost its signature', () => {
  const thinking = { type: 'thinking', thinking: 'so secret', signature: 'EqQB' };
  const body = (block: object) =>
    JSON.stringify({
      model: 'm',
      messages: [{ role: 'assistant', content: [block, { type: 'text', text: 'Hi' }] }],
    });
  const signed = read('anthropic.messages', body(thinking));
  assert.deepEqual(signed.repairs, []);
  const { if_changed, node } = signed.texts.find((each) => each.node.value === 'so secret')!;
  const changed = JSON.parse(applySplices(body(thinking), if_changed!));
  assert.deepEqual(
    changed.messages[0].content.map((each: { type: string }) => each.type),
    ['text', 'text'],
  );
  assert.ok(if_changed![0]!.start < node.start);
  for (const block of [
    { ...thinking, signature: '' },
    { type: 'thinking', thinking: 'so secret' },
  ]) {
    const unsigned = read('anthropic.messages', body(block));
    assert.equal(applySplices(body(block), unsigned.repairs), applySplices(body(thinking), if_changed!));
  }
});

test('of several limits for the output the larger one counts', () => {
  const limits: readonly (readonly [WireName, object, number | null])[] = [
    ['openai.chat', { max_completion_tokens: 1, max_tokens: 4_000 }, 4_000],
    ['openai.chat', { max_completion_tokens: 4_000, max_tokens: 1 }, 4_000],
    ['openai.chat', { max_completion_tokens: 7 }, 7],
    ['openai.chat', {}, null],
    ['gemini.generate', { generationConfig: { maxOutputTokens: 1, max_output_tokens: 4_000 } }, 4_000],
    ['gemini.generate', { generationConfig: { max_output_tokens: '9' } }, 9],
  ];
  for (const [wire, body, expected] of limits) {
    assert.equal(read(wire, body).max_output_tokens, expected, JSON.stringify(body));
  }
  assert.equal(limits.length, 6);
});

test('bytes are media only if every member that names their type says so', () => {
  const data = Buffer.from('a text').toString('base64');
  const types: readonly (readonly [object, boolean])[] = [
    [{ mimeType: 'image/png' }, true],
    [{ mime_type: 'image/png' }, true],
    [{ mimeType: 'text/plain' }, false],
    [{ mimeType: 'image/png', mime_type: 'text/plain' }, false],
    [{ mime_type: 'image/png', mimeType: 'text/plain' }, false],
    [{ mimeType: 'image/png', media_type: 'text/plain' }, false],
    [{ mimeType: ['image/png'] }, false],
    [{}, false],
  ];
  for (const [type, isMedia] of types) {
    const { texts } = read('gemini.generate', { contents: [{ parts: [{ inlineData: { ...type, data } }] }] });
    assert.equal(!texts.some(({ node }) => node.value === data), isMedia, JSON.stringify(type));
  }
  assert.equal(types.length, 8);
});
