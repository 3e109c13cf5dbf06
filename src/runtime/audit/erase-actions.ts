import { createWriteStream } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { takeLock } from '../../drivers/stores/lock.ts';
import { formatEventIdFloor } from './event-id.ts';
import { AuditFailure } from './failure.ts';
import {
  buildTemporaryName,
  FILE_MODE,
  listSegments,
  listWriters,
  type SegmentFile,
  syncDir,
} from './files.ts';
import { findActionBody } from './journal-record.ts';
import { readJournalLines } from './lines.ts';
import { GZIP_LEVEL } from './retention.ts';

/** The shown actions to erase: one event's, or those before a time. */
export type ActionErasure = { readonly event_id: string } | { readonly before_ms: number };

/** Returns whether an erasure covers an event. An action line that names no event is covered too. */
function coversEvent(erasure: ActionErasure, eventId: string | null): boolean {
  if (eventId === null) return true;
  return 'event_id' in erasure
    ? eventId === erasure.event_id
    : eventId < formatEventIdFloor(erasure.before_ms);
}

/** Returns whether a file of the journal has shown actions that an erasure covers. */
export async function hasActions(segment: SegmentFile, erasure: ActionErasure): Promise<boolean> {
  for await (const { bytes } of readJournalLines(segment)) {
    const body = findActionBody(bytes);
    if (body !== null && coversEvent(erasure, body.event_id)) return true;
  }
  return false;
}

/**
 * Erases shown actions from files that no process writes. Each file is replaced as a whole, so a stop leaves the old or the
 * new one. A line keeps its length, so that the positions of readers stay valid. Returns the number of erased actions.
 */
export async function eraseFromFiles(
  writerDir: string,
  segments: readonly SegmentFile[],
  erasure: ActionErasure,
): Promise<number> {
  let erased = 0;
  for (const segment of [...segments, ...(await listCopies(writerDir))]) {
    // The compressed file next to a plain one is incomplete, or a copy that readers ignore.
    if (!segment.gzip) await rm(`${segment.path}.gz`, { force: true });
    if (await hasActions(segment, erasure)) erased += await replaceFile(segment, writerDir, erasure);
  }
  return erased;
}

/** Erases from the chains that no process has open. `own` are the writers that erase from their own chains. */
export async function eraseFromIdleChains(
  journalDir: string,
  own: readonly string[],
  erasure: ActionErasure,
): Promise<number> {
  let erased = 0;
  for (const writer of await listWriters(journalDir)) {
    if (own.includes(writer)) continue;
    const writerDir = join(journalDir, writer);
    const lock = takeLock(join(writerDir, 'lock'));
    if (lock === null)
      throw new AuditFailure(
        'journal_in_use',
        `Another process is writing the journal of \`${writer}\`, so not everything was erased. Run the command again.`,
      );
    const segments = await listSegments(writerDir);
    erased += await eraseFromFiles(writerDir, segments, erasure).finally(lock.release);
  }
  return erased;
}

/** Lists the copies of unreadable ends, and deletes the half-written files that a killed process left. */
async function listCopies(writerDir: string): Promise<SegmentFile[]> {
  const names = await readdir(writerDir);
  // A half-written file may have a shown action, and no reader needs it.
  for (const name of names.filter((each) => each.endsWith('.tmp')))
    await rm(join(writerDir, name), { force: true });
  return names
    .filter((name) => name.endsWith('.set-aside'))
    .map((name) => ({ name, path: join(writerDir, name), first_seq: 0, gzip: false }));
}

async function replaceFile(segment: SegmentFile, writerDir: string, erasure: ActionErasure): Promise<number> {
  const temporary = buildTemporaryName(segment.path);
  const counted = { erased: 0 };
  const output = createWriteStream(temporary, { flags: 'wx', mode: FILE_MODE, flush: true });
  const covers = (eventId: string | null) => coversEvent(erasure, eventId);
  const lines = Readable.from(eraseLines(segment, covers, counted), { objectMode: false });
  try {
    await (segment.gzip
      ? pipeline(lines, createGzip({ level: GZIP_LEVEL }), output)
      : pipeline(lines, output));
    await rename(temporary, segment.path);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncDir(writerDir);
  return counted.erased;
}

/** Reads the lines of a file as if all shown actions were erased. The chain verifies without them. */
export function readWithoutActions(segment: SegmentFile): AsyncGenerator<Buffer> {
  return eraseLines(segment, () => true, { erased: 0 });
}

async function* eraseLines(
  segment: SegmentFile,
  covers: (eventId: string | null) => boolean,
  counted: { erased: number },
): AsyncGenerator<Buffer> {
  for await (const { bytes, whole } of readJournalLines(segment)) {
    const line = Buffer.concat([bytes, Buffer.from(whole ? '\n' : '')]);
    const body = findActionBody(bytes);
    if (body !== null && covers(body.event_id)) {
      line.fill(' ', body.start, body.end);
      counted.erased += 1;
    }
    yield line;
  }
}
