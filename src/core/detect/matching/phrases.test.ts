import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasUnit, parseAnchor } from './anchors.ts';
import { buildPhraseDetectors } from './phrases.ts';

const [detector] = buildPhraseDetectors('override', [
  {
    name: 'of_this_test',
    weight: 1,
    description: 'A phrase of this test.',
    anchors: ['(?i)send[\u2000-\u200a,]ä\\[-é'],
    pattern: 'send',
    hits: [],
    misses: [],
  },
]);

test('an anchor is widened to neighbours beyond ASCII, and admits no other ASCII unit', () => {
  const [anchor] = detector!.anchors.flatMap(parseAnchor);
  const admits = anchor!.sets.map((set) => (unit: string) => hasUnit(set, unit.charCodeAt(0)));
  assert.equal(admits.length, 9);
  assert.ok(['\u2000', '\u2005', '\u200f', ','].every(admits[4]!));
  assert.ok(!['-', '\u1fff', '\u2010', ' '].some(admits[4]!));
  assert.ok(['ä', 'à', 'ï'].every(admits[5]!));
  assert.ok(!['a', '-', 'ß', 'ð'].some(admits[5]!));
  assert.ok(admits[6]!('[') && admits[7]!('-') && admits[8]!('é'));
});

test('the check of a widened anchor accepts it as written only', () => {
  const accepts = (text: string): boolean => detector!.anchorCheck!(text, 0, text.length);
  assert.deepEqual(['send,ä[-é', 'SEND\u2005Ä[-É', 'send\u200fä[-é', 'send,à[-é', 'send,ä[-è'].map(accepts), [
    true,
    true,
    false,
    false,
    false,
  ]);
});
