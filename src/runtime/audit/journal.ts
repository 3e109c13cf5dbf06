import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lock } from '../../drivers/stores/lock.ts';
import { diskProblem } from '../../platform/disk.ts';
import { createSegment, openChainEnd, waitForChain } from './chain-end.ts';
import { AuditFailure, systemCode } from './failure.ts';
import { isWriterName } from './files.ts';
import { publishHead, readPublishedHeads, signCheckpoint } from './heads.ts';
import type { SigningKey } from './keys.ts';
import {
  type ChainHead,
  type CutBody,
  encodeRecord,
  JOURNAL_LINE_BYTES_MAX,
  type RecordKind,
  type WriterHead,
} from './record.ts';
import { maintainIdleWriters, maintainWriter } from './retention.ts';
import { appendDurably, closeSegment, cutToDurable, type OpenSegment } from './segment.ts';
import { openSteadyClock } from './steady-clock.ts';
import type { AuditEvent } from './types.ts';

export interface JournalOptions {
  /** The folder of all writers, `<state>/journal`. */
  readonly dir: string;
  /** Whose chain: `worker-1`. One process at a time has it. */
  readonly writer: string;
  /** A file that has grown to this is closed, and the next one begun. */
  readonly max_size_bytes: number;
  /** Closed files older than this are deleted. */
  readonly max_age_days: number;
  readonly compress_rotated: boolean;
  readonly signing_key: SigningKey;
  readonly now_ms: () => number;
  /** A clock that nobody sets; that of the process unless told. Files are not deleted by the other one alone. */
  readonly uptime_ms?: () => number;
  /** How long the last lines may stand unsigned while nothing else is written; a minute unless told. */
  readonly checkpoint_ms?: number;
  /** Also writes a checkpoint when only other writers have new ones: for the one writer that outlives the others. */
  readonly witness?: boolean;
  /** How long a disk may take for one write before all who wait are told no; ten seconds unless told. */
  readonly write_ms_max?: number;
  /** How long to wait for a process that is about to let go of the chain; five seconds unless told. */
  readonly lock_wait_ms?: number;
  /** Told when compressing or deleting old files failed; the journal itself goes on. */
  readonly on_maintenance_failure?: (system_code: string) => void;
}

export interface Journal {
  /**
   * Writes one event down. Resolves when the disk has it, and never before.
   *
   * @throws AuditFailure when it is not recorded: `journal_write_failed` (the next call tries again, so a
   * disk with room again is enough), `journal_busy`, `journal_hangs`, `event_too_large`, `journal_closed`
   */
  readonly append: (event: AuditEvent) => Promise<void>;
  /** The last durable line, and how many lines stand behind the last checkpoint. */
  readonly head: () => ChainHead & { readonly unsigned_records: number };
  /** Writes what waits, signs the end, and lets go of the chain. */
  readonly close: () => Promise<void>;
}

/** After this many lines without one a checkpoint is written. */
const CHECKPOINT_RECORDS = 4_096;
const CHECKPOINT_MS = 60_000;
/** One group commit; what waits beyond goes into the next. */
const BATCH_RECORDS = 1_024;
const BATCH_BYTES = 4_194_304;
/** A disk that neither writes nor fails. What it still does later of that write is taken back. */
const WRITE_MS_MAX = 10_000;
/** What may wait for a slow disk before new events are refused. */
const PENDING_BYTES_MAX = 67_108_864;
const HOUR_MS = 3_600_000;

interface Waiting {
  readonly event_json: string;
  readonly resolve: () => void;
  readonly reject: (failure: AuditFailure) => void;
}

