import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Lock, takeLock } from '../../drivers/stores/lock.ts';
import { AuditFailure } from './failure.ts';
import { buildSegmentName, makeDir, syncDir, writeFileDurably } from './files.ts';
import { type ChainHead, type CutBody, encodeRecord, type WriterHead } from './journal-record.ts';
import { appendDurably, closeSegment, cutToDurable, type OpenSegment, openSegment } from './segment.ts';
import { type ChainTail, findTail } from './tail.ts';

interface OpeningOptions {
  readonly writer: string;
  readonly now_ms: () => number;
  readonly lock_wait_ms?: number;
}

const LOCK_WAIT_MS = 5_000;

/** Makes the writer's folder and takes its lock. Waits up to `lock_wait_ms` for a process that is about to stop. */
export async function waitForChain(options: OpeningOptions, writer_dir: string): Promise<Lock> {
  await makeDir(writer_dir);
  const path = join(writer_dir, 'lock');
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
  readonly cut: CutBody | null;
}

/**
 * Finds the end of the chain, truncates the incomplete bytes after it, and opens the file; or starts the first file.
 */
export async function openChainEnd(options: OpeningOptions, writer_dir: string): Promise<ChainEnd> {
  const tail = await findTail(writer_dir, options.writer);
  const cut = await cutLooseEnd(tail, options.now_ms());
  const { segment, head } = await startSegment(options, writer_dir, tail);
  const { signed_heads } = tail;
  return { segment, head, signed: tail.signed && head === tail.head, signed_heads, cut };
}

/** Opens the file to continue, and writes the first line if the file has none. */
async function startSegment(
  options: OpeningOptions,
  writer_dir: string,
  tail: ChainTail,
): Promise<{ segment: OpenSegment; head: ChainHead }> {
  if (tail.segment !== null && tail.whole_bytes > 0) {
    const segment = await openSegment(tail.segment.path, tail.whole_bytes, false);
    if (tail.loose_bytes > 0) await cutToDurable(segment);
    return { segment, head: tail.head };
  }
  if (tail.segment !== null) await rm(tail.segment.path);
  return createSegment(options, writer_dir, tail.head);
}

/** Creates the file that follows `head`, with its first line. Removes the file if that fails. */
export async function createSegment(
  options: OpeningOptions,
  writer_dir: string,
  head: ChainHead,
): Promise<{ segment: OpenSegment; head: ChainHead }> {
  const path = join(writer_dir, buildSegmentName(head.seq + 1));
  const segment = await openSegment(path, 0, true);
  try {
    const body = { format: 2, hash: 'sha256', timestamp: new Date(options.now_ms()).toISOString() };
    const first = encodeRecord(head, options.writer, 'segment', JSON.stringify(body));
    await appendDurably(segment, Buffer.from(first.line));
    await syncDir(writer_dir);
    return { segment, head: first.head };
  } catch (error) {
    await closeSegment(segment).catch(() => {});
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}

/** Describes the bytes to cut from the end of the file. Keeps a copy if they are more than one torn line. */
async function cutLooseEnd(tail: ChainTail, now_ms: number): Promise<CutBody | null> {
  if (tail.loose_bytes === 0 || tail.segment === null) return null;
  const moved_to = tail.unreadable ? await moveUnreadable(tail.segment.path) : null;
  return {
    timestamp: new Date(now_ms).toISOString(),
    reason: tail.unreadable ? 'unreadable_tail' : 'torn_line',
    bytes: tail.loose_bytes,
    events_rejected: 0,
    set_aside: moved_to,
  };
}

async function moveUnreadable(path: string): Promise<string> {
  const copy = `${path}.${randomBytes(4).toString('hex')}.set-aside`;
  await writeFileDurably(copy, await readFile(path));
  return basename(copy);
}
