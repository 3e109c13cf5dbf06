import { builtin } from '../../src/core/detectors/builtin.ts';
import { writeTables } from '../../src/core/matching/made-tables.ts';
import { notationsOf } from '../../src/core/matching/scanner.ts';

/** `src/core/detection/anchor-tables.ts`, whole. */
export function anchorTables(): string {
  const { hash, data } = writeTables(notationsOf(builtin));
  return `import type { MadeTables } from '../matching/made-tables.ts';

/**
 * The automata of all built-in anchors, made by \`npm run generate\`. Where an anchor was edited since, the hash is
 * another one, and they are built at the first use.
 */
export const anchorTables: MadeTables = {
  hash: '${hash}',
  data: '${data}',
};
`;
}
