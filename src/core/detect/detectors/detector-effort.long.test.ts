import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countDetector, measureEffort } from '../../testing/detector-effort.ts';
import { findHardestText } from '../../testing/hardest-text.ts';
import type { Detector } from '../matching/detector.ts';
import { allDetectors } from './all.ts';

/**
 * Maximum steps of a pattern for each unit of work that the meter charges. V8 takes 0.2 to 1 ns for a step, and 4 to
 * 5 ns for a unit of clean text, which is one unit of work.
 */
const STEPS_PER_WORK = 20;
/** Number of texts to try for each pattern. */
const TEXTS = process.env.NIGHTLY === undefined ? 10 : 40;
/** One in so many forms is tried, and each in the nightly round. */
const FORMS_STEP = process.env.NIGHTLY === undefined ? 5 : 1;
const UNITS = 600;
/** Maximum growth of the steps when the text doubles. Both texts are longer than the reach of one attempt. */
const GROWTH_MAX = 2.2;
const GROWTH_UNITS = 8000;
/** Growth is measured only for patterns with at least this number of steps per unit. */
const STEPS_PER_UNIT_MIN = 8;

/** Returns one detector of each form, because many differ only in a name, a prefix or the length limits of a run. */
function pickOneOfEachForm(): readonly Detector[] {
  const form = ({ id, pattern }: Detector): string =>
    id.endsWith('.named_key')
      ? `named ${pattern.source.length % 3}`
      : pattern.source.replace(/^(?:\(\?:[^()]*\)|[\w-]+)/, '').replace(/\d+/g, '');
  return [...new Map(allDetectors.map((detector) => [form(detector), detector])).values()];
}

/** Returns a seed of the detector's own, so that a new detector changes the texts of no other. */
function getSeed(id: string): number {
  return [...id].reduce((hash, unit) => (hash * 31 + unit.charCodeAt(0)) >>> 0, 7) % 100_000;
}

function getSteps(detector: Detector, piece: string, units: number): number {
  return measureEffort(countDetector(detector), piece.repeat(Math.ceil(units / piece.length)).slice(0, units))
    .steps;
}

test('the meter charges for each try of a pattern what it may cost', () => {
  const forms = pickOneOfEachForm();
  let grown = 0;
  for (const detector of forms.filter((_, at) => at % FORMS_STEP === 0)) {
    const seed = getSeed(detector.id);
    const { piece, steps, charged } = findHardestText(detector, { seed, texts: TEXTS, units: UNITS });
    const told = `${detector.id}: ${JSON.stringify(piece)}`;
    assert.ok(steps <= charged * STEPS_PER_WORK, `${(steps / charged).toFixed(1)} steps per work: ${told}`);
    if (steps < UNITS * STEPS_PER_UNIT_MIN) continue;
    const once = getSteps(detector, piece, GROWTH_UNITS);
    const twice = getSteps(detector, piece, 2 * GROWTH_UNITS);
    assert.ok(twice <= once * GROWTH_MAX, `${twice} steps, not twice ${once}: ${told}`);
    grown += 1;
  }
  assert.ok(forms.length > 400 && grown > 20 / FORMS_STEP, `${forms.length} forms, ${grown} that grow`);
});

test('a pattern that can be read in many ways is found out', () => {
  const hidden: Detector = {
    ...allDetectors[0]!,
    anchors: ['act'],
    pattern: /act(?:[a-z.]{1,9}[.]?){0,3}!/,
  };
  const { steps, charged } = findHardestText(hidden, { seed: 1, texts: TEXTS, units: UNITS });
  assert.ok(steps > charged * STEPS_PER_WORK * 2, `${steps} steps, ${charged} work`);
});
