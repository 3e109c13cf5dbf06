import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandsInText } from '../detect/commands/in-text.ts';
import { allDetectors } from '../detect/detectors/all.ts';
import { cutAt, differenceOf, runOf, units, wholeOf } from './testing/pieces.ts';

test('the examples of all detectors come to the same, cut anywhere in two and cut into single units', () => {
  let texts = 0;
  let cuts = 0;
  for (const { id, examples } of [...allDetectors, ...commandsInText]) {
    for (const marked of [...examples.hits, ...examples.misses]) {
      const text = marked.replace(/[«»]/g, '');
      const expected = wholeOf(text);
      assert.equal(differenceOf(runOf(units(text)), expected), null, id);
      texts += 1;
      for (let at = 1; at < text.length; at++, cuts++)
        assert.equal(differenceOf(runOf(cutAt(text, [at])), expected), null, `${id} cut at ${at}`);
    }
  }
  assert.ok(texts > 5000 && cuts > 200_000, `${texts} texts, ${cuts} cuts`);
});
