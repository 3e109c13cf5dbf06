/** Texts that clients see but a simple guard misses: joined, outside the data, or not requested. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import type { WireName } from '../../core/wire/wire-format.ts';
import { openAnswerHarness } from './testing/answer-harness.ts';

const SECRET = ['AKIA', 'QYLPMN5HHHFPWXYZ'].join('');
const [HEAD, TAIL] = [` ${SECRET.slice(0, 9)}`, `${SECRET.slice(9)} .`] as const;
const JSON_TYPE = 'application/json';

const sse = (...events: readonly (object | string)[]): string[] =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);

const chunk = (delta: object, finishReason: string | null = null, index = 0) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  model: 'm',
  choices: [{ index, delta, finish_reason: finishReason }],
});

const block = (index: number, type: 'text' | 'thinking', text: string) => [
  { type: 'content_block_start', index, content_block: { type, [type]: '' } },
  { type: 'content_block_delta', index, delta: { type: `${type}_delta`, [type]: text } },
  { type: 'content_block_stop', index },
];
const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] };
const messages = (...events: readonly object[]) =>
  sse(
    { type: 'message_start', message },
    ...events,
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  );

const part = (text: string) => ({ type: 'output_text', text, annotations: [] });
const item = (...texts: string[]) => ({
  id: 'i',
  type: 'message',
  role: 'assistant',
  content: texts.map(part),
});
const response = (output: readonly object[], more: object = {}) => ({
  id: 'r',
  object: 'response',
  status: 'completed',
  output,
  ...more,
});
const delta = (outputIndex: number, contentIndex: number, text: string) => ({
  type: 'response.output_text.delta',
  item_id: `i${outputIndex}`,
  output_index: outputIndex,
  content_index: contentIndex,
  delta: text,
});
const added = (outputIndex: number) => ({
  type: 'response.output_item.added',
  output_index: outputIndex,
  item: item(),
});
const responses = (...events: readonly object[]) =>
  sse({ type: 'response.created', response: response([]) }, ...events, {
    type: 'response.completed',
    response: response([]),
  });

const gemini = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
});
const call = { functionCall: { name: 'f', args: {} } };
const STOP = { finishReason: 'STOP' };

/** Answers with a secret that is split over places which a client joins. */
const CUT: readonly (readonly [WireName, string, string[], type?: string])[] = [
  ['anthropic.messages', 'two blocks', messages(...block(0, 'text', HEAD), ...block(1, 'text', TAIL))],
  [
    'anthropic.messages',
    'reasoning between',
    messages(...block(0, 'text', HEAD), ...block(1, 'thinking', 'Hm.'), ...block(2, 'text', TAIL)),
  ],
  [
    'anthropic.messages',
    'two blocks, whole',
    [
      JSON.stringify({
        ...message,
        content: [
          { type: 'text', text: HEAD },
          { type: 'text', text: TAIL },
        ],
      }),
    ],
    JSON_TYPE,
  ],
  [
    'anthropic.messages',
    'text that does not fit its block',
    messages(
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: HEAD } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'zzz' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TAIL } },
    ),
  ],
  ['openai.responses', 'two parts', responses(added(0), delta(0, 0, HEAD), delta(0, 1, TAIL))],
  ['openai.responses', 'two items', responses(added(0), delta(0, 0, HEAD), added(1), delta(1, 0, TAIL))],
  [
    'openai.responses',
    'parts by turns',
    responses(added(0), delta(0, 0, HEAD), delta(0, 1, 'zzz'), delta(0, 0, TAIL)),
  ],
  ['openai.responses', 'two parts, whole', [JSON.stringify(response([item(HEAD, TAIL)]))], JSON_TYPE],
  ['openai.responses', 'two items, whole', [JSON.stringify(response([item(HEAD), item(TAIL)]))], JSON_TYPE],
  [
    'openai.responses',
    'a part of no kind',
    [JSON.stringify(response([{ ...item(), content: [part(HEAD), { text: TAIL }] }]))],
    JSON_TYPE,
  ],
  [
    'gemini.generate',
    'a call between',
    sse(gemini([{ text: HEAD }]), gemini([call]), gemini([{ text: TAIL }], STOP)),
  ],
  [
    'gemini.generate',
    'a thought before',
    sse(gemini([{ text: HEAD, thought: true }]), gemini([{ text: TAIL }], STOP)),
  ],
  [
    'gemini.generate',
    'a call between, whole',
    [JSON.stringify(gemini([{ text: HEAD }, call, { text: TAIL }], STOP))],
    JSON_TYPE,
  ],
  ['gemini.generate', 'behind the end', sse(gemini([{ text: HEAD }], STOP), gemini([{ text: TAIL }], STOP))],
  [
    'gemini.generate',
    'a list that clients add to a text',
    sse(gemini([{ text: [HEAD] }]), gemini([{ text: TAIL }], STOP)),
  ],
  [
    'openai.chat',
    'behind the end',
    sse(chunk({ content: HEAD }, 'stop'), chunk({ content: TAIL }, 'stop'), '[DONE]'),
  ],
  [
    'openai.chat',
    'choices that nobody asked for',
    sse(chunk({ content: HEAD }), chunk({ content: TAIL }, null, 1), chunk({}, 'stop'), '[DONE]'),
  ],
  [
    'openai.completions',
    'behind the end',
    sse(
      { choices: [{ index: 0, text: HEAD, finish_reason: 'stop' }] },
      { choices: [{ index: 0, text: TAIL, finish_reason: 'stop' }] },
      '[DONE]',
    ),
  ],
];

