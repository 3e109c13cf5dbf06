import { matchesGlob } from 'node:path';

export type Round = 'quick' | 'full' | 'nightly';

/**
 * Returns whether a round runs a test file. Files named `*.nightly.test.ts` run in the nightly round alone, and those named
 * `*.long.test.ts`, which take more than a few seconds, not in the quick one.
 */
export function isInRound(file: string, round: Round): boolean {
  if (file.endsWith('.nightly.test.ts')) return round === 'nightly';
  return round !== 'quick' || !file.endsWith('.long.test.ts');
}

/** Files that run for a minute or more, or mostly wait. They run first, so that short files fill the end of a round. */
export const HEAVIEST = [
  '{src,tests}/**/*.nightly.test.ts',
  'tests/*.fresh.test.ts',
  'tests/frameworks/*.test.ts',
  'tests/hook/doctor.test.ts',
  'tests/python/**/*.test.ts',
  'tests/gateway/mutations/*.test.ts',
  'tests/console/*.test.ts',
  'src/**/{races,every-cut,sessions,accounts}.long.test.ts',
  'tests/{mcp,intelligence,sdk,hook,gateway}/*.test.ts',
  '{src,tests}/**/*.long.test.ts',
  'tests/**/*.test.ts',
];

/** Returns test files, relative to the checkout, with the heaviest first and otherwise in the given order. */
export function sortHeaviestFirst(files: readonly string[]): readonly string[] {
  const getRank = (file: string): number => {
    const rank = HEAVIEST.findIndex((pattern) => matchesGlob(file, pattern));
    return rank < 0 ? HEAVIEST.length : rank;
  };
  return files.toSorted((one, other) => getRank(one) - getRank(other));
}
