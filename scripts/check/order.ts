import { matchesGlob } from 'node:path';

/** Files that run for a minute or more, or mostly wait. They run first, so that short files fill the end of a round. */
export const HEAVIEST = [
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
