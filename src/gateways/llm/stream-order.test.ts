/** The order of the parts of a streamed answer, and its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardStream } from './guard-stream.ts';
import { buildCallContext, buildUpstreamAnswer } from './testing/call-context.ts';
import { parseEvents, STREAMING_APIS, type StreamingApi } from './testing/streams.ts';

const SECRET = ['AKIA', 'QYLPMN5HHHFPWXYZ'].join('');
const SAID = `The key is ${SECRET}, keep it.`;
const SHOWN = 'The key is [REDACTED], keep it.';

/** Returns the whole output for these chunks. */
async function guardChunks(chunks: readonly (string | Uint8Array)[], wire: StreamingApi['wire']) {
  const { call_context, events } = buildCallContext({ wire });
  const news: string[] = [];
  const reported = {
    onChunk: () => {},
    onEvent: () => {},
    onEnd: (error: string | null) => void news.push(error ?? 'whole'),
  };
  const request = { choices: 1, drops_usage: false, repeatable: new Set<string>() };
  const answering = { call_context, model: null, tokens: null };
  let text = '';
  for await (const piece of await guardStream(buildUpstreamAnswer(chunks), request, answering, reported))
    text += piece;
  return { text, events, news };
}

const sse = (data: unknown, end = '\n') => `data: ${JSON.stringify(data)}${end}${end}`;

/** Normalizes line ends: events are always sent with this service's line ends. */
const lf = (text: string) => text.replaceAll('\r\n', '\n');

/** Returns the parts in the order in which a client receives them: adjacent texts joined, calls by their tool. */
function joinInOrder(reported: readonly (readonly [kind: string, text: string])[]): string[] {
  const runs: [kind: string, text: string][] = [];
  for (const [kind, text] of reported) {
    const last = runs.at(-1);
    if (text === '') continue;
    if (last !== undefined && last[0] === kind && kind !== 'call') last[1] += text;
    else runs.push([kind, text]);
  }
  return runs.map((run) => run.join(' '));
}

test('chat completions: what is held of a text goes out before the calls that came behind it', async () => {
  const chunk = (delta: object, finishReason: string | null = null) =>
    sse({
      id: 'c1',
      object: 'chat.completion.chunk',
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: finishReason }],
    });
  const call = (index: number) =>
    chunk({ tool_calls: [{ index, id: `c${index}`, function: { name: `tool${index}`, arguments: '{}' } }] });
  const order = (shown: string) =>
    joinInOrder(
      parseEvents(shown).flatMap(({ choices: [{ delta }] }) => [
        ['reasoning', delta.reasoning_content ?? ''] as const,
        ['text', delta.content ?? ''] as const,
        ['call', delta.tool_calls?.[0]?.function.name ?? ''] as const,
      ]),
    );
  const end = [chunk({}, 'tool_calls'), 'data: [DONE]\n\n'];
  const thought = chunk({ reasoning_content: 'Two cit' });
  const streams: readonly (readonly [string[], string[]])[] = [
    [
      [chunk({ content: 'Two cities' }), call(0), call(1), ...end],
      ['text Two cities', 'call tool0', 'call tool1'],
    ],
    [
      [thought, chunk({ reasoning_content: 'ies' }), call(0), ...end],
      ['reasoning Two cities', 'call tool0'],
    ],
    [
      [thought, chunk({ content: 'Well' }), call(0), ...end],
      ['reasoning Two cit', 'text Well', 'call tool0'],
    ],
    [
      [call(0), chunk({ content: 'Two cities' }), call(1), ...end],
      ['call tool0', 'text Two cities', 'call tool1'],
    ],
    [
      [
        call(0),
        chunk({ content: 'Two ' }),
        chunk({ content: 'cit' }),
        chunk({ content: 'ies' }),
        call(1),
        ...end,
      ],
      ['call tool0', 'text Two cities', 'call tool1'],
    ],
  ];
  for (const [events, expected] of streams) {
    const { text: shown } = await guardChunks(events, 'openai.chat');
    assert.deepEqual(
      order(shown).filter((each, at, all) => all.indexOf(each) === at),
      expected,
    );
  }
  assert.equal(streams.length, 5);
  // A secret that continues after a call is still detected.
  const split = [chunk({ content: SAID.slice(0, 20) }), call(0), chunk({ content: SAID.slice(20) }), ...end];
  const { text: shown } = await guardChunks(split, 'openai.chat');
  assert.deepEqual(
    parseEvents(shown)
      .map(({ choices: [{ delta }] }) => delta.content ?? '')
      .join(''),
    SHOWN,
  );
});

