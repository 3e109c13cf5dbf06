import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detect } from '../detect.ts';
import type { Detector } from '../matching/detector.ts';
import { detectors } from './index.ts';

const LIMITS = { text_bytes_max: 1 << 20, depth_max: 100, nodes_max: 1 << 20, findings_max: 1 << 20 };
const DETECTION = { secret_detection: true, pii_protection: true };
const SHORT = 4 << 10;
const LONG = 32 << 10;
/** Per unit, eight times the text may take this many times as long; quadratic work would take eight. */
const GROWTH_MAX = 4;
const TRIES = 4;

/** What a detector's own hits begin with: the texts that get far into its pattern and then fail, or match. */
function piecesOf(hit: string): readonly string[] {
  const text = hit.replace(/[«»]/g, '');
  const from = hit.indexOf('«');
  const ends = [from + 3, from + Math.ceil((text.length - from) / 4), text.length];
  return ends.flatMap((end) => [text.slice(0, end), `${text.slice(from, end)}-`]);
}

/** One detector of each form: hundreds of patterns differ in nothing but the vendor's name or prefix. */
function oneOfEachForm(): readonly Detector[] {
  const form = ({ pattern }: Detector): string => pattern.source.replace(/^(?:\(\?:[^()]*\)|[\w-]+)/, '');
  return [...new Map(detectors.map((detector) => [form(detector), detector])).values()];
}

/** The best of a few runs, in nanoseconds per unit. */
function cost(piece: string, units: number): number {
  const text = piece.repeat(Math.ceil(units / piece.length)).slice(0, units);
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run++) {
    const from = performance.now();
    detect({ kind: 'text', text }, DETECTION, LIMITS);
    best = Math.min(best, performance.now() - from);
  }
  return (best * 1e6) / units;
}

/** The machine may be busy with others: growth is real when no try is without it. */
function leastGrowth(piece: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < TRIES && least > GROWTH_MAX; at++)
    least = Math.min(least, cost(piece, LONG) / cost(piece, SHORT));
  return least;
}

test('text made of a detector’s own pieces takes time in proportion to its length', () => {
  const pieces = new Set(
    oneOfEachForm().flatMap(({ examples }) => examples.hits.slice(0, 1).flatMap(piecesOf)),
  );
  for (const piece of pieces) {
    const growth = leastGrowth(piece);
    assert.ok(growth <= GROWTH_MAX, `${growth.toFixed(1)} times per unit: ${JSON.stringify(piece)}`);
  }
  assert.ok(pieces.size > 200, `${pieces.size} pieces`);
});

test('the measure shows quadratic work where there is some', () => {
  const quadratic = (units: number): number => {
    const from = performance.now();
    for (let at = 0; at < units; at++) for (let inner = 0; inner < at; inner += 8) Math.imul(at, inner);
    return (performance.now() - from) / units;
  };
  quadratic(SHORT);
  const growths = Array.from({ length: TRIES }, () => quadratic(LONG) / quadratic(SHORT));
  assert.ok(Math.max(...growths) > GROWTH_MAX, growths.join(' '));
});
