/** Tool calls that only some clients see: each is judged under every name, or not forwarded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import { openAnswerHarness } from './testing/answer-harness.ts';
import {
  added,
  type CallAnswer,
  call,
  candidate,
  chat,
  completed,
  delta,
  done,
  gemini,
  item,
  message,
  messages,
  response,
  responses,
  sse,
  start,
  stated,
  stop,
  text,
  use,
  whole,
} from './testing/call-answers.ts';

const contract = (toolName: string) => ({
  tool_name: toolName,
  accepts: {},
  emits: {},
  side_effects: { reversible: true, requires_approval: false },
});

/** Allows two tools and no other. */
const POLICY = buildTestPolicy({
  documents: [{ contracts: [contract('safe'), contract('also_safe')] }],
  settings: { undeclared_tools: 'block' },
});

const DANGER = 'danger';

const SAFE = text(call(0, 'a', 'safe'));
const BAD = text(call(0, 'b', DANGER));

const UNKNOWN_CALL = { type: 'new_call', input: { a: 1 } };

const HIDDEN: readonly CallAnswer[] = [
  chat('two calls of one index, other ids', call(0, 'a', 'safe'), call(0, 'b', DANGER)),
  chat('two calls of one index, without ids', call(0, null, 'safe'), call(0, null, DANGER)),
  chat('no index', call(undefined, 'a', 'safe'), call(undefined, 'b', DANGER)),
  chat('an index that is negative', call(0, 'a', 'safe'), call(-1, 'b', DANGER)),
  chat('an index that is a text', call(0, 'a', 'safe'), call('0', 'b', DANGER)),
  chat('an index that is no whole number', call(0, 'a', 'safe'), call(0.5, 'b', DANGER)),
  chat('a name that changes', call(0, 'a', 'safe'), { index: 0, function: { name: DANGER } }),
  chat('a name that comes in pieces', call(0, 'a', 'dan'), { index: 0, function: { name: 'ger' } }),
  chat('a function and a custom tool', { ...call(0, 'a', 'safe'), custom: { name: DANGER, input: '' } }),
  {
    wire: 'openai.chat',
    name: 'stream: the list of calls twice',
    chunks: sse(
      `{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[${BAD}],"tool_calls":[${SAFE}]},"finish_reason":null}]}`,
      delta({}, 'tool_calls'),
      '[DONE]',
    ),
  },
  {
    wire: 'openai.chat',
    name: 'stream: a name for readers that know no capital letters',
    chunks: sse(
      `{"id":"c1","choices":[{"index":0,"delta":{"Tool_Calls":[${BAD}]},"finish_reason":null}]}`,
      delta({}, 'tool_calls'),
      '[DONE]',
    ),
  },
  {
    wire: 'openai.chat',
    name: 'stream: a call by its prototype',
    chunks: sse(
      `{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","__proto__":{"function":{"name":"${DANGER}","arguments":"{}"}}}]}}]}`,
      delta({}, 'tool_calls'),
      '[DONE]',
    ),
  },
  whole('openai.chat', 'one index for both', message([call(0, 'a', 'safe'), call(0, 'b', DANGER)])),
  whole(
    'openai.chat',
    'a function and a custom tool',
    message([{ ...call(0, 'a', 'safe'), custom: { name: DANGER, input: '' } }]),
  ),
  whole(
    'openai.chat',
    'the list of calls twice',
    text(message([])).replace('[]', `[${BAD}],"tool_calls":[${SAFE}]`),
  ),
  whole('openai.chat', 'an array', `[${text(message([call(0, 'b', DANGER)]))}]`),
  messages('two blocks of one index', start(0, use('safe')), stop(0), start(0, use(DANGER)), stop(0)),
  messages('two blocks of one index, both open', start(0, use('safe')), start(0, use(DANGER)), stop(0)),
  messages('an index that is negative', start(-1, use(DANGER)), stop(-1)),
  messages('no index', start(undefined, use('safe')), start(undefined, use(DANGER)), stop(undefined)),
  {
    wire: 'anthropic.messages',
    name: 'stream: a type that is told twice',
    chunks: messages('', start(0, use(DANGER)), stop(0)).chunks.map((each) =>
      each.replace('"type":"tool_use"', '"type":"tool_use","type":"text"'),
    ),
  },
  {
    wire: 'anthropic.messages',
    name: 'stream: an event of another name than its type',
    chunks: messages('', start(0, use(DANGER)), stop(0)).chunks.map((each) =>
      each.replace('"type":"content_block_start"', '"type":"ping"'),
    ),
  },
  whole(
    'anthropic.messages',
    'a type that is told twice',
    '{"type":"message","content":[{"type":"tool_use","type":"text","name":"danger","input":{}}]}',
  ),
  whole('anthropic.messages', 'an array', [{ type: 'message', content: [use(DANGER)] }]),
  responses(
    'an item that is done under another name',
    added(0, item('safe')),
    stated(0),
    done(0, item(DANGER)),
    completed(item('safe')),
  ),
  responses(
    'arguments that are done under another name',
    added(0, item('safe')),
    stated(0, { name: DANGER }),
    done(0, item('safe')),
    completed(item('safe')),
  ),
  responses(
    'an end that tells another name',
    added(0, item('safe')),
    stated(0),
    done(0, item('safe')),
    completed(item(DANGER)),
  ),
  responses(
    'an end that tells one more',
    added(0, item('safe')),
    stated(0),
    done(0, item('safe')),
    completed(item('safe'), item(DANGER)),
  ),
  responses(
    'an item that is done twice',
    added(0, item('safe')),
    stated(0),
    done(0, item('safe')),
    done(0, item(DANGER)),
    completed(item('safe')),
  ),
  responses('a beginning that holds a call', added(0, item('safe')), {
    type: 'response.in_progress',
    response: response([item(DANGER)]),
  }),
  whole('openai.responses', 'an array', [response([item(DANGER)])]),
  whole('openai.responses', 'a kind of call that is not known', response([item(DANGER, UNKNOWN_CALL)])),
  whole('openai.responses', 'a kind of item with a call', response([item(DANGER, { type: 'new_item' })])),
  responses(
    'a kind of call that is not known',
    added(0, { type: UNKNOWN_CALL.type, id: 'f1' }),
    done(0, item(DANGER, UNKNOWN_CALL)),
    completed(item(DANGER, UNKNOWN_CALL)),
  ),
  whole('anthropic.messages', 'a kind of call that is not known', {
    type: 'message',
    content: [{ ...use(DANGER), type: 'new_tool_use' }],
  }),
  { wire: 'gemini.generate', name: 'stream: an array', chunks: sse([candidate(gemini(DANGER))]) },
  {
    wire: 'gemini.generate',
    name: 'stream: in other letters',
    chunks: sse(candidate({ FunctionCall: { name: DANGER, args: {} } })),
  },
  {
    wire: 'gemini.generate',
    name: 'stream: two spellings',
    chunks: sse(candidate({ ...gemini('safe'), function_call: { name: DANGER, args: {} } })),
  },
  whole('gemini.generate', 'an array', [candidate(gemini(DANGER))]),
];

