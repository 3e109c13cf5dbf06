import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  findEmbeddedStrings,
  findEscapedStrings,
  findPossibleStrings,
  findStringAt,
} from './embedded-strings.ts';
import { type SourceLeaf, scanJson } from './scan-json.ts';

function listStrings(text: string): readonly string[] {
  const { starts, ends } = findEmbeddedStrings(text);
  return starts.map((start, at) => text.slice(start, ends[at]));
}

const TEXTS: readonly { says: string; text: string; strings: readonly string[] }[] = [
  { says: 'one object', text: '{"a": "b", "c": [1, "d"]}', strings: ['a', 'b', 'c', 'd'] },
  { says: 'an object per line', text: '{"a":"b"}\n{"c":"\\n"}', strings: ['a', 'b', 'c', '\\n'] },
  { says: 'a fence', text: 'See\n```json\n["a"]\n```', strings: ['a'] },
  { says: 'prose around it', text: 'He [1] said "x": {"a":"b"}, and "y".', strings: ['a', 'b'] },
  { says: 'an object that is cut', text: 'x {"a":"b","c":"d', strings: ['a', 'b', 'c'] },
  { says: 'an array that is cut', text: '[{"a":"b"},', strings: ['a', 'b'] },
  { says: 'an object up to a mistake', text: '{"a":"b", c: "d"} {"e":1}', strings: ['a', 'b', 'e'] },
  { says: 'a document in brackets of prose', text: '[see {"a":"b"}]', strings: ['a', 'b'] },
  { says: 'no list of prose', text: '["a", and "b"]', strings: [] },
  { says: 'no list of a program', text: 'x = ["a"]; f(["b"])', strings: [] },
  { says: 'no object of a program', text: "{a: 'b'} {'c': 1}", strings: [] },
  { says: 'nothing', text: 'if (a) { return "b"; }', strings: [] },
];

test('the strings of JSON documents in a text are found', () => {
  for (const { says, text, strings } of TEXTS) assert.deepEqual(listStrings(text), strings, says);
  assert.equal(TEXTS.length, 12);
});

test('strings of several documents are those of each', () => {
  const anyDocument = fc
    .oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()))
    .map((value) => JSON.stringify(value));
  fc.assert(
    fc.property(fc.array(anyDocument), fc.constantFrom('\n', ' and ', '\n```\n'), (documents, between) => {
      const expected = documents.flatMap((source) => {
        const strings: string[] = [];
        const visit = ({ kind, start, end }: Readonly<SourceLeaf>) =>
          kind !== 'number' && strings.push(source.slice(start, end));
        assert.equal(scanJson(source, { depth_max: 64, nodes_max: 10_000 }, visit), 'read');
        return strings;
      });
      assert.deepEqual(listStrings(`It is ${documents.join(between)}`), expected);
    }),
  );
});

test('possible strings contain every escaped string', () => {
  const anyPart = fc.constantFrom(...'{}[]:,"\\\n\t a', '{"a":"\\n', '["\\"b"', '"\\u0041"', ' , "x\\\\"');
  const anyText = fc.array(anyPart, { maxLength: 40 }).map((parts) => parts.join(''));
  let count = 0;
  fc.assert(
    fc.property(anyText, (text) => {
      const { starts, ends } = findPossibleStrings(text);
      const possible = starts.map((start, at) => `${start} ${ends[at]}`);
      const escaped = findEscapedStrings(text);
      count += escaped.starts.length;
      for (const [at, start] of escaped.starts.entries())
        assert.ok(possible.includes(`${start} ${escaped.ends[at]}`), JSON.stringify(text));
    }),
    { numRuns: 2000 },
  );
  assert.ok(count > 50, `${count} strings`);
  assert.deepEqual(findPossibleStrings('f("a\\n"), "b\\x" "c", d: "e\\n"'), { starts: [25], ends: [28] });
});

test('a span has the string around it, or none', () => {
  const strings = findEmbeddedStrings('{"ab":"cd"}');
  const spans = [
    [2, 4],
    [7, 8],
    [3, 8],
    [0, 1],
    [10, 11],
  ] as const;
  assert.deepEqual(
    spans.map(([start, end]) => findStringAt(strings, start, end)),
    [0, 1, -1, -1, -1],
  );
});
