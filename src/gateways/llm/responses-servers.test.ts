/** Streams of the Responses API from servers other than OpenAI: unambiguous ones are forwarded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import { openAnswerHarness } from './testing/answer-harness.ts';
import { parseEvents } from './testing/streams.ts';

const contract = (toolName: string) => ({
  tool_name: toolName,
  accepts: {},
  emits: {},
  side_effects: { reversible: true, requires_approval: false },
});
const POLICY = buildTestPolicy({
  documents: [{ contracts: ['safe', 'also_safe'].map(contract) }],
  settings: { undeclared_tools: 'block' },
});
const SECRET = ['AKIA', 'QYLPMN5HHHFPWXYZ'].join('');

type Event = { readonly type: string } & Record<string, unknown>;
const on = (type: string, more: object = {}): Event => ({ type: `response.${type}`, ...more });

const stated = (text: string) => ({ type: 'output_text', text, annotations: [] });
const message = (id: string, ...texts: string[]) => ({
  id,
  type: 'message',
  role: 'assistant',
  content: texts.map(stated),
});
const reasoning = (id: string, ...texts: string[]) => ({
  id,
  type: 'reasoning',
  summary: [],
  content: texts.map((text) => ({ type: 'reasoning_text', text })),
});
const call = (name: string, args: string, more: object = {}) => ({
  type: 'function_call',
  call_id: `fc_${name}`,
  name,
  arguments: args,
  ...more,
});
const response = (status: string, output: readonly object[]) => ({
  response: { id: 'r', object: 'response', status, model: 'm', output },
});

/** The events between the start and the end, and the repetition in the last event. */
async function answerEvents(events: readonly Event[], output: readonly object[] = []) {
  const all = [
    on('created', response('in_progress', [])),
    ...events,
    on('completed', response('completed', output)),
  ];
  const chunks = all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const { answer } = await openAnswerHarness({ wire: 'openai.responses', policy: POLICY });
  const { body } = await answer(chunks);
  const shown = parseEvents(body);
  return { body, shown, is_whole: shown.at(-1)?.type === 'response.completed' && !body.includes('"error"') };
}

test('a server that gives no index: its events go out with the index of the item whose id they say', async () => {
  const [first, second] = [call('safe', '{"a":1}'), call('also_safe', '{}')];
  const { shown, body, is_whole } = await answerEvents(
    [
      on('output_item.added', { item: reasoning('rs') }),
      on('reasoning_text.delta', { item_id: 'rs', delta: 'Hm.' }),
      on('output_item.added', { item: message('msg') }),
      on('content_part.added', { item_id: 'msg', part: stated('') }),
      on('output_text.delta', { item_id: 'msg', delta: 'All is ' }),
      on('output_text.delta', { item_id: 'msg', delta: 'well.' }),
      on('output_item.added', { item: { ...first, arguments: '' } }),
      on('function_call_arguments.delta', { item_id: 'fc_fc_safe', delta: '{"a":' }),
      on('function_call_arguments.delta', { item_id: 'fc_fc_safe', delta: '1}' }),
      on('output_item.added', { item: { ...second, arguments: '' } }),
      on('function_call_arguments.delta', { item_id: 'fc_fc_also_safe', delta: '{}' }),
      on('output_item.done', { item: reasoning('rs', 'Hm.') }),
      on('output_text.done', { item_id: 'msg', text: 'All is well.' }),
      on('content_part.done', { item_id: 'msg', part: stated('All is well.') }),
      on('output_item.done', { item: message('msg', 'All is well.') }),
      on('output_item.done', { item: first }),
      on('output_item.done', { item: second }),
    ],
    [reasoning('rs', 'Hm.'), message('msg', 'All is well.'), first, second],
  );
  assert.ok(is_whole, body);
  const at = (type: string) =>
    shown.filter((each) => each.type === `response.${type}`).map((each) => each.output_index);
  assert.deepEqual(at('output_item.added'), [0, 1, 2, 3]);
  assert.deepEqual(at('output_item.done'), [0, 1, 2, 3]);
  assert.deepEqual(new Set(at('function_call_arguments.delta')), new Set([2, 3]));
  assert.deepEqual(new Set([...at('output_text.delta'), ...at('output_text.done')]), new Set([1]));
});