test('a call is judged under every name that a client could see, or the answer is not handed on', async () => {
  let ran = 0;
  for (const { wire, name, chunks, type } of HIDDEN) {
    const { answer } = await openAnswerHarness({ wire, policy: POLICY });
    const { status, body } = await answer(chunks, type);
    // The refusal itself contains the tool's name.
    const calls = body.replaceAll(`The tool \`${DANGER}\` has no contract`, '');
    assert.ok(!calls.includes(DANGER) && !/"ger"/.test(calls), `${wire} ${name}: ${status} ${body}`);
    assert.ok(status >= 400 || /"error(?:_code)?"/.test(body), `${wire} ${name}: ${status} ${body}`);
    ran += 1;
  }
  assert.equal(ran, HIDDEN.length);
  assert.ok(ran > 30, `${ran}`);
});

test('a guard that lets every tool be called lets the calls through: the negative control', async () => {
  let seen = 0;
  for (const { wire, chunks, type } of HIDDEN) {
    const { body } = await (await openAnswerHarness({ wire })).answer(chunks, type);
    if (body.includes(DANGER)) seen += 1;
  }
  assert.ok(seen >= 4, `${seen}`);
});

/** Valid streams of servers, with the names that a client sees at the end. */
const HONEST: readonly (readonly [CallAnswer, string[]])[] = [
  [
    chat('every call has the index 0', call(0, 'a', 'safe'), call(0, 'b', 'also_safe'), call(0, 'c', 'safe')),
    ['safe', 'also_safe', 'safe'],
  ],
  [
    chat('no call has an index', call(undefined, 'a', 'safe'), call(undefined, 'b', 'also_safe')),
    ['safe', 'also_safe'],
  ],
  [
    chat(
      'one call in pieces, with its name and id again',
      call(0, 'a', 'safe', '{"a"'),
      call(0, 'a', 'safe', ':1}'),
    ),
    ['safe'],
  ],
  [
    chat('a new id with each piece', call(0, 'a', 'safe', '{"a"'), {
      index: 0,
      id: 'x',
      function: { arguments: ':1}' },
    }),
    ['safe'],
  ],
  [
    chat('blank names behind the first', call(0, 'a', 'safe', '{"a"'), {
      index: 0,
      id: '',
      function: { name: '', arguments: ':1}' },
    }),
    ['safe'],
  ],
];

