/** Tests that a changed value keeps the JSON text of its unchanged parts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../types/index.ts';
import { rewriteJson } from './rewrite.ts';

type Row = readonly [text: string, change: (value: never) => unknown, written: string];

const same = (value: unknown) => value;
const ROWS: readonly Row[] = [
  [
    '{"id": 1234567890123456789, "f": 1.0, "e": 1e22}',
    same,
    '{"id": 1234567890123456789, "f": 1.0, "e": 1e22}',
  ],
  ['{\n  "a": 1.0,\n  "b": [ "x", 2.50 ]\n}', same, '{\n  "a": 1.0,\n  "b": [ "x", 2.50 ]\n}'],
  [
    '{"id":12345678901234567890,"key":"secret", "n":[1.0,"x"]}',
    (value: object) => ({ ...value, key: '[REDACTED]' }),
    '{"id":12345678901234567890,"key":"[REDACTED]", "n":[1.0,"x"]}',
  ],
  ['[1.0,"a",-0]', () => [1, 'b', 0], '[1.0,"b",-0]'],
  ['[1.0,"a"]', () => [1], '[1]'],
  ['{"a":1,"a":2.0}', same, '{"a":2.0}'],
  ['{"b":{"a":"first","a" : "last"},"c":1.0}', same, '{"b":{"a" : "last"},"c":1.0}'],
  ['{"a":1.0,"b":2.0,"c":3.0}', ({ a, c }: { a: number; c: number }) => ({ a, c }), '{"a":1.0,"c":3.0}'],
  ['{ "a":1.0, "b":2 }', ({ b }: { b: number }) => ({ b }), '{ "b":2 }'],
  ['{"a":1.0}', () => ({}), '{}'],
  ['{}', () => ({ a: 'x' }), '{"a":"x"}'],
  ['{"a":1.0}', (value: object) => ({ ...value, b: [true] }), '{"a":1.0,"b":[true]}'],
  ['{"__proto__":{"a":1.0},"b":1.50}', same, '{"__proto__":{"a":1.0},"b":1.50}'],
  [' [true,false,null] ', () => [true, null, null], ' [true,null,null] '],
  ['"text"', () => ({ a: 1 }), '{"a":1}'],
  ['not JSON', () => 'text', '"text"'],
];

test('what did not change keeps its text, and of equal keys the last one stays', () => {
  for (const [text, change, written] of ROWS) {
    let value: unknown = null;
    try {
      value = JSON.parse(text);
    } catch {}
    const changed = change(value as never) as Json;
    assert.equal(rewriteJson(text, changed), written, text);
    assert.equal(JSON.stringify(JSON.parse(written)), JSON.stringify(changed), text);
  }
  assert.equal(ROWS.length, 16);
});