test('a text that a client puts together is judged as one', async () => {
  for (const [wire, name, chunks, type] of CUT) {
    const { answer, events } = await openAnswerHarness({ wire });
    const { body } = await answer(chunks, type);
    assert.ok(!(body.includes(HEAD.trim()) && body.includes(TAIL.trim())), `${wire} ${name}: ${body}`);
    assert.ok(!JSON.stringify(events).includes(SECRET));
  }
  assert.equal(CUT.length, 18);
});

test('texts without findings together are sent piece by piece', async () => {
  const honest: readonly (readonly [WireName, string[]])[] = [
    [
      'anthropic.messages',
      messages(...block(0, 'thinking', 'Hm. '), ...block(1, 'text', 'One '), ...block(2, 'text', 'two.')),
    ],
    ['openai.responses', responses(added(0), delta(0, 0, 'One '), delta(0, 1, 'two.'))],
    [
      'gemini.generate',
      sse(
        gemini([{ text: 'Hm. ', thought: true }]),
        gemini([{ text: 'One ' }]),
        gemini([call]),
        gemini([{ text: 'two.' }], STOP),
      ),
    ],
  ];
  for (const [wire, chunks] of honest) {
    const { body } = await (await openAnswerHarness({ wire })).answer(chunks);
    assert.ok(body.includes('One') && body.includes('two.') && !body.includes('"error"'), `${wire}: ${body}`);
  }
  // A text with a finding of its own is masked alone; the others stay unchanged.
  const masked = await (await openAnswerHarness({ wire: 'anthropic.messages' })).answer(
    messages(...block(0, 'text', `One ${SECRET} `), ...block(1, 'text', `two ${SECRET} .`)),
  );
  assert.ok(!masked.body.includes(SECRET) && !masked.body.includes('"error"'), masked.body);
  assert.equal(masked.body.split('[REDACTED]').length, 3);
});

test('an event is sent with the judged name and data, and nothing else', async () => {
  const hidden = JSON.stringify(chunk({ content: ` ${SECRET} ` }));
  const ends = ['\n', '\r\n', '\r'];
  const lines = [
    `: ${SECRET}`,
    `id: ${SECRET}`,
    `event: ${SECRET}`,
    `retry: ${SECRET}`,
    `unknown: ${SECRET}`,
    SECRET,
  ];
  const cuts = ['\u2028', '\u2029', '\x85', '\v', '\f', '\x1c'].map((cut) => `: x${cut}data: ${hidden}`);
  let ran = 0;
  for (const end of ends) {
    for (const line of [...lines, ...cuts]) {
      const data = `data: ${JSON.stringify(chunk({ content: 'Well.' }))}`;
      const events = [`${line}${end}${data}${end}${end}`, ...sse(chunk({}, 'stop'), '[DONE]')];
      const { body } = await (await openAnswerHarness()).answer(events);
      assert.ok(body.includes('Well.') && !body.includes(SECRET), `${JSON.stringify(line)}: ${body}`);
      ran += 1;
    }
  }
  assert.equal(ran, 36);
});

