/** `redaction.mode: tokenize`: the provider sees tokens, the client never does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMAIL } from './guarded-scenarios.ts';
import { SAMPLE_LANES } from './lanes.ts';
import { askRaw, rawAskFor, STREAMS, streamedText } from './raw.ts';
import { type Scenario, step } from './scenarios.ts';
import { openStage, runTable } from './stage.ts';

const OTHER = ['sam.rivers', 'northwind-traders.com'].join('@');
const PROMPT = `Write to ${EMAIL} and to ${OTHER}, and again to ${EMAIL}.`;
const SENT = 'Write to [EMAIL_1] and to [EMAIL_2], and again to [EMAIL_1].';
const ANSWER = `Sent to ${EMAIL}, not to ${OTHER} [EMAIL_3].`;
const ANSWERED = 'Sent to [EMAIL_1], not to [EMAIL_2] [EMAIL_3].';

const stage = await openStage(() => ({ config: { redaction: { mode: 'tokenize' } } }));

function answered(name: string, pieces: readonly string[], isStream: boolean): Scenario {
  return {
    name,
    ask: { text: PROMPT, is_stream: isStream },
    steps: step(isStream ? 'plain.stream' : 'plain', { pieces: { text: pieces } }),
    expect: ({ family, finish, usage_is_asked }) => ({
      text: ANSWER,
      finish: finish.stop,
      usage: isStream && usage_is_asked ? null : family === 'gemini' ? [9, 14] : [38, 14],
      turns: 1,
    }),
    received: [SENT],
    withheld: [EMAIL, OTHER],
  };
}

const ARGUMENTS = ['{"to":["[EMA', 'IL_2]"],"text":"for [EMAIL_1', '] only"}'];

const SCENARIOS: readonly Scenario[] = [
  answered('an answer', [ANSWERED], false),
  answered('a stream', [ANSWERED], true),
  answered('a stream, unit by unit', [...ANSWERED], true),
  ...[false, true].map(
    (isStream): Scenario => ({
      name: `a tool call${isStream ? ', streamed' : ''}`,
      ask: { text: PROMPT, tools: ['save_contact'], is_stream: isStream },
      steps: step(isStream ? 'one-call.stream' : 'one-call', {
        pieces: { tool: ['save_contact'], arguments: ARGUMENTS },
      }),
      expect: ({ family, finish, usage_is_asked }) => ({
        calls: [{ tool: 'save_contact', arguments: { to: [OTHER], text: `for ${EMAIL} only` } }],
        finish: finish.calls,
        usage: isStream && usage_is_asked ? null : family === 'anthropic' ? [388, 51] : [88, 21],
        turns: 1,
      }),
      received: [SENT],
      withheld: [EMAIL, OTHER],
    }),
  ),
];

test('values come back in answers and in tool calls, on every lane', { concurrency: true }, async (t) => {
  assert.equal(SCENARIOS.length, 5);
  await runTable(t, {
    ...stage,
    base_url: stage.service().url,
    lanes: SAMPLE_LANES,
    scenariosOf: () => SCENARIOS,
  });
});

test('at whichever place a stream cuts a token', async () => {
  let cuts = 0;
  for (const recording of STREAMS) {
    for (let at = 1; at < ANSWERED.length; at += 1) {
      const mark = `token ${recording} ${at}`;
      const text = [ANSWERED.slice(0, at), ANSWERED.slice(at)];
      stage.provider.plan(mark, [{ recording, pieces: { text } }]);
      const ask = rawAskFor(recording, PROMPT);
      const headers = { ...ask.headers, 'x-case': mark };
      assert.equal(streamedText(await askRaw(stage.service().url, { ...ask, headers })), ANSWER, mark);
      cuts += 1;
    }
  }
  assert.equal(cuts, STREAMS.length * (ANSWERED.length - 1));
});