test('parallel calls of servers that give no places of their own continue, each in its place', async () => {
  for (const [{ wire, name, chunks }, expected] of HONEST) {
    const { body } = await (await openAnswerHarness({ wire, policy: POLICY })).answer(chunks);
    const calls: { name: string; arguments: string }[] = [];
    for (const line of body.split('\n')) {
      if (!line.startsWith('data: {')) continue;
      for (const each of JSON.parse(line.slice(6)).choices[0].delta.tool_calls ?? []) {
        calls[each.index] ??= { name: '', arguments: '' };
        calls[each.index]!.name += each.function.name ?? '';
        calls[each.index]!.arguments += each.function.arguments ?? '';
      }
    }
    assert.deepEqual(
      calls.map((each) => each.name),
      expected,
      `${name}: ${body}`,
    );
    for (const each of calls) JSON.parse(each.arguments);
    assert.ok(body.endsWith('data: [DONE]\n\n'), body);
  }
  assert.equal(HONEST.length, 5);
});

test('arguments that are no JSON object block, because clients repair them', async () => {
  const MENDED = [
    '{"path":"/tmp/a"',
    '{"path":"/tmp/a",}',
    "{'path':'/tmp/a'}",
    '{"path":"/tmp/\na"}',
    'path=/tmp/a',
    '"{\\"path\\":1}"',
  ];
  let ran = 0;
  for (const args of MENDED) {
    const answers: readonly CallAnswer[] = [
      chat('', call(0, 'a', 'safe', args)),
      whole('openai.chat', '', message([call(0, 'a', 'safe', args)])),
      messages(
        '',
        start(0, use('safe')),
        { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: args } },
        stop(0),
      ),
      responses(
        '',
        added(0, item('safe', { arguments: '' })),
        stated(0, { arguments: args }),
        done(0, item('safe', { arguments: args })),
        completed(item('safe', { arguments: args })),
      ),
      whole('openai.responses', '', response([item('safe', { arguments: args })])),
    ];
    for (const { wire, chunks, type } of answers) {
      const { answer, events } = await openAnswerHarness({ wire, policy: POLICY });
      const { body } = await answer(chunks, type);
      assert.ok(!body.includes('tmp') && /policy_violation/.test(body), `${wire} ${args}: ${body}`);
      assert.ok(
        events.some(({ policy_name }) => policy_name === 'tool.arguments_unreadable'),
        wire,
      );
      ran += 1;
    }
  }
  assert.equal(ran, 30);
});

test('a custom tool takes a text, which is no JSON', async () => {
  const custom = { index: 0, id: 'a', type: 'custom', custom: { name: 'safe', input: 'ls -l' } };
  for (const each of [chat('', custom), whole('openai.chat', '', message([custom]))]) {
    const { body } = await (await openAnswerHarness({ wire: each.wire, policy: POLICY })).answer(
      each.chunks,
      each.type,
    );
    assert.ok(body.includes('ls -l') && !body.includes('error'), body);
  }
});

test('a name that contains a secret is blocked, and appears nowhere', async () => {
  const secret = ['AKIA', 'QYLPMN5HHHFPWXYZ'].join('');
  const answers = [chat('', call(0, 'a', secret)), whole('openai.chat', '', message([call(0, 'a', secret)]))];
  for (const { wire, chunks, type } of answers) {
    const { answer, events } = await openAnswerHarness({ wire });
    const { body } = await answer(chunks, type);
    assert.ok(!body.includes(secret), body);
    assert.ok(!JSON.stringify(events).includes(secret));
    assert.ok(events.some(({ decision, tool_name }) => decision === 'block' && tool_name !== null));
  }
});
