/** The usage of a call in the audit event on its answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAnswerHarness } from './testing/answer-harness.ts';

const USAGE = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
const HELD = { input_tokens: 12, output_tokens: 5, micro_usd: 7 };

function writeChunk(delta: object, more: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: null }];
  return `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'm', choices, ...more })}\n\n`;
}

const whole = (more: object) =>
  JSON.stringify({
    id: 'c1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
    ...more,
  });

test('the event on an answer holds the tokens and the cost that the provider reported, and no other event does', async () => {
  const rows: [name: string, chunks: string[], type: string, held: object | null][] = [
    ['whole', [whole({ usage: USAGE })], 'application/json', HELD],
    ['whole, nothing reported', [whole({})], 'application/json', null],
    [
      'stream',
      [writeChunk({ content: 'Hi.' }), writeChunk({}, { choices: [], usage: USAGE }), 'data: [DONE]\n\n'],
      'text/event-stream',
      HELD,
    ],
    [
      'stream, nothing reported',
      [writeChunk({ content: 'Hi.' }), 'data: [DONE]\n\n'],
      'text/event-stream',
      null,
    ],
  ];
  for (const [name, chunks, type, held] of rows) {
    const { answer, events } = await openAnswerHarness();
    await answer(chunks, type);
    const found = events.map(({ metadata: { endpoint, input_tokens, output_tokens, micro_usd } }) => [
      endpoint,
      input_tokens === undefined ? null : { input_tokens, output_tokens, micro_usd },
    ]);
    assert.deepEqual(
      found,
      [
        ['llm_request', null],
        ['llm_response', held],
      ],
      name,
    );
  }
  assert.equal(rows.length, 4);
});
