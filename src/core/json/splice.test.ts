import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonNode, StringNode } from '../types/json.ts';
import { parseJsonTree } from './json-tree.ts';
import { applySplices, quoteJson } from './splice.ts';

function listStrings(node: JsonNode): StringNode[] {
  if (node.kind === 'string') return [node];
  if (node.kind === 'array') return node.items.flatMap(listStrings);
  return node.kind === 'object' ? node.members.flatMap((each) => listStrings(each.value)) : [];
}

test('a string that is spliced changes, and no other byte does', () => {
  let spliced = 0;
  fc.assert(
    fc.property(
      fc.json({ stringUnit: 'binary' }),
      fc.string({ unit: 'binary' }),
      fc.nat(),
      (text, other, place) => {
        const node = parseJsonTree(text, { depth_max: 100, nodes_max: 10_000 });
        assert.notEqual(node.kind, 'problem');
        const strings = listStrings(node as JsonNode);
        if (strings.length === 0) return;
        const { start, end } = strings[place % strings.length]!;
        const changed = applySplices(text, [{ start, end, text: quoteJson(other) }]);
        const again = listStrings(parseJsonTree(changed, { depth_max: 100, nodes_max: 10_000 }) as JsonNode);
        assert.deepEqual(
          again.map((each) => each.value),
          strings.map((each, index) => (index === place % strings.length ? other : each.value)),
        );
        assert.equal(changed.slice(0, start), text.slice(0, start));
        assert.equal(changed.slice(changed.length - (text.length - end)), text.slice(end));
        spliced += 1;
      },
    ),
    { numRuns: 500 },
  );
  assert.ok(spliced > 100, `only ${spliced} texts held a string`);
});

test('big numbers, odd spaces and members that come twice are copied', () => {
  const text = '{ "n":1234567890123456789012345678901234567890,"a":"x" ,\t"a":"y","e":1.0E+2 }';
  const at = text.indexOf('"y"');
  assert.equal(applySplices(text, [{ start: at, end: at + 3, text: '"z"' }]), text.replace('"y"', '"z"'));
});

test('several splices in any order, at the edges, side by side and empty', () => {
  const splices = [
    { start: 6, end: 6, text: '!' },
    { start: 0, end: 2, text: 'A' },
    { start: 2, end: 4, text: '' },
  ];
  assert.equal(applySplices('aabbcc', splices), 'Acc!');
  assert.equal(applySplices('aabbcc', []), 'aabbcc');
});

test('splices that overlap or leave the text are a fault', () => {
  const faulty = [
    [
      { start: 0, end: 3, text: '' },
      { start: 2, end: 4, text: '' },
    ],
    [{ start: 3, end: 7, text: '' }],
    [{ start: 3, end: 2, text: '' }],
  ];
  for (const each of faulty) assert.throws(() => applySplices('aabbcc', each), RangeError);
  assert.equal(faulty.length, 3);
});

test('a lone surrogate is escaped, and whole ones are not', () => {
  assert.equal(quoteJson('a\ud800"\n\u{1f600}'), '"a\\ud800\\"\\n\u{1f600}"');
});