test('what a response says of its request is judged where the request does not say it', async () => {
  const requested = {
    model: 'm',
    input: 'Hello',
    instructions: 'Be kind to all.',
    metadata: { note: 'mine' },
  };
  const places = [
    { instructions: ` ${SECRET} ` },
    { metadata: { note: ` ${SECRET} ` } },
    { tools: [{ type: 'function', name: 'f', description: ` ${SECRET} `, parameters: {} }] },
    { text: { format: { type: 'text', note: ` ${SECRET} ` } } },
    { user: ` ${SECRET} ` },
    { prompt: { id: 'p', variables: { a: ` ${SECRET} ` } } },
  ];
  for (const more of places) {
    const whole = JSON.stringify(response([item('Well.')], more));
    const streamed = sse(
      { type: 'response.created', response: response([], more) },
      { type: 'response.completed', response: response([], more) },
    );
    for (const [chunks, type] of [
      [[whole], JSON_TYPE],
      [streamed, undefined],
    ] as const) {
      const { answer } = await openAnswerHarness({ wire: 'openai.responses', body: requested });
      const { body } = await answer(chunks, type);
      assert.ok(!body.includes(SECRET), `${JSON.stringify(more)}: ${body}`);
    }
  }
  // Text that the request already contained is not scanned again.
  const rules = [{ name: 'no', boundary: 'output', data_tags: ['personal.pii.email'], action: 'block' }];
  const mail = ['jane.roe', 'acme-corp.de'].join('@');
  const allowed = {
    rules: [{ name: 'in', boundary: 'input', data_tags: ['personal'], action: 'allow' }, ...rules],
  };
  const { answer } = await openAnswerHarness({
    wire: 'openai.responses',
    body: { ...requested, instructions: `Write to ${mail}.` },
    policy: buildTestPolicy(allowed),
  });
  const reported = await answer(
    [JSON.stringify(response([item('Well.')], { instructions: `Write to ${mail}.` }))],
    JSON_TYPE,
  );
  assert.equal(reported.status, 200, reported.body);
  const other = await answer(
    [JSON.stringify(response([item('Well.')], { instructions: `Tell ${mail}.` }))],
    JSON_TYPE,
  );
  assert.match(other.body, /policy_violation/);
});

test('an id or a name of the protocol that holds a secret is masked', async () => {
  const whole = {
    id: SECRET,
    object: 'chat.completion',
    model: SECRET,
    choices: [{ index: 0, message: { role: 'assistant', content: 'Well.' }, finish_reason: SECRET }],
  };
  const streamed = sse(
    { ...chunk({ content: 'Well.' }), id: SECRET, system_fingerprint: SECRET },
    chunk({}, SECRET),
    '[DONE]',
  );
  for (const [chunks, type] of [
    [[JSON.stringify(whole)], JSON_TYPE],
    [streamed, undefined],
  ] as const) {
    const { body } = await (await openAnswerHarness()).answer(chunks, type);
    assert.ok(!body.includes(SECRET) && body.includes('Well.'), body);
  }
});

test('a whole answer that is no object is not handed on, in any format', async () => {
  const wires: readonly WireName[] = [
    'openai.chat',
    'openai.responses',
    'openai.completions',
    'openai.embeddings',
    'anthropic.messages',
    'anthropic.count_tokens',
    'gemini.generate',
  ];
  for (const wire of wires) {
    for (const body of ['[]', '[{"a":1}]', '"hello there"', '1', 'null']) {
      const { status } = await (await openAnswerHarness({ wire })).answer([body], JSON_TYPE);
      assert.equal(status, 502, `${wire} ${body}`);
    }
  }
  assert.equal(wires.length, 7);
});