/** All that changes while a journal is open. */
interface Chain {
  readonly options: JournalOptions;
  readonly writer_dir: string;
  readonly lock: Lock;
  segment: OpenSegment;
  head: ChainHead;
  unsigned_records: number;
  /** The checkpoints of other writers that the next checkpoint names. */
  heads: readonly WriterHead[];
  /** Those that the last checkpoint named. */
  signed_heads: readonly WriterHead[];
  /** The last checkpoint on its way to the other writers. */
  publishing: Promise<void>;
  pending: Waiting[];
  pending_bytes: number;
  /** The loop that writes what waits; `null` when nothing does. */
  writing: Promise<void> | null;
  /** Bytes behind the durable ones may be there: from before a write until the disk has said yes. */
  loose: boolean;
  /** The disk has not answered in time, and so many events were refused; `null` when it does answer. */
  hanging: number | null;
  /** What the next write has to record as taken away. */
  cut: CutBody | null;
  checkpoint_due: boolean;
  checkpoint_timer: NodeJS.Timeout | null;
  readonly steady_now_ms: () => number | null;
  maintenance: Promise<void>;
  maintenance_timer: NodeJS.Timeout | null;
  readonly stopping: AbortController;
}

/**
 * Opens a writer's chain for appending: waits for the process that had it, cuts a torn last line (and
 * records the cut), and goes on where the chain ended.
 *
 * @throws AuditFailure `journal_in_use` when another process keeps it, `journal_broken` when its end was
 * tampered with, `journal_write_failed` when the folder cannot be written
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  if (!isWriterName(options.writer))
    throw new TypeError('a writer is a lower-case name of at most 64 characters');
  const writer_dir = join(options.dir, options.writer);
  let lock: Lock | null = null;
  try {
    lock = await waitForChain(options, writer_dir);
    const chain = await openChain(options, writer_dir, lock);
    maintain(chain);
    return {
      append: (event) => append(chain, event),
      head: () => ({ ...chain.head, unsigned_records: chain.unsigned_records }),
      close: () => close(chain),
    };
  } catch (error) {
    lock?.release();
    throw error instanceof AuditFailure ? error : unwritable(error);
  }
}

async function openChain(options: JournalOptions, writer_dir: string, lock: Lock): Promise<Chain> {
  const { segment, head, signed, signed_heads, cut } = await openChainEnd(options, writer_dir);
  const chain: Chain = {
    options,
    writer_dir,
    lock,
    segment,
    head,
    unsigned_records: signed ? 0 : 1,
    heads: [],
    signed_heads,
    publishing: Promise.resolve(),
    pending: [],
    pending_bytes: 0,
    writing: null,
    loose: false,
    hanging: null,
    cut,
    checkpoint_due: false,
    checkpoint_timer: null,
    steady_now_ms: openSteadyClock(options),
    maintenance: Promise.resolve(),
    maintenance_timer: null,
    stopping: new AbortController(),
  };
  try {
    if (cut !== null) await commit(chain, []);
  } catch (error) {
    await closeSegment(segment).catch(() => {});
    throw error;
  }
  armCheckpoint(chain);
  return chain;
}

function append(chain: Chain, event: AuditEvent): Promise<void> {
  if (chain.stopping.signal.aborted) return Promise.reject(refused('journal_closed'));
  const event_json = JSON.stringify(event);
  if (
    event_json.length * 3 > JOURNAL_LINE_BYTES_MAX &&
    Buffer.byteLength(event_json) > JOURNAL_LINE_BYTES_MAX - 1_024
  ) {
    return Promise.reject(refused('event_too_large'));
  }
  if (chain.hanging !== null) {
    chain.hanging += 1;
    return Promise.reject(refused('journal_hangs'));
  }
  if (chain.pending_bytes > PENDING_BYTES_MAX) return Promise.reject(refused('journal_busy'));
  return new Promise((resolve, reject) => {
    chain.pending.push({ event_json, resolve, reject });
    chain.pending_bytes += event_json.length;
    startWriting(chain);
  });
}

const SENTENCES = {
  journal_closed: 'The journal is closed: the service is stopping.',
  event_too_large: 'The audit event is larger than a line of the journal may be (1 MB).',
  journal_hangs:
    'The disk does not answer, so that nothing can be decided. Check the disk of the state folder; it recovers by itself.',
  journal_busy: 'The disk is too slow for the journal: 64 MB of events wait. Try again.',
} as const;

function refused(code: keyof typeof SENTENCES): AuditFailure {
  return new AuditFailure(code, SENTENCES[code]);
}

/** Begins to write once all that this turn of the loop brings has come, so that it shares one sync. */
function startWriting(chain: Chain): void {
  chain.writing ??= new Promise((resolve) => {
    setImmediate(async () => {
      while (chain.pending.length > 0 || chain.checkpoint_due) await writeBatch(chain);
      chain.writing = null;
      resolve();
    });
  });
}

