/**
 * Counts the steps of each detector's pattern per unit of work that the meter charges, for the worst text
 * found. The test checks one detector of each form with some texts; this checks all of them with many.
 * `node --stack-size=4000 benchmarks/detection/steps.ts [--texts N] [--seed N] [--only PATTERN] [--top N]`
 */
import { parseArgs } from 'node:util';
import { allDetectors } from '../../src/core/detect/detectors/all.ts';
import { findHardestText } from '../../src/core/testing/hardest-text.ts';

const UNITS = 1200;

const { values: options } = parseArgs({
  options: {
    texts: { type: 'string', default: '160' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    top: { type: 'string', default: '20' },
  },
});

const only = new RegExp(options.only);
const worst = allDetectors
  .filter(({ id }) => only.test(id))
  .map((detector, at) => {
    const seed = Number(options.seed) * allDetectors.length + at;
    const found = findHardestText(detector, { seed, texts: Number(options.texts), units: UNITS });
    return { id: detector.id, ...found, ratio: found.charged === 0 ? 0 : found.steps / found.charged };
  })
  .sort((a, b) => b.ratio - a.ratio);

console.log('steps per work, per unit of text, most in one try');
for (const { id, ratio, steps, units, most, piece } of worst.slice(0, Number(options.top)))
  console.log(
    [ratio.toFixed(1), (steps / units).toFixed(1), most.toFixed(0)].map((cell) => cell.padStart(8)).join(''),
    id,
    JSON.stringify(piece.slice(0, 40)),
  );
console.log(`${worst.length} detectors`);
