/** Tool calls in shapes that no list of a format has: each is judged as a call, or not forwarded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import { openAnswerHarness } from './testing/answer-harness.ts';
import {
  added,
  type CallAnswer,
  call,
  candidate,
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

/** Allows one tool and no other. */
const POLICY = buildTestPolicy({
  documents: [
    {
      contracts: [
        {
          tool_name: 'safe',
          accepts: {},
          emits: {},
          side_effects: { reversible: true, requires_approval: false },
        },
      ],
    },
  ],
  settings: { undeclared_tools: 'block' },
});

const DANGER = 'danger';
const REFUSAL = /The tool `danger(?:\.safe)?` has no contract/g;

const block = (...content: readonly unknown[]) => ({ type: 'message', role: 'assistant', content });
const said = (content: unknown, more: object = {}) => ({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content, ...more }, finish_reason: 'stop' }],
});
const FUNCTION = { name: DANGER, arguments: '{}' };

/** Calls in shapes that no list of the formats has, for the answer, a block, a part, an item. */
const UNLISTED: readonly object[] = [
  { type: 'function_call', ...FUNCTION },
  { type: 'function', function: FUNCTION },
  { type: 'function', function: { name: DANGER } },
  { type: 'tool_use', id: 't', name: DANGER },
  { type: 'tool-call', toolName: DANGER, args: {} },
  { type: 'toolCall', name: DANGER, input: {} },
  { type: 'run', name: DANGER, parameters: { a: 1 } },
  { type: 'text', text: 'x', name: DANGER, arguments: '{}' },
  { type: 'x', tool_calls: [{ id: 'a', type: 'function', function: FUNCTION }] },
  { type: 'x', functionCalls: [{ name: DANGER, args: {} }] },
  { type: 'tool_use', name: 'safe', input: {}, function_call: FUNCTION },
  { call: { name: DANGER } },
  { type: 'tool_use', name: 'safe', input: {}, tool_name: DANGER },
  { type: 'new_call', name: 'safe', input: {}, arguments: DANGER },
  { type: 'tool_use', input: { name: DANGER } },
];
const unlisted: readonly CallAnswer[] = UNLISTED.flatMap((each) => [
  whole('openai.chat', `part ${text(each)}`, said([each])),
  whole('openai.chat', `member ${text(each)}`, said(null, { reasoning: [each] })),
  {
    wire: 'openai.chat',
    name: `stream: part ${text(each)}`,
    chunks: sse(delta({ content: [each] }), delta({}, 'stop'), '[DONE]'),
  },
  whole('anthropic.messages', text(each), block(each)),
  messages(text(each), start(0, each), stop(0)),
  whole('openai.responses', text(each), response([each])),
  whole('openai.responses', `part ${text(each)}`, response([{ type: 'message', content: [each] }])),
  whole('gemini.generate', text(each), candidate(each)),
  { wire: 'gemini.generate', name: `stream: ${text(each)}`, chunks: sse(candidate(each)) },
]);

/** Objects in the place of lists, and lists in the place of objects. */
const MISPLACED: readonly CallAnswer[] = [
  whole('openai.chat', 'calls as an object', message(call(0, 'b', DANGER))),
  whole('openai.chat', 'choices as an object', {
    choices: { message: { tool_calls: [call(0, 'b', DANGER)] } },
  }),
  whole('openai.chat', 'a choice in two lists', {
    choices: [said(null, { tool_calls: [call(0, 'b', DANGER)] }).choices],
  }),
  whole('openai.chat', 'a message as a list', {
    choices: [{ index: 0, message: [{ tool_calls: [call(0, 'b', DANGER)] }] }],
  }),
  whole('anthropic.messages', 'content as an object', { type: 'message', content: use(DANGER) }),
  whole('anthropic.messages', 'a block in two lists', block([use(DANGER)])),
  whole('openai.responses', 'output as an object', { ...response([]), output: item(DANGER) }),
  whole('openai.responses', 'an item in two lists', { ...response([]), output: [[item(DANGER)]] }),
  whole('gemini.generate', 'candidates as an object', {
    candidates: candidate(gemini(DANGER)).candidates[0],
  }),
  whole('gemini.generate', 'content as a list', { candidates: [{ content: [{ parts: [gemini(DANGER)] }] }] }),
  whole('gemini.generate', 'parts as an object', { candidates: [{ content: { parts: gemini(DANGER) } }] }),
  whole('gemini.generate', 'a part in two lists', {
    candidates: [{ content: { parts: [[gemini(DANGER)]] } }],
  }),
  whole('openai.chat', 'a call with two names', message([{ ...call(0, 'a', 'safe'), ...FUNCTION }])),
  whole('openai.responses', 'a tool of another namespace', response([item('safe', { namespace: DANGER })])),
  responses(
    'a tool of another namespace',
    added(0, item('safe', { namespace: DANGER })),
    stated(0, { name: 'safe' }),
    done(0, item('safe', { namespace: DANGER })),
    completed(item('safe', { namespace: DANGER })),
  ),
];

const ANSWERS = [...unlisted, ...MISPLACED];

test('judges or refuses calls in unlisted shapes', async () => {
  for (const { wire, name, chunks, type } of ANSWERS) {
    const { answer } = await openAnswerHarness({ wire, policy: POLICY });
    const { status, body } = await answer(chunks, type);
    assert.ok(!body.replaceAll(REFUSAL, '').includes(DANGER), `${wire} ${name}: ${status} ${body}`);
    assert.ok(status >= 400 || /"error(?:_code)?"/.test(body), `${wire} ${name}: ${status} ${body}`);
  }
  assert.ok(ANSWERS.length > 120, `${ANSWERS.length}`);
});

test('forwards the same shapes with an allowed tool', async () => {
  let forwarded = 0;
  for (const { wire, chunks, type } of unlisted) {
    const { answer } = await openAnswerHarness({ wire, policy: POLICY });
    const { status, body } = await answer(
      chunks.map((each) => each.replaceAll(DANGER, 'safe')),
      type,
    );
    if (status === 200 && body.includes('safe') && !/"error/.test(body)) forwarded += 1;
  }
  // The others have two names or two arguments, or no type where the format requires one.
  assert.ok(forwarded > 90, `${forwarded}`);
});
