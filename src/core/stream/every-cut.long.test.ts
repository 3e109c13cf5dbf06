import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandTextDetectors } from '../detect/commands/in-text.ts';
import { allDetectors } from '../detect/detectors/all.ts';
import { cutText, findRunDifference, judgeWhole, runStream, splitUnits } from './testing/pieces.ts';

/** One in so many examples is cut, at one in so many places; `npm run test:cuts` cuts all at all. */
const STEP = process.env.CUTS === 'all' ? 1 : 16;

test('the examples of all detectors have the same findings when cut in two anywhere or into single units', () => {
  let seen = 0;
  let texts = 0;
  let cuts = 0;
  for (const { id, examples } of [...allDetectors, ...commandTextDetectors]) {
    for (const marked of [...examples.hits, ...examples.misses]) {
      seen += 1;
      if (seen % STEP !== 0) continue;
      const text = marked.replace(/[«»]/g, '');
      const expected = judgeWhole(text);
      assert.equal(findRunDifference(runStream(splitUnits(text)), expected), null, id);
      texts += 1;
      for (let at = 1 + (texts % STEP); at < text.length; at += STEP, cuts++)
        assert.equal(findRunDifference(runStream(cutText(text, [at])), expected), null, `${id} cut at ${at}`);
    }
  }
  assert.ok(texts * STEP > 5000 && cuts * STEP ** 2 > 200_000, `${texts} texts, ${cuts} cuts`);
});
