import { statfsSync } from 'node:fs';

/** The reason why files cannot be written, and the fix. Each is part of a sentence. */
export interface DiskProblem {
  /** `the disk is full` */
  readonly what: string;
  /** `Make room` */
  readonly fix: string;
  /** The code names the cause. A missing file, in contrast, may also be a bug of the program. */
  readonly names_cause: boolean;
}

export const DISK_FULL = 'the disk is full';

const FULL: DiskProblem = { what: DISK_FULL, fix: 'Make room', names_cause: true };
const READ_ONLY: DiskProblem = {
  what: 'the disk is read-only',
  fix: 'Mount it for writing',
  names_cause: true,
};
const NO_RIGHT: DiskProblem = {
  what: 'this user has no right to it',
  fix: 'Check its owner and its mode',
  names_cause: true,
};
const BROKEN: DiskProblem = { what: 'the disk reports an error', fix: 'Check the disk', names_cause: true };
const NO_PLACE: DiskProblem = {
  what: 'its folder cannot be made or opened',
  fix: 'Check the path',
  names_cause: false,
};

const BY_SYSTEM_CODE: Readonly<Record<string, DiskProblem>> = {
  ENOSPC: FULL,
  EDQUOT: { what: 'the disk quota of this user is used up', fix: 'Make room', names_cause: true },
  EFBIG: {
    what: 'the file-size limit of this process is reached',
    fix: 'Raise it (`ulimit -f`)',
    names_cause: true,
  },
  EROFS: READ_ONLY,
  EACCES: NO_RIGHT,
  EPERM: NO_RIGHT,
  EIO: BROKEN,
  ESTALE: BROKEN,
  EMFILE: { what: 'too many files are open', fix: 'Raise the limit (`ulimit -n`)', names_cause: true },
  ENFILE: { what: 'too many files are open', fix: 'Raise the limit of the system', names_cause: true },
  EEXIST: { what: 'a file is in its place', fix: 'Choose another path', names_cause: false },
  ENOENT: NO_PLACE,
  ENOTDIR: NO_PLACE,
  ELOOP: NO_PLACE,
  ENAMETOOLONG: NO_PLACE,
};

/** Primary result codes of SQLite: PERM, READONLY, IOERR, FULL, CANTOPEN, AUTH. */
const BY_SQLITE_CODE: Readonly<Record<number, DiskProblem>> = {
  3: NO_RIGHT,
  8: READ_ONLY,
  10: BROKEN,
  13: FULL,
  14: NO_PLACE,
  23: NO_RIGHT,
};

/**
 * Returns the disk problem behind an error, or `null` for any other error. SQLite reports some full disks as an I/O
 * error, so the free space of `folder` is checked too.
 */
export function findDiskProblem(error: unknown, folder: string | null = null): DiskProblem | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    const { code, errcode } = at as { code?: unknown; errcode?: unknown };
    const found = typeof errcode === 'number' ? BY_SQLITE_CODE[errcode % 256] : BY_SYSTEM_CODE[String(code)];
    if (found === undefined) continue;
    const mayBeFull = found === BROKEN || found === NO_PLACE;
    return mayBeFull && typeof errcode === 'number' && isFull(folder) ? FULL : found;
  }
  return null;
}

/** The minimum free space that a database needs to open, in bytes. */
const FREE_BYTES_MIN = 65_536;

function isFull(folder: string | null): boolean {
  if (folder === null) return false;
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < FREE_BYTES_MIN;
  } catch {
    return false;
  }
}
