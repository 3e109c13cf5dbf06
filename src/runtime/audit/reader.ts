import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isForeignEntry } from '../../platform/files/own-file.ts';
import { getSystemCode } from './failure.ts';
import { listSegments, listWriters, type SegmentFile } from './files.ts';
import { JOURNAL_LINE_BYTES_MAX, type JournalRecord, type LineFault, parseRecord } from './journal-record.ts';
import { readJournalLines } from './lines.ts';

/** The position up to which a writer's chain was read. */
export interface ChainPosition {
  /** The file, as the number of its first line; 0 before the first file. */
  readonly segment: number;
  /** The offset in bytes, uncompressed, at the start of a line. */
  readonly offset: number;
  /** The hash of the last line read; `null` if unknown, and then the next line is accepted unchecked. */
  readonly record_hash: string | null;
  readonly seq: number;
}

export const FROM_START: ChainPosition = { segment: 0, offset: 0, record_hash: null, seq: 0 };

/** Some records in order, and the position after them. */
export interface ChainBlock {
  readonly records: readonly ReadRecord[];
  readonly position: ChainPosition;
  /** `true` if lines that were read before are gone; then these records begin at the start of the file. */
  readonly again: boolean;
}

/** A record and the text of its line. */
export interface ReadRecord {
  readonly record: JournalRecord;
  readonly line: string;
  /** The end of the line in its file, uncompressed. */
  readonly end: number;
}

const BLOCK_RECORDS = 512;

/**
 * Reads a writer's chain from a position to the end that it had when reading began, across rotation and compression.
 * Later lines wait for the next call, so that a busy writer cannot make the read endless. Skips lines that cannot be
 * read; `verifyJournal` reports them. If the file no longer continues what was read before (a failed write was taken
 * back), yields it again from its first line.
 */
export async function* readChain(writerDir: string, from: ChainPosition): AsyncGenerator<ChainBlock> {
  let position = from;
  const segments = (await listSegments(writerDir)).filter(({ first_seq }) => first_seq >= from.segment);
  for (const [index, segment] of segments.entries()) {
    if (position.seq + 1 === segments[index + 1]?.first_seq) continue;
    if (segment.first_seq !== position.segment) position = { ...position, ...getFileStart(segment) };
    try {
      for await (const block of readSegment(segment, position)) {
        position = block.position;
        yield block;
      }
    } catch (error) {
      // Retention may have deleted the file since it was listed, or another program has replaced it.
      if (getSystemCode(error) !== 'ENOENT' && !isForeignEntry(error)) throw error;
    }
  }
}

/** Returns the position after the last whole line of each writer, for readers that want new lines only. */
export async function readEnds(journalDir: string): Promise<Map<string, ChainPosition>> {
  const ends = new Map<string, ChainPosition>();
  for (const writer of await listWriters(journalDir)) {
    const newest = (await listSegments(join(journalDir, writer))).at(-1);
    if (newest === undefined) continue;
    ends.set(writer, { ...getStart(newest), offset: await findLinesEnd(newest) });
  }
  return ends;
}

/** Returns the end of the last whole line of a file. Searches a long plain file from its end. */
async function findLinesEnd(segment: SegmentFile): Promise<number> {
  const size = segment.gzip ? 0 : (await stat(segment.path)).size;
  const from = Math.max(0, size - JOURNAL_LINE_BYTES_MAX);
  let end = from;
  for await (const line of readJournalLines(segment, from)) if (line.whole) end = line.end;
  return end;
}

function getFileStart(segment: SegmentFile): { segment: number; offset: number } {
  return { segment: segment.first_seq, offset: 0 };
}

function getStart(segment: SegmentFile): ChainPosition {
  return { ...FROM_START, ...getFileStart(segment) };
}

/** Reads the rest of one file, up to the size that it had when the read began. */
async function* readSegment(
  segment: SegmentFile,
  from: ChainPosition,
  restarted = false,
): AsyncGenerator<ChainBlock> {
  const size = segment.gzip ? Number.POSITIVE_INFINITY : await getSize(segment.path);
  if (size === from.offset) return;
  if (size < from.offset) return yield* readSegment(segment, getStart(segment), true);
  let records: ReadRecord[] = [];
  let position = from;
  let again = restarted;
  for await (const line of readJournalLines(segment, from.offset)) {
    if (!line.whole) continue;
    const text = line.bytes.toString('utf8');
    const record = parseRecord(text);
    if (position === from && !continuesChain(record, from)) {
      return yield* readSegment(segment, getStart(segment), true);
    }
    if ('kind' in record) records.push({ record, line: text, end: line.end });
    const last = 'kind' in record ? record : position;
    position = { segment: from.segment, offset: line.end, record_hash: last.record_hash, seq: last.seq };
    if (records.length === BLOCK_RECORDS) {
      yield { records, position, again };
      records = [];
      again = false;
    }
    if (line.end >= size) break;
  }
  if (position !== from) yield { records, position, again };
}

/** Returns the size of a file; infinity if it was compressed since it was listed. */
async function getSize(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found?.size ?? Number.POSITIVE_INFINITY;
}

/** Returns whether a record is the direct successor of a position. */
function continuesChain(record: JournalRecord | LineFault, from: ChainPosition): boolean {
  if (from.offset === 0 || from.record_hash === null) return true;
  return 'kind' in record && record.prev_hash === from.record_hash;
}