/** One group: never throws; those who wait are told. */
async function writeBatch(chain: Chain): Promise<void> {
  const batch = takeBatch(chain);
  const watch = setTimeout(() => tellHanging(chain, batch), chain.options.write_ms_max ?? WRITE_MS_MAX);
  try {
    if (chain.loose) await cutLoose(chain);
    if (chain.segment.bytes >= chain.options.max_size_bytes) await rotate(chain);
    await commit(chain, batch);
    for (const waiting of batch) waiting.resolve();
  } catch (error) {
    await giveUp(chain, batch, error);
  }
  clearTimeout(watch);
  chain.hanging = null;
  armCheckpoint(chain);
}

/** Says no to everyone who waits, while the disk still has the write: `giveUp` takes it back when that has ended. */
function tellHanging(chain: Chain, batch: readonly Waiting[]): void {
  chain.hanging = chain.pending.length;
  for (const waiting of [...batch, ...chain.pending]) waiting.reject(refused('journal_hangs'));
  chain.pending = [];
  chain.pending_bytes = 0;
}

function takeBatch(chain: Chain): Waiting[] {
  let bytes = 0;
  let count = 0;
  while (count < chain.pending.length && count < BATCH_RECORDS && bytes < BATCH_BYTES) {
    bytes += chain.pending[count++]!.event_json.length;
  }
  chain.pending_bytes -= bytes;
  if (count < chain.pending.length) return chain.pending.splice(0, count);
  const all = chain.pending;
  chain.pending = [];
  return all;
}

/** Writes the lines of a group, with a cut before and a checkpoint behind where they are due. */
async function commit(chain: Chain, batch: readonly Waiting[]): Promise<void> {
  const { heads, options } = chain;
  let text = '';
  let head = chain.head;
  const add = (kind: RecordKind, body_json: string): void => {
    const encoded = encodeRecord(head, options.writer, kind, body_json);
    text += encoded.line;
    head = encoded.head;
  };
  if (chain.cut !== null) add('cut', JSON.stringify(chain.cut));
  for (const waiting of batch) add('event', waiting.event_json);
  const unsigned = chain.unsigned_records + head.seq - chain.head.seq;
  const signs =
    unsigned >= CHECKPOINT_RECORDS || (chain.checkpoint_due && (unsigned > 0 || hasNewHeads(chain)));
  if (signs) add('checkpoint', signCheckpoint(options, head, heads));
  if (text !== '') {
    chain.loose = true;
    await appendDurably(chain.segment, Buffer.from(text), () => chain.hanging === null);
    chain.loose = false;
  }
  chain.head = head;
  chain.cut = null;
  chain.checkpoint_due = false;
  chain.unsigned_records = signs ? 0 : unsigned;
  if (signs) publish(chain, heads);
}

function hasNewHeads({ options, heads, signed_heads }: Chain): boolean {
  return options.witness === true && JSON.stringify(heads) !== JSON.stringify(signed_heads);
}

/** Shows the durable checkpoint to other writers, in the background. After a failure they name the one before. */
function publish(chain: Chain, heads: readonly WriterHead[]): void {
  const { options, writer_dir, head } = chain;
  chain.signed_heads = heads;
  chain.publishing = chain.publishing.then(() => publishHead(writer_dir, options, head)).catch(() => {});
}

/** Reads the checkpoints of other writers before one of our own is due. Without an answer the last ones stay. */
async function refreshHeads(chain: Chain): Promise<void> {
  chain.heads = await readPublishedHeads(chain.options).catch(() => chain.heads);
}

/** Signs the end of the file and goes on in a new one. The old one stays the place to write until that is there. */
async function rotate(chain: Chain): Promise<void> {
  chain.checkpoint_due = true;
  await commit(chain, []);
  const old = chain.segment;
  const begun = await createSegment(chain.options, chain.writer_dir, chain.head);
  chain.segment = begun.segment;
  chain.head = begun.head;
  chain.unsigned_records = 1;
  await closeSegment(old).catch(() => {});
  maintain(chain);
}

