import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, renameSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from '../platform/failure.ts';
import { listForeignJournalEntries, listNonFiles } from '../runtime/audit/foreign-entries.ts';

interface EntryGroup {
  readonly names: readonly string[];
  readonly isOwn: (entry: Stats) => boolean;
  readonly kind: 'file' | 'folder';
}

/** The fixed names in a state folder. Each group has its kind of entry and its answer to another kind. */
const ENTRIES = {
  /** Files that the service writes again: copies of the store, caches and logs. */
  restored: {
    names: [
      '.gitignore',
      'blocked-agents.json',
      'daemon.log',
      'hook.json',
      'index.db',
      'index.db-shm',
      'index.db-wal',
      'legal-holds.json',
      'managed-policy.json',
      'owner.json',
    ],
    isOwn: (entry: Stats) => entry.isFile(),
    kind: 'file' as const,
  },
  /** Files that nothing can restore: keys, tokens, the store. */
  kept: {
    names: [
      'agent-token',
      'alert-stream-id',
      'approval-link-key',
      'fingerprint-key',
      'index-node',
      'log-export.json',
      'memory-key',
      'operator-token',
      'owner.lock',
      'store.db',
      'store.db-shm',
      'store.db-wal',
      'totp-key',
    ],
    isOwn: (entry: Stats) => entry.isFile(),
    kind: 'file' as const,
  },
  /** The service makes them again. */
  sockets: {
    names: ['content.sock', 'operator/operator.sock'],
    isOwn: (entry: Stats) => entry.isSocket(),
    kind: 'file' as const,
  },
  folders: {
    names: ['evidence', 'journal', 'keys', 'operator', 'policies', 'setup'],
    isOwn: (entry: Stats) => entry.isDirectory(),
    kind: 'folder' as const,
  },
} satisfies Readonly<Record<string, EntryGroup>>;

/** Follows the name of an entry that was moved away. */
const REFUSED = '.refused-';

/** The folders of `ENTRIES` that hold files only. */
const FLAT_FOLDERS = ['keys', 'policies'];

/**
 * Lists what lies in a state folder and is not of this service, by its path in the folder: a folder, link, pipe or
 * socket in the place of a file. It is skipped wherever the folder is read.
 */
export function listForeignEntries(stateDir: string): readonly string[] {
  const fixed = Object.values(ENTRIES).flatMap((entries) => listOther(stateDir, entries));
  const aside = ['', 'operator'].flatMap((folder) =>
    listNames(join(stateDir, folder))
      .filter((name) => name.includes(REFUSED))
      .map((name) => join(folder, name)),
  );
  const inside = FLAT_FOLDERS.flatMap((folder) =>
    listNonFiles(join(stateDir, folder)).map((name) => join(folder, name)),
  );
  const ofJournal = listForeignJournalEntries(join(stateDir, 'journal'));
  return [...fixed, ...aside, ...inside, ...ofJournal.map((path) => join('journal', path))];
}

/** The age in milliseconds up to which a list of entries is used again, because everyone may ask for the health. */
const LISTED_MS_MAX = 5_000;

/** Returns a function that lists the foreign entries of a state folder as they may be shown. */
export function openForeignEntries(stateDir: string, nowMs: () => number): () => readonly string[] {
  let listed: readonly string[] = [];
  let untilMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (nowMs() >= untilMs) {
      listed = formatEntries(listForeignEntries(stateDir));
      untilMs = nowMs() + LISTED_MS_MAX;
    }
    return listed;
  };
}

/** Entries that are shown at most, and UTF-16 units of each. */
const SHOWN_MAX = 20;
const SHOWN_UNITS_MAX = 200;

/** Formats entries for a log or an answer. Their maker chose the names, so only plain characters are shown. */
export function formatEntries(paths: readonly string[]): readonly string[] {
  return paths.slice(0, SHOWN_MAX).map((path) => path.slice(0, SHOWN_UNITS_MAX).replaceAll(/[^\w./-]/g, '?'));
}

/** @throws StartFailure `state_unusable` for an entry in the place of something that nothing can restore */
export function refuseForeignEntries(stateDir: string): void {
  for (const entries of [ENTRIES.kept, ENTRIES.folders]) {
    const [name] = listOther(stateDir, entries);
    if (name === undefined) continue;
    throw new StartFailure(
      'state_unusable',
      `\`${join(stateDir, name)}\` is not a ${entries.kind} of this service. Move it away, or restore the ${entries.kind} from a backup, then start again.`,
    );
  }
}

/**
 * Moves foreign entries away from the names of files and sockets that the service makes again, to `<name>.refused-<random>`, and
 * returns the names.
 */
export function setForeignEntriesAside(stateDir: string): readonly string[] {
  const foreign = [ENTRIES.restored, ENTRIES.sockets].flatMap((entries) => listOther(stateDir, entries));
  for (const name of foreign) {
    const path = join(stateDir, name);
    renameSync(path, `${path}${REFUSED}${randomBytes(6).toString('hex')}`);
  }
  return foreign;
}

/** Returns the names of entries of another kind. A folder may be a link to one on another disk. */
function listOther(stateDir: string, { names, kind, isOwn }: EntryGroup): readonly string[] {
  return names.filter((name) => {
    const look = kind === 'folder' ? statSync : lstatSync;
    const entry = look(join(stateDir, name), { throwIfNoEntry: false });
    return entry !== undefined && !isOwn(entry);
  });
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