test('gemini: parts keep their order, and what is held goes out before what follows', async () => {
  const event = (part: object, more: object = {}) =>
    sse(
      { candidates: [{ index: 0, content: { role: 'model', parts: [part] }, ...more }], responseId: 'r1' },
      '\r\n',
    );
  const call = (name: string, more: object = {}) => event({ functionCall: { name, args: {} } }, more);
  const order = (shown: string) =>
    joinInOrder(
      parseEvents(shown).flatMap(({ candidates: [{ content }] }) =>
        content.parts.map(({ text, thought, functionCall }: Record<string, Record<string, string>>) =>
          functionCall === undefined ? [thought ? 'thought' : 'text', text] : ['call', functionCall.name],
        ),
      ),
    );
  const events = [
    event({ text: 'They ask about two cities', thought: true }),
    event({ text: 'I look' }),
    call('first'),
    event({ text: 'And once more' }),
    call('second', { finishReason: 'STOP' }),
  ];
  const expected = [
    'thought They ask about two cities',
    'text I look',
    'call first',
    'text And once more',
    'call second',
  ];
  const wire = 'gemini.generate' as const;
  const bytes = Buffer.from(events.join(''));
  let ran = 0;
  for (let at = 0; at < bytes.length; at++) {
    const { text: shown, news } = await guardChunks([bytes.subarray(0, at), bytes.subarray(at)], wire);
    assert.deepEqual([order(shown), news], [expected, ['whole']], `cut at ${at}`);
    assert.ok(shown.endsWith(lf(events.at(-1)!)) && !shown.includes('\r'), `cut at ${at}`);
    ran += 1;
  }
  assert.equal(ran, bytes.length);
});

test('an error of the provider, and a prompt that it refuses, end the stream unchanged', async () => {
  const error = { message: 'The server had an error.', type: 'server_error', param: null, code: null };
  const reported = `event: error\n${sse({ type: 'error', code: 'server_error', message: 'It broke.', param: null, sequence_number: 3 })}`;
  const response = { id: 'r1', object: 'response', status: 'failed', model: 'm', output: [], error };
  const failed = `event: response.failed\n${sse({ type: 'response.failed', response, sequence_number: 4 })}`;
  const refused = {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    modelVersion: 'm',
    responseId: 'r1',
  };
  const endings: readonly (readonly [StreamingApi['wire'], readonly string[]])[] = [
    ['openai.chat', [sse({ error })]],
    ['openai.completions', [sse({ error })]],
    ['anthropic.messages', [`event: error\n${sse({ type: 'error', error })}`]],
    ['openai.responses', [reported]],
    ['openai.responses', [reported, failed]],
    ['openai.responses', [failed]],
    ['gemini.generate', [sse({ error: { code: 500, message: 'It broke.', status: 'INTERNAL' } }, '\r\n')]],
    ['gemini.generate', [sse(refused, '\r\n')]],
  ];
  for (const [wire, ending] of endings) {
    const begun = STREAMING_APIS.find((each) => each.wire === wire)!
      .text(['It ', 'is ', 'so.'])
      .slice(0, 2);
    for (const events of [ending, [...begun, ...ending]]) {
      const { text: shown, news, events: recorded } = await guardChunks(events, wire);
      assert.ok(shown.endsWith(lf(ending.join(''))), `${wire}: ${shown}`);
      assert.equal(shown.split(lf(ending[0]!)).length, 2);
      assert.deepEqual([news, recorded.length], [['whole'], 1], wire);
    }
  }
  assert.equal(endings.length, 8);
});