/** Tells everyone who waits that nothing of theirs is recorded, and takes back what was half written. */
async function giveUp(chain: Chain, batch: readonly Waiting[], error: unknown): Promise<void> {
  const failed = [...batch, ...chain.pending];
  chain.pending = [];
  chain.pending_bytes = 0;
  chain.checkpoint_due = false;
  const failure = unwritable(error);
  // Before anything else is asked of a disk that may hang.
  for (const waiting of failed) waiting.reject(failure);
  const before = chain.cut;
  chain.cut = {
    timestamp: new Date(chain.options.now_ms()).toISOString(),
    reason: before?.reason ?? 'write_failed',
    bytes: (before?.bytes ?? 0) + (chain.loose ? await looseBytes(chain) : 0),
    events_rejected: (before?.events_rejected ?? 0) + failed.length + (chain.hanging ?? 0),
    set_aside: before?.set_aside ?? null,
  };
  if (chain.loose) await cutLoose(chain).catch(() => {});
}

function unwritable(error: unknown): AuditFailure {
  const code = systemCode(error);
  const disk = code === 'ENOENT' ? null : diskProblem(error);
  const why = disk === null ? `(${code})` : `(${code}: ${disk.what})`;
  const fix =
    code === 'ENOENT'
      ? 'Its file is gone: put it back, or start the service again.'
      : `${disk?.fix ?? 'Check the disk of the state folder and its owner'}; it recovers by itself.`;
  return new AuditFailure(
    'journal_write_failed',
    `The audit journal cannot be written ${why}, so nothing can be decided. ${fix}`,
  );
}

async function cutLoose(chain: Chain): Promise<void> {
  await cutToDurable(chain.segment);
  chain.loose = false;
}

async function looseBytes(chain: Chain): Promise<number> {
  const { size } = await stat(chain.segment.path).catch(() => ({ size: chain.segment.bytes }));
  return Math.max(0, size - chain.segment.bytes);
}

/** Sees to it that lines do not stand unsigned for long when nothing follows them. */
function armCheckpoint(chain: Chain): void {
  const is_idle = chain.unsigned_records === 0 && chain.options.witness !== true;
  if (is_idle || chain.checkpoint_timer !== null || chain.stopping.signal.aborted) return;
  chain.checkpoint_timer = setTimeout(async () => {
    await refreshHeads(chain);
    if (chain.stopping.signal.aborted) return;
    chain.checkpoint_timer = null;
    chain.checkpoint_due = true;
    startWriting(chain);
  }, chain.options.checkpoint_ms ?? CHECKPOINT_MS).unref();
}

/** Compresses and deletes closed files in the background, one round at a time; the next comes in an hour. */
function maintain(chain: Chain, others = false): void {
  clearTimeout(chain.maintenance_timer ?? undefined);
  chain.maintenance_timer = setTimeout(() => maintain(chain, true), HOUR_MS).unref();
  const { options, writer_dir, steady_now_ms } = chain;
  const round = { ...options, writer_dir, steady_now_ms, signal: chain.stopping.signal };
  chain.maintenance = chain.maintenance
    .then(() => maintainWriter(round))
    .then(() => (others ? maintainIdleWriters(round) : undefined))
    .catch((error) => {
      if (!chain.stopping.signal.aborted) options.on_maintenance_failure?.(systemCode(error));
    });
}

async function close(chain: Chain): Promise<void> {
  if (chain.stopping.signal.aborted) return;
  chain.stopping.abort();
  clearTimeout(chain.checkpoint_timer ?? undefined);
  clearTimeout(chain.maintenance_timer ?? undefined);
  try {
    await chain.writing;
    await chain.maintenance;
    if (chain.loose) await cutLoose(chain);
    await refreshHeads(chain);
    chain.checkpoint_due = true;
    await commit(chain, []);
    await chain.publishing;
  } finally {
    await closeSegment(chain.segment).catch(() => {});
    chain.lock.release();
  }
}
