import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SPOOL_NAME } from './files.ts';
import { ORDER_NAME } from './order.ts';

/**
 * Lists what lies in a journal and is not of this program, by its path in the journal: links, pipes and sockets, folders
 * in the place of files, and a file in the place of the spool.
 */
export function listForeignJournalEntries(journalDir: string): readonly string[] {
  return listEntries(journalDir).flatMap((entry) => {
    const { name } = entry;
    if (entry.isFile()) return name === SPOOL_NAME ? [name] : [];
    if (!entry.isDirectory() || name === ORDER_NAME) return [name];
    return listNonFiles(join(journalDir, name)).map((each) => join(name, each));
  });
}

/** Returns the names in a folder that are not files; none if it is not a folder. */
export function listNonFiles(path: string): readonly string[] {
  return listEntries(path)
    .filter((entry) => !entry.isFile())
    .map(({ name }) => name);
}

function listEntries(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}
