import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Lock, takeLock } from '../../drivers/stores/lock.ts';
import { openOwnFile } from '../../platform/files/own-file.ts';
import { AuditFailure } from './failure.ts';
import { listSegments, makeDir, type SegmentFile, writeFileDurably } from './files.ts';
import {
  CHAIN_START,
  type ChainHead,
  type CutBody,
  decodeRecord,
  type JournalRecord,
  type LineFault,
  type WriterHead,
} from './journal-record.ts';
import { readJournalLines } from './lines.ts';
import { createSegment, cutToDurable, type OpenSegment, openSegment } from './segment.ts';

interface OpeningOptions {
  readonly writer: string;
  readonly now_ms: () => number;
  readonly lock_wait_ms?: number;
}

const LOCK_WAIT_MS = 5_000;

/** Makes the writer's folder and takes its lock. Waits up to `lock_wait_ms` for a process that is about to stop. */
export async function waitForChain(options: OpeningOptions, writerDir: string): Promise<Lock> {
  await makeDir(writerDir);
  const path = join(writerDir, 'lock');
  const STEP_MS = 20;
  const tries = Math.ceil((options.lock_wait_ms ?? LOCK_WAIT_MS) / STEP_MS);
  for (let attempt = 0; ; attempt++) {
    const lock = takeLock(path);
    if (lock !== null) return lock;
    if (attempt >= tries) break;
    await sleep(STEP_MS);
  }
  throw new AuditFailure(
    'journal_in_use',
    `Another process is writing the journal of \`${options.writer}\`. Stop it, or give this one a state folder of its own.`,
  );
}

/** The end of a chain, open for writing. `cut` is the removed part, which the next write must record. */
export interface ChainEnd {
  readonly segment: OpenSegment;
  readonly head: ChainHead;
  /** The last line is a checkpoint. */
  readonly signed: boolean;
  /** The heads of other writers that the last line names, if it is a checkpoint. */
  readonly signed_heads: readonly WriterHead[];
  /** The file has, or may have, more than its first line and a checkpoint. */
  readonly has_events: boolean;
  readonly cut: CutBody | null;
}

/**
 * Finds the end of the chain, truncates the incomplete bytes after it, and opens the file; or starts the first file.
 */
export async function openChainEnd(options: OpeningOptions, writerDir: string): Promise<ChainEnd> {
  const tail = await findTail(writerDir, options.writer);
  const cut = await cutLooseEnd(tail, options.now_ms());
  const { segment, head } = await startSegment(options, writerDir, tail);
  const { signed_heads } = tail;
  const isContinued = head === tail.head && tail.segment !== null;
  const hasEvents = isContinued && (!tail.signed || head.seq > tail.segment.first_seq + 1);
  const signed = tail.signed && head === tail.head;
  return { segment, head, signed, signed_heads, has_events: hasEvents, cut };
}

/** Opens the file to continue, and writes the first line if the file has none. */
async function startSegment(
  options: OpeningOptions,
  writerDir: string,
  tail: ChainTail,
): Promise<{ segment: OpenSegment; head: ChainHead }> {
  if (tail.segment !== null && tail.whole_bytes > 0) {
    const segment = await openSegment(tail.segment.path, tail.whole_bytes, false);
    if (tail.loose_bytes > 0) await cutToDurable(segment);
    return { segment, head: tail.head };
  }
  if (tail.segment !== null) await rm(tail.segment.path);
  return createSegment(options, writerDir, tail.head);
}

/** Describes the bytes to cut from the end of the file. Keeps a copy if they are more than one torn line. */
async function cutLooseEnd(tail: ChainTail, nowMs: number): Promise<CutBody | null> {
  if (tail.loose_bytes === 0 || tail.segment === null) return null;
  const movedTo = tail.unreadable ? await moveUnreadable(tail.segment.path) : null;
  return {
    timestamp: new Date(nowMs).toISOString(),
    reason: tail.unreadable ? 'unreadable_tail' : 'torn_line',
    bytes: tail.loose_bytes,
    events_rejected: 0,
    set_aside: movedTo,
  };
}

async function moveUnreadable(path: string): Promise<string> {
  const copy = `${path}.${randomBytes(4).toString('hex')}.set-aside`;
  await writeFileDurably(copy, await readFile(path));
  return basename(copy);
}

/** The end of a writer's chain, as its files show it. */
export interface ChainTail {
  readonly head: ChainHead;
  /** The plain file to continue; `null` if the next line begins a new one. */
  readonly segment: SegmentFile | null;
  /** The end of the last whole line in the file; 0 if even the first line is incomplete. */
  readonly whole_bytes: number;
  /** The bytes after it: one unfinished line, or more than that if `unreadable`. */
  readonly loose_bytes: number;
  /** The loose bytes contain line ends, as a power cut may leave them. */
  readonly unreadable: boolean;
  /** The last line is a checkpoint. */
  readonly signed: boolean;
  /** The heads of other writers that this checkpoint names. */
  readonly signed_heads: readonly WriterHead[];
}

