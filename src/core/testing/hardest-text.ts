import type { Detector } from '../detect/matching/detector.ts';
import { countDetector, measureEffort } from './detector-effort.ts';
import { createRandom, generateHostilePiece, mutatePiece, splitPattern } from './hostile-texts.ts';

/** Number of texts to try and their length in UTF-16 units. */
export interface TextSearch {
  readonly seed: number;
  readonly texts: number;
  readonly units: number;
}

/** The text piece whose repetition makes the pattern take the most steps per charged unit of work. */
export interface HardestText {
  readonly piece: string;
  readonly steps: number;
  /** Largest number of steps in one attempt. */
  readonly most: number;
  readonly charged: number;
  readonly units: number;
}

/** Number of hardest texts that each round keeps and mutates. */
const KEPT = 12;

/**
 * Searches for the hardest text of a detector. Generates texts from the parts of its pattern, then repeatedly mutates
 * the hardest ones.
 */
export function findHardestText(detector: Detector, { seed, texts, units }: TextSearch): HardestText {
  if ('find' in detector.pattern) throw new Error(`${detector.id} has no pattern of its own.`);
  const below = createRandom(seed);
  const parts = splitPattern(detector.pattern);
  const scanners = countDetector(detector);
  const tried = (piece: string): HardestText => {
    const text = piece.repeat(Math.ceil(units / piece.length)).slice(0, units);
    return { piece, units: text.length, ...measureEffort(scanners, text) };
  };
  const hits = detector.examples.hits.slice(0, 3).map((hit) => hit.replace(/[«»]/g, ''));
  const made = Array.from({ length: Math.ceil(texts / 4) }, () => generateHostilePiece(parts, below));
  let kept = [...hits, ...made].filter((piece) => piece.length > 0).map(tried);
  for (let left = texts - made.length; left > 0; left--) {
    kept = kept.sort((a, b) => getRatio(b) - getRatio(a)).slice(0, KEPT);
    const piece = mutatePiece(kept[below(kept.length)]!.piece, parts, below).slice(0, units);
    if (piece.length > 0) kept.push(tried(piece));
  }
  return kept.sort((a, b) => getRatio(b) - getRatio(a))[0]!;
}

function getRatio({ steps, charged }: HardestText): number {
  return charged === 0 ? 0 : steps / charged;
}
