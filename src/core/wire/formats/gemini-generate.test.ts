import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventParts } from '../wire-format.ts';
import { geminiGenerate } from './gemini-generate.ts';

function read(stream: readonly unknown[]): readonly EventParts[] {
  const reader = geminiGenerate.openEvents();
  return stream.map((event) => {
    const data = JSON.stringify(event);
    const parts = reader.read({ raw: `data: ${data}\n\n`, name: '', data, data_start: 6 });
    assert.ok(parts, data);
    return parts;
  });
}

test('gemini: a run of text ends where parts of another kind follow', () => {
  const part = (...parts: object[]) => ({ candidates: [{ index: 0, content: { role: 'model', parts } }] });
  const call = { functionCall: { name: 'now', args: {} } };
  const streams: readonly (readonly [object[], string[][]])[] = [
    [
      [part({ text: 'a' }), part(call), part({ text: 'b' })],
      [[], ['0.text'], []],
    ],
    [
      [part({ text: 'a' }, call), part(call, { text: 'b' })],
      [['0.text'], []],
    ],
    [
      [part({ text: 'a' }), part(call, { text: 'b' }, { inlineData: {} })],
      [[], ['0.text', '0.text~2']],
    ],
    [
      [part({ text: 'a', thought: true }), part({ text: 'b' })],
      [[], ['0.thought']],
    ],
    [
      [part({ text: 'a', thought: true }), part({ text: '' }), part({ text: 'b', thought: true })],
      [[], [], ['0.text']],
    ],
  ];
  for (const [stream, closed] of streams) {
    assert.deepEqual(
      read(stream).map((each) => each.closed),
      closed,
      JSON.stringify(stream),
    );
  }
  assert.equal(streams.length, 5);
});

test('gemini: a prompt that is refused is the end of the stream', () => {
  const refused = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, responseId: 'r1' };
  assert.equal(read([refused])[0]?.is_last, true);
  const rated = { promptFeedback: { safetyRatings: [] }, responseId: 'r1' };
  assert.equal(read([rated])[0]?.is_last, false);
});