/** The number of bytes at the end that are searched for the last line before the whole file is read. */
const WINDOW_BYTES = 262_144;

/**
 * Finds the end of a chain. Reads only the end of the newest file, unless that end is damaged.
 *
 * @throws AuditFailure `journal_broken` if lines before a later checkpoint do not match, which no torn write can cause;
 * the files are left unchanged
 */
export async function findTail(writerDir: string, writer: string): Promise<ChainTail> {
  const segments = await listSegments(writerDir);
  const newest = segments.at(-1);
  if (newest === undefined) return { ...NOTHING, segment: null };
  const tail = await getTail(newest, writer);
  if (tail.whole_bytes > 0 || newest.gzip) return tail;
  const previous = segments.at(-2);
  const head = previous === undefined ? CHAIN_START : (await getTail(previous, writer)).head;
  if (newest.first_seq !== head.seq + 1) throw buildBrokenFailure(writer, newest.name);
  return { ...tail, head, signed: true };
}

const NOTHING = {
  head: CHAIN_START,
  whole_bytes: 0,
  loose_bytes: 0,
  unreadable: false,
  signed: true,
  signed_heads: [],
} as const;

async function getTail(segment: SegmentFile, writer: string): Promise<ChainTail> {
  const quick = segment.gzip ? null : await readEnd(segment, writer);
  return quick ?? (await readWhole(segment, writer));
}

/**
 * Reads the last window of the file. Returns `null` if it does not contain the whole last line, or the line is invalid.
 */
async function readEnd(segment: SegmentFile, writer: string): Promise<ChainTail | null> {
  const file = await openOwnFile(segment.path);
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - WINDOW_BYTES);
    const bytes = Buffer.alloc(size - from);
    await file.read(bytes, 0, bytes.length, from);
    const end = bytes.lastIndexOf(0x0a);
    const start = end < 1 ? -1 : bytes.lastIndexOf(0x0a, end - 1);
    if (end < 0) return from === 0 ? { ...NOTHING, segment, loose_bytes: size } : null;
    if (start < 0 && from > 0) return null;
    const record = decodeOwnRecord(bytes.subarray(start + 1, end), writer);
    if ('fault' in record) return null;
    return buildTail(record, segment, from + end + 1, size);
  } finally {
    await file.close();
  }
}

/** Reads every line. The chain ends at the first line that does not follow the one before it. */
async function readWhole(segment: SegmentFile, writer: string): Promise<ChainTail> {
  let last: JournalRecord | null = null;
  let wholeBytes = 0;
  let bytes = 0;
  let unreadable = false;
  for await (const line of readJournalLines(segment)) {
    bytes = line.end;
    if (!line.whole) continue;
    const record = decodeOwnRecord(line.bytes, writer);
    if (unreadable || 'fault' in record || !followsRecord(record, last)) {
      if (line.bytes.includes('"kind":"checkpoint"')) throw buildBrokenFailure(writer, segment.name);
      unreadable = true;
      continue;
    }
    last = record;
    wholeBytes = line.end;
  }
  if (unreadable && segment.gzip) throw buildBrokenFailure(writer, segment.name);
  if (last === null) return { ...NOTHING, segment, loose_bytes: bytes, unreadable };
  return { ...buildTail(last, segment, wholeBytes, bytes), unreadable };
}

function buildTail(
  record: JournalRecord,
  segment: SegmentFile,
  wholeBytes: number,
  bytes: number,
): ChainTail {
  return {
    head: { seq: record.seq, record_hash: record.record_hash },
    segment: segment.gzip ? null : segment,
    whole_bytes: wholeBytes,
    loose_bytes: bytes - wholeBytes,
    unreadable: false,
    signed: record.kind === 'checkpoint',
    signed_heads: record.kind === 'checkpoint' ? (record.checkpoint.heads ?? []) : [],
  };
}

function decodeOwnRecord(line: Buffer, writer: string): JournalRecord | LineFault {
  const record = decodeRecord(line);
  return 'fault' in record || record.writer === writer ? record : { fault: 'it is of another writer' };
}

function followsRecord(record: JournalRecord, last: JournalRecord | null): boolean {
  return last === null || (record.seq === last.seq + 1 && record.prev_hash === last.record_hash);
}

function buildBrokenFailure(writer: string, file: string): AuditFailure {
  return new AuditFailure(
    'journal_broken',
    `The journal of \`${writer}\` is damaged in \`${file}\`, before lines that were signed, so it cannot be gone on with. \`customshouse audit verify\` shows the place. To start a new chain, move the folder \`journal/${writer}\` out of the state folder and keep it.`,
  );
}
