import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from './failure.ts';
import { listSegments, listWriters, type SegmentFile } from './files.ts';
import { readJournalLines } from './lines.ts';
import { JOURNAL_LINE_BYTES_MAX, type JournalRecord, type LineFault, parseRecord } from './record.ts';

/** How far a writer's chain has been read. */
export interface ChainPosition {
  /** The file, by the number of its first line; 0 before the first file. */
  readonly segment: number;
  /** Bytes into it, uncompressed, at the start of a line. */
  readonly offset: number;
  /** The last line read; `null` when that is not known, and then what follows is believed. */
  readonly record_hash: string | null;
  readonly seq: number;
}

export const FROM_START: ChainPosition = { segment: 0, offset: 0, record_hash: null, seq: 0 };

/** Some lines, in order, and where reading goes on behind them. */
export interface ChainBlock {
  readonly records: readonly ReadRecord[];
  readonly position: ChainPosition;
  /** Lines that were read before are not there any more: these begin the file again. */
  readonly again: boolean;
}

/** A line as an object, and as the text that it was read from. */
export interface ReadRecord {
  readonly record: JournalRecord;
  readonly line: string;
  /** Where the line ends in its file, uncompressed. */
  readonly end: number;
}

const BLOCK_RECORDS = 512;

/**
 * Reads a writer's chain from a position to the end that it had when reading began, across rotation and
 * compression; what is written meanwhile is for the next time, so that a busy writer is no endless read.
 * Lines that cannot be read are passed over (`verifyJournal` names them). Where the file no longer continues
 * what was read before (a write that failed was taken back), its lines are given again from its first.
 */
export async function* readChain(writer_dir: string, from: ChainPosition): AsyncGenerator<ChainBlock> {
  let position = from;
  const segments = (await listSegments(writer_dir)).filter(({ first_seq }) => first_seq >= from.segment);
  for (const [index, segment] of segments.entries()) {
    if (position.seq + 1 === segments[index + 1]?.first_seq) continue;
    if (segment.first_seq !== position.segment) position = { ...position, ...fileStart(segment) };
    try {
      for await (const block of readSegment(segment, position)) {
        position = block.position;
        yield block;
      }
    } catch (error) {
      // Age may have taken the file since it was listed.
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  }
}

/** Where a reader that wants only what is new begins: behind the last whole line of each writer. */
export async function readEnds(journal_dir: string): Promise<Map<string, ChainPosition>> {
  const ends = new Map<string, ChainPosition>();
  for (const writer of await listWriters(journal_dir)) {
    const newest = (await listSegments(join(journal_dir, writer))).at(-1);
    if (newest === undefined) continue;
    ends.set(writer, { ...startOf(newest), offset: await endOfLines(newest) });
  }
  return ends;
}

/** Where the last whole line of a file ends; looked for from behind in one that may be long. */
async function endOfLines(segment: SegmentFile): Promise<number> {
  const size = segment.gzip ? 0 : (await stat(segment.path)).size;
  const from = Math.max(0, size - JOURNAL_LINE_BYTES_MAX);
  let end = from;
  for await (const line of readJournalLines(segment, from)) if (line.whole) end = line.end;
  return end;
}

function fileStart(segment: SegmentFile): { segment: number; offset: number } {
  return { segment: segment.first_seq, offset: 0 };
}

function startOf(segment: SegmentFile): ChainPosition {
  return { ...FROM_START, ...fileStart(segment) };
}

/** The rest of one file, as far as it went at the beginning. */
async function* readSegment(
  segment: SegmentFile,
  from: ChainPosition,
  restarted = false,
): AsyncGenerator<ChainBlock> {
  const size = segment.gzip ? Number.POSITIVE_INFINITY : await sizeOf(segment.path);
  if (size === from.offset) return;
  if (size < from.offset) return yield* readSegment(segment, startOf(segment), true);
  let records: ReadRecord[] = [];
  let position = from;
  let again = restarted;
  for await (const line of readJournalLines(segment, from.offset)) {
    if (!line.whole) continue;
    const text = line.bytes.toString('utf8');
    const record = parseRecord(text);
    if (position === from && !continues(record, from)) {
      return yield* readSegment(segment, startOf(segment), true);
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

/** The size of a file; without bound for one that was compressed since it was listed. */
async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found?.size ?? Number.POSITIVE_INFINITY;
}

/** Whether the first line behind a position is the one that was to come. */
function continues(record: JournalRecord | LineFault, from: ChainPosition): boolean {
  if (from.offset === 0 || from.record_hash === null) return true;
  return 'kind' in record && record.prev_hash === from.record_hash;
}
