/**
 * Measures how much longer than clean text the worst texts take: for each detector, repeated beginnings of
 * its matches, and dense realistic files (tables of numbers, logs, dumps). Prints one line for each of the
 * worst.
 * `node benchmarks/detection/hostile.ts [--top N]`
 */
import { parseArgs } from 'node:util';
import { detect } from '../../src/core/detect/detect.ts';
import { allDetectors } from '../../src/core/detect/detectors/all.ts';
import type { Detector } from '../../src/core/detect/matching/detector.ts';
import { DETECTION } from '../../src/core/testing/policies.ts';
import { denseTexts } from './dense-texts.ts';
import { mixedText } from './texts.ts';

const BYTES = 256 << 10;
const TRIES = 3;
const WARM_TRIES = 40;
/** The size of the first, short measurement of every text. Only the slowest are measured at full size. */
const FIRST_BYTES = 16 << 10;
const MEASURED = 60;
const LIMITS = { text_bytes_max: 8 << 20, depth_max: 100, nodes_max: 1 << 20, findings_max: 1000 };
/** Lengths to which a hit is cut: the distances that a pattern may get before it fails. */
const CUTS = [3, 5, 8, 13, 21, 34];

const { values: options } = parseArgs({ options: { top: { type: 'string', default: '20' } } });

interface Figure {
  readonly name: string;
  readonly ms: number;
  readonly coverage: string;
}

/** Returns the best of several tries, so that other programs on the machine matter little. */
function measure(name: string, text: string, tries = TRIES): Figure {
  let ms = Number.POSITIVE_INFINITY;
  let coverage = '';
  for (let at = 0; at < tries; at++) {
    const before = performance.now();
    coverage = detect({ kind: 'text', text }, DETECTION, LIMITS).coverage.status;
    ms = Math.min(ms, performance.now() - before);
  }
  return { name, ms, coverage };
}

function repeated(piece: string, bytes: number): string {
  return Buffer.from(piece.repeat(Math.ceil(bytes / piece.length)).slice(0, bytes)).toString();
}

/** Returns texts that make a detector's pattern begin repeatedly, and its whole hits. */
function hostilePieces({ id, examples }: Detector): readonly (readonly [name: string, piece: string])[] {
  const marked = examples.hits[0]!;
  const from = marked.indexOf('«');
  const text = marked.replace(/[«»]/g, '');
  const cuts = CUTS.filter((units) => from + units < text.length).map((units) =>
    text.slice(from, from + units),
  );
  const pieces = [...cuts.flatMap((cut) => [cut, `${cut} `, `${cut}-`]), text, `${text}\n`];
  return [...new Set(pieces)].map((piece) => [`${id} ${JSON.stringify(piece.slice(0, 24))}`, piece]);
}

function report(title: string, figures: readonly Figure[], cleanMs: number): void {
  console.log(`\n${title}: times as long as clean text of ${BYTES} bytes (${cleanMs.toFixed(1)} ms)`);
  const worst = [...figures].sort((a, b) => b.ms - a.ms).slice(0, Number(options.top));
  for (const { name, ms, coverage } of worst)
    console.log(`${(ms / cleanMs).toFixed(1).padStart(8)}  ${coverage.padEnd(8)} ${name}`);
  console.log(`${figures.length} texts`);
}

const clean = Buffer.from(mixedText(BYTES, 0)).toString();
// The engine compiles code that runs often, so the first tries are several times as slow as the others.
const { ms: cleanMs } = measure('clean', clean, WARM_TRIES);
report(
  'Dense files',
  Object.entries(denseTexts(BYTES)).map(([name, text]) => measure(name, text, WARM_TRIES)),
  cleanMs,
);
const first = allDetectors
  .flatMap(hostilePieces)
  .map(([name, piece]) => ({ piece, ...measure(name, repeated(piece, FIRST_BYTES), 1) }))
  .sort((a, b) => b.ms - a.ms);
const worst = first.slice(0, MEASURED).map(({ name, piece }) => measure(name, repeated(piece, BYTES)));
report(`The worst of ${first.length} hostile texts`, worst, cleanMs);
