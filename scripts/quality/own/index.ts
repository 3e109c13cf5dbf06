import type { Category, CorpusRow } from '../../../src/features/quality/index.ts';
import { commands } from './commands.ts';
import { injection } from './injection.ts';
import { pii } from './pii.ts';
import { getRows } from './rows.ts';
import { secrets } from './secrets.ts';

/** The labelled rows that were written for this repository, by category. */
export const own: Readonly<Record<Category, readonly CorpusRow[]>> = {
  secrets: getRows(secrets, 'secret'),
  pii: getRows(pii, 'pii'),
  injection: getRows(injection, 'attack'),
  commands: getRows(commands, 'attack'),
};
