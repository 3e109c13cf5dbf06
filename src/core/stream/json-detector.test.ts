import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scanJson } from '../json/scan-json.ts';
import { createJsonDetector, feedJsonDetector } from './json-detector.ts';

const LIMITS = { depth_max: 50, nodes_max: 10_000 };

function getState(pieces: readonly string[]): string {
  const reader = createJsonDetector();
  for (const piece of pieces) feedJsonDetector(reader, piece, LIMITS);
  return reader.state;
}

const readAll = (text: string) => scanJson(text, LIMITS, () => undefined);

test('a document is possible at every cut, and what is none is known to be none', () => {
  let documents = 0;
  let others = 0;
  const spoilt = fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...'{}[]",:\\ ae0-.\n'));
  fc.assert(
    fc.property(spoilt, ([json, place, sign]) => {
      const document = `[${json}]`;
      const at = place % document.length;
      assert.equal(getState([document.slice(0, at), document.slice(at)]), 'possible', document);
      documents += 1;
      const text = document.slice(0, at) + sign + document.slice(at + 1);
      if (readAll(text) === 'read') assert.equal(getState(text.split('')), 'possible', text);
      if (getState(text.split('')) !== 'none') return;
      others += 1;
      for (const more of ['', '"', ']', '1]', '"}]']) assert.equal(readAll(text + more), 'malformed', text);
    }),
    { numRuns: 2000, seed: 5 },
  );
  assert.ok(documents === 2000 && others > 300, `${others}`);
});

const NONE: readonly string[] = [
  'a',
  '[link](to)',
  '{ foo',
  '"A" she said',
  '[1 2]',
  '[tru ]',
  '{"a" 1}',
  '"a\n',
];

test('what only begins like a document is let go where that shows', () => {
  for (const text of NONE) assert.equal(getState([text]), 'none', text);
  for (const text of NONE.slice(1)) assert.equal(getState([text.slice(0, 1)]), 'possible', text);
  assert.equal(getState([' \n']), 'unknown');
  assert.equal(NONE.length, 8);
});

test('a document that is over a limit stays possible', () => {
  assert.equal(getState(['['.repeat(60), 'x']), 'possible');
});