test('a server that gives each event a new id: they go out with the id of their item', async () => {
  const events = (texts: readonly string[]) => [
    on('output_item.added', { output_index: 0, item: message('a') }),
    on('content_part.added', { output_index: 0, content_index: 0, item_id: 'b', part: stated('') }),
    ...texts.map((delta, at) =>
      on('output_text.delta', { output_index: 0, content_index: 0, item_id: `c${at}`, delta }),
    ),
    on('output_text.done', { output_index: 0, content_index: 0, item_id: 'd', text: texts.join('') }),
    on('output_item.done', { output_index: 0, item: message('e', texts.join('')) }),
  ];
  const { shown, body, is_whole } = await answerEvents(events(['All ', 'is ', 'well.']));
  assert.ok(is_whole, body);
  assert.deepEqual(new Set(shown.flatMap(({ item_id }) => item_id ?? [])), new Set(['a']));
  // A client that uses the id would read a secret, and one that uses the index would not.
  const [head, tail] = [SECRET.slice(0, 9), SECRET.slice(9)];
  const hidden = [
    on('output_item.added', { output_index: 0, item: message('a') }),
    ...[
      ['a', ` ${head}`],
      ['b', 'zzz'],
      ['a', `${tail} `],
    ].map(([itemId, delta]) =>
      on('output_text.delta', { output_index: 0, content_index: 0, item_id: itemId, delta }),
    ),
  ];
  const other = await answerEvents(hidden);
  const ids = new Set(other.shown.flatMap(({ item_id }) => item_id ?? []));
  assert.ok(ids.size <= 1, other.body);
  // An event with the id of another item, and ids that are not strings.
  const borrowed = await answerEvents([
    on('output_item.added', { output_index: 0, item: message('a') }),
    on('output_text.delta', { output_index: 0, content_index: 0, item_id: 'a', delta: 'One. ' }),
    on('output_item.added', { output_index: 1, item: message('b') }),
    on('output_text.delta', { output_index: 1, content_index: 0, item_id: 'a', delta: 'Two. ' }),
  ]);
  const of = borrowed.shown.filter((each) => each.item_id === 'a').map((each) => each.output_index);
  assert.ok(
    of.every((each) => each === 0),
    borrowed.body,
  );
  const secret = on('output_text.delta', {
    output_index: 0,
    content_index: 0,
    item_id: ` ${SECRET} `,
    delta: 'One.',
  });
  const masked = await answerEvents([
    on('output_item.added', { output_index: 0, item: message('a') }),
    secret,
  ]);
  assert.ok(!masked.body.includes(SECRET), masked.body);
  // Masked text of the item does not reappear in the events about it.
  for (const id of [SECRET, ` ${SECRET} `, `${SECRET}${' '.repeat(300)}`, `${'a'.repeat(300)} ${SECRET}`]) {
    const otherId = on('output_text.delta', {
      output_index: 0,
      content_index: 0,
      item_id: 'b',
      delta: 'One.',
    });
    const { body } = await answerEvents([
      on('output_item.added', { output_index: 0, item: message(id) }),
      otherId,
    ]);
    assert.ok(!body.includes(SECRET), body);
  }
  const [long, longer] = ['x', 'y'].map((each) => each.repeat(400));
  const blobs = await answerEvents([
    on('output_item.added', { output_index: 0, item: message(long!) }),
    on('output_text.delta', { output_index: 0, content_index: 0, item_id: longer, delta: 'One.' }),
  ]);
  assert.ok(blobs.is_whole && !blobs.body.includes(longer!), blobs.body);
  for (const id of [7, ['a'], { id: 'a' }]) {
    const { is_whole } = await answerEvents([
      on('output_item.added', { output_index: 0, item: message('a') }),
      on('output_text.delta', { output_index: 0, content_index: 0, item_id: id, delta: 'One.' }),
    ]);
    assert.ok(!is_whole, JSON.stringify(id));
  }
});

test('an unannounced message is sent; an unannounced call is not', async () => {
  const begun = [
    on('output_item.added', { output_index: 0, item: reasoning('rs') }),
    on('reasoning_part.added', {
      output_index: 0,
      content_index: 0,
      item_id: 'rs',
      part: { type: 'reasoning_text', text: '' },
    }),
    on('reasoning_text.delta', { output_index: 0, content_index: 0, item_id: 'rs', delta: 'Hm.' }),
    on('reasoning_text.done', { output_index: 0, content_index: 0, item_id: 'rs', text: 'Hm.' }),
    on('reasoning_part.done', {
      output_index: 0,
      content_index: 0,
      item_id: 'rs',
      part: { type: 'reasoning_text', text: 'Hm.' },
    }),
    on('output_item.done', { output_index: 0, item: reasoning('rs', 'Hm.') }),
  ];
  const text = `Here: ${SECRET} .`;
  const place = { output_index: 1, content_index: 0, item_id: 'msg' };
  const ends: readonly (readonly Event[])[] = [
    [on('output_text.done', { ...place, text })],
    [on('output_text.delta', { ...place, delta: text }), on('output_text.done', { ...place, text })],
    [
      on('content_part.added', { ...place, part: stated('') }),
      on('output_text.delta', { ...place, delta: text }),
    ],
  ];
  for (const end of ends) {
    const item = message('msg', text);
    const done = on('output_item.done', { output_index: 1, item });
    const { body, is_whole } = await answerEvents([...begun, ...end, done], [reasoning('rs', 'Hm.'), item]);
    assert.ok(is_whole && body.includes('[REDACTED]') && !body.includes(SECRET), body);
    // The item begins once: not again after its first text, and not at a later index.
    const again = on('output_item.added', { output_index: 1, item: message('msg') });
    assert.ok(!(await answerEvents([...begun, ...end, again])).is_whole);
  }
  const args = { output_index: 1, item_id: 'fc', name: 'safe' };
  const unannounced = on('function_call_arguments.delta', { ...args, delta: '{}' });
  assert.ok(!(await answerEvents([...begun, unannounced])).is_whole);
  const far = on('output_text.delta', { ...place, output_index: 2, delta: 'Far.' });
  assert.ok(!(await answerEvents([...begun, far])).is_whole);
  assert.equal(ends.length, 3);
});
