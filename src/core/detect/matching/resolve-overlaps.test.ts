import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Detector, Strength } from './detector.ts';
import { resolveOverlaps } from './resolve-overlaps.ts';

function match(name: string, start: number, end: number, strength: Strength, tag = 'secret.credential.x') {
  const detector: Detector = {
    id: `test.${name}`,
    detector: 'test',
    tags: [tag],
    severity: 'low',
    strength,
    description: 'For this test.',
    anchors: [],
    pattern: /x/,
    examples: { hits: [], misses: [] },
  };
  return { detector, start, end };
}

const PERSONAL = 'personal.pii.x';
const HIDDEN = 'content.hidden_text';

/** Matches, and the names of those that are kept. */
const CASES = [
  {
    says: 'of one span the stronger stays',
    in: [match('cue', 0, 9, 'cue'), match('proof', 0, 9, 'proof')],
    out: 'proof',
  },
  {
    says: 'the order does not matter',
    in: [match('proof', 0, 9, 'proof'), match('cue', 0, 9, 'cue')],
    out: 'proof',
  },
  { says: 'equals keep the first', in: [match('a', 0, 9, 'cue'), match('b', 0, 9, 'cue')], out: 'a' },
  {
    says: 'a wider one explains',
    in: [match('in', 3, 5, 'shape'), match('wide', 0, 9, 'proof')],
    out: 'wide',
  },
  {
    says: 'a weaker one does not',
    in: [match('in', 3, 5, 'proof'), match('wide', 0, 9, 'cue')],
    out: 'wide in',
  },
  { says: 'overlaps stay', in: [match('a', 0, 5, 'proof'), match('b', 3, 9, 'proof')], out: 'a b' },
  { says: 'neighbours stay', in: [match('b', 5, 9, 'cue'), match('a', 0, 5, 'proof')], out: 'a b' },
  {
    says: 'nothing hides a secret but a secret',
    in: [match('mail', 0, 9, 'proof', PERSONAL), match('key', 2, 6, 'cue')],
    out: 'mail key',
  },
  {
    says: 'a secret explains an address in it',
    in: [match('mail', 4, 9, 'shape', PERSONAL), match('url', 0, 12, 'proof')],
    out: 'url',
  },
  {
    says: 'hidden text does not explain personal data in it',
    in: [match('override', 0, 9, 'proof', HIDDEN), match('mail', 2, 6, 'shape', PERSONAL)],
    out: 'override mail',
  },
  {
    says: 'personal data does not explain hidden text in it',
    in: [match('mail', 0, 9, 'proof', PERSONAL), match('tags', 2, 6, 'shape', HIDDEN)],
    out: 'mail tags',
  },
];

test('of matches that cover each other the one that explains them stays', () => {
  for (const { says, in: matches, out } of CASES) {
    const names = resolveOverlaps(matches).map(({ detector }) => detector.id.slice('test.'.length));
    assert.equal(names.join(' '), out, says);
  }
  assert.equal(CASES.length, 11);
});
