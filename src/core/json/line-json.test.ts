import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeLineEnds } from './line-json.ts';

test('JSON is one line for every reader', () => {
  const value = { 'a\u2028b': 'x\u0085y\u2029z\n\r' };
  const line = escapeLineEnds(JSON.stringify(value));
  assert.doesNotMatch(line, /[\u0085\u2028\u2029\n\r]/);
  assert.deepEqual(JSON.parse(line), value);
  assert.equal(escapeLineEnds('{"a":"b"}'), '{"a":"b"}');
});
