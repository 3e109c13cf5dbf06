import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lock } from '../../drivers/stores/lock.ts';
import { findDiskProblem } from '../../platform/disk.ts';
import { openChainEnd, waitForChain } from './chain-end.ts';
import { publishHead, readPublishedHeads, signCheckpoint } from './chain-heads.ts';
import { type ActionErasure, eraseFromFiles, hasActions } from './erase-actions.ts';
import { AuditFailure, getSystemCode } from './failure.ts';
import { isWriterName, listSegments } from './files.ts';
import {
  type ChainHead,
  type CutBody,
  dropAction,
  encodeActionBody,
  encodeRecord,
  JOURNAL_LINE_BYTES_MAX,
  type RecordKind,
  type WriterHead,
} from './journal-record.ts';
import type { SigningKey } from './keys.ts';
import {
  maintainIdleWriters,
  maintainWriter,
  type RetentionControl,
  type RetentionReport,
} from './retention.ts';
import { appendDurably, closeSegment, createSegment, cutToDurable, type OpenSegment } from './segment.ts';
import { openSteadyClock } from './steady-clock.ts';
import type { AuditEvent } from './types.ts';

export interface JournalOptions {
  /** The folder of all writers, `<state>/journal`. */
  readonly dir: string;
  /** The name of the chain, such as `worker-1`. Only one process at a time may have it open. */
  readonly writer: string;
  /** The size in bytes at which a file is closed and the next one is started. */
  readonly max_size_bytes: number;
  /** Closed files older than this are deleted. */
  readonly max_age_days: number;
  readonly compress_rotated: boolean;
  readonly signing_key: SigningKey;
  readonly now_ms: () => number;
  /** A monotonic clock; that of the process by default. Files are deleted only if it confirms the wall clock. */
  readonly uptime_ms?: () => number;
  /**
   * The time that the last lines may remain unsigned while nothing else is written, in milliseconds; a minute by
   * default.
   */
  readonly checkpoint_ms?: number;
  /** Also writes a checkpoint if only other writers have new ones: for the one writer that outlives the others. */
  readonly witness?: boolean;
  /**
   * The maximum duration of a write before all waiting callers are rejected, in milliseconds; ten seconds by default.
   */
  readonly write_ms_max?: number;
  /** The time to wait for a process that is about to release the chain, in milliseconds; five seconds by default. */
  readonly lock_wait_ms?: number;
  /** Legal holds, and the event that records what retention deletes. Without it, files are deleted by age alone. */
  readonly retention?: {
    readonly readHolds: RetentionControl['readHolds'];
    readonly buildEvent: (report: RetentionReport) => AuditEvent;
  };
  /**
   * The time after which a file with events is closed, in milliseconds, so that it can be shipped. Old files are then
   * deleted only when they are shipped; see `shipped.ts`. Without it, files are closed by size alone.
   */
  readonly seal_after_ms?: number;
  /** Called when compressing or deleting old files failed. The journal itself continues. */
  readonly on_maintenance_failure?: (systemCode: string) => void;
}

export interface Journal {
  /**
   * Appends one event. Resolves when the event is on disk, and never before.
   *
   * @throws AuditFailure if the event is not recorded: `journal_write_failed` (the next call tries again, so free disk
   * space is enough to recover), `journal_busy`, `journal_hangs`, `event_too_large`, `journal_closed`
   */
  readonly append: (event: AuditEvent) => Promise<void>;
  /** Erases shown actions that were written before the call, and returns their number. The chain still verifies. */
  readonly eraseActions: (erasure: ActionErasure) => Promise<number>;
  /** Signs and closes the current file, and continues in a new one. @throws AuditFailure `journal_hangs` */
  readonly seal: () => Promise<void>;
  /** Returns the last durable line, and the number of lines after the last checkpoint. */
  readonly head: () => ChainHead & { readonly unsigned_records: number };
  /** Writes pending events, signs the end of the chain, and releases the chain. */
  readonly close: () => Promise<void>;
}

/** A checkpoint is written after this many unsigned lines. */
const CHECKPOINT_RECORDS = 4_096;
const CHECKPOINT_MS = 60_000;
/** The limits of one group commit. Further events go into the next one. */
const BATCH_RECORDS = 1_024;
const BATCH_BYTES = 4_194_304;
/** The maximum duration of a write. If it completes later, its bytes are truncated. */
const WRITE_MS_MAX = 10_000;
/** The maximum bytes that may wait for a slow disk. Beyond it, new events are rejected. */
const PENDING_BYTES_MAX = 67_108_864;
const HOUR_MS = 3_600_000;

interface PendingWrite {
  readonly event_json: string;
  /** The body for the line before it; `null` if no action is shown. */
  readonly action_json: string | null;
  readonly resolve: () => void;
  readonly reject: (failure: AuditFailure) => void;
}

/** The mutable state of an open journal. */
interface Chain {
  readonly options: JournalOptions;
  readonly writer_dir: string;
  readonly lock: Lock;
  segment: OpenSegment;
  head: ChainHead;
  unsigned_records: number;
  /** The checkpoints of other writers that the next checkpoint names. */
  heads: readonly WriterHead[];
  /** The heads that the last checkpoint named. */
  signed_heads: readonly WriterHead[];
  /** Resolves when the last checkpoint is published to the other writers. */
  publishing: Promise<void>;
  pending: PendingWrite[];
  pending_bytes: number;
  /** The loop that writes pending events; `null` while there are none. */
  writing: Promise<void> | null;
  /** The file may have bytes after the durable ones: from the start of a write until the disk has confirmed it. */
  loose: boolean;
  /** The number of events rejected because the disk does not respond; `null` while it responds. */
  hanging: number | null;
  /** The cut that the next write must record. */
  cut: CutBody | null;
  checkpoint_due: boolean;
  /** The next write continues in a new file. */
  rotation_due: boolean;
  checkpoint_timer: NodeJS.Timeout | null;
  /** The current file has events. */
  has_events: boolean;
  seal_timer: NodeJS.Timeout | null;
  readonly steady_now_ms: () => number | null;
  maintenance: Promise<void>;
  maintenance_timer: NodeJS.Timeout | null;
  readonly retention: RetentionControl | undefined;
  readonly stopping: AbortController;
}

/**
 * Opens a writer's chain for appending. Waits for the process that had it open, cuts a torn last line (and records the
 * cut), and continues at the end of the chain.
 *
 * @throws AuditFailure `journal_in_use` if another process keeps the chain open, `journal_broken` if its end was
 * tampered with, `journal_write_failed` if the folder cannot be written
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  if (!isWriterName(options.writer))
    throw new TypeError('a writer is a lower-case name of at most 64 characters');
  const writerDir = join(options.dir, options.writer);
  let lock: Lock | null = null;
  try {
    lock = await waitForChain(options, writerDir);
    const chain = await openChain(options, writerDir, lock);
    scheduleMaintenance(chain);
    return {
      append: (event) => appendEvent(chain, event),
      eraseActions: (erasure) => eraseChainActions(chain, erasure),
      seal: () => continueInNewFile(chain),
      head: () => ({ ...chain.head, unsigned_records: chain.unsigned_records }),
      close: () => closeChain(chain),
    };
  } catch (error) {
    lock?.release();
    throw error instanceof AuditFailure ? error : buildWriteFailure(error);
  }
}

async function openChain(options: JournalOptions, writerDir: string, lock: Lock): Promise<Chain> {
  const { segment, head, signed, signed_heads, has_events, cut } = await openChainEnd(options, writerDir);
  const chain: Chain = {
    options,
    writer_dir: writerDir,
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
    rotation_due: false,
    checkpoint_timer: null,
    has_events,
    seal_timer: null,
    steady_now_ms: openSteadyClock(options),
    maintenance: Promise.resolve(),
    maintenance_timer: null,
    retention: openRetention(options, (event) => appendEvent(chain, event)),
    stopping: new AbortController(),
  };
  try {
    if (cut !== null) await commitBatch(chain, []);
  } catch (error) {
    await closeSegment(segment).catch(() => {});
    throw error;
  }
  armCheckpoint(chain);
  armSeal(chain);
  return chain;
}

/** Records each deletion in this journal, and held files once for each set of them. */
function openRetention(
  { retention }: JournalOptions,
  record: (event: AuditEvent) => Promise<void>,
): RetentionControl | undefined {
  if (retention === undefined) return undefined;
  const heldBefore = new Map<string, string>();
  return {
    readHolds: retention.readHolds,
    record: async (report) => {
      const held = JSON.stringify(report.held);
      if (report.removed.length === 0 && heldBefore.get(report.writer) === held) return;
      await record(retention.buildEvent(report));
      heldBefore.set(report.writer, held);
    },
  };
}

function appendEvent(chain: Chain, event: AuditEvent): Promise<void> {
  if (chain.stopping.signal.aborted) return Promise.reject(buildFailure('journal_closed'));
  const actionJson = encodeActionBody(event);
  const eventJson = JSON.stringify(actionJson === null ? event : dropAction(event));
  if (
    eventJson.length * 3 > JOURNAL_LINE_BYTES_MAX &&
    Buffer.byteLength(eventJson) > JOURNAL_LINE_BYTES_MAX - 1_024
  ) {
    return Promise.reject(buildFailure('event_too_large'));
  }
  if (chain.hanging !== null) {
    chain.hanging += 1;
    return Promise.reject(buildFailure('journal_hangs'));
  }
  if (chain.pending_bytes > PENDING_BYTES_MAX) return Promise.reject(buildFailure('journal_busy'));
  return new Promise((resolve, reject) => {
    chain.pending.push({ event_json: eventJson, action_json: actionJson, resolve, reject });
    chain.pending_bytes += eventJson.length;
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

function buildFailure(code: keyof typeof SENTENCES): AuditFailure {
  return new AuditFailure(code, SENTENCES[code]);
}

/** Starts writing after the current turn of the event loop, so that all events of this turn share one sync. */
function startWriting(chain: Chain): void {
  chain.writing ??= new Promise((resolve) => {
    setImmediate(async () => {
      while (chain.pending.length > 0 || chain.checkpoint_due || chain.rotation_due) await writeBatch(chain);
      chain.writing = null;
      resolve();
    });
  });
}

/** Writes one group. Never throws; it rejects the waiting callers instead. */
async function writeBatch(chain: Chain): Promise<void> {
  const batch = takeBatch(chain);
  const watch = setTimeout(() => reportSlowWrite(chain, batch), chain.options.write_ms_max ?? WRITE_MS_MAX);
  try {
    if (chain.loose) await cutLoose(chain);
    if (chain.rotation_due || chain.segment.bytes >= chain.options.max_size_bytes) await rotateSegment(chain);
    await commitBatch(chain, batch);
    for (const waiting of batch) waiting.resolve();
  } catch (error) {
    await giveUp(chain, batch, error);
  }
  clearTimeout(watch);
  chain.hanging = null;
  armCheckpoint(chain);
  armSeal(chain);
}

/** Rejects all waiting callers while the write is still running. `giveUp` truncates its bytes when it has ended. */
function reportSlowWrite(chain: Chain, batch: readonly PendingWrite[]): void {
  chain.hanging = chain.pending.length;
  for (const waiting of [...batch, ...chain.pending]) waiting.reject(buildFailure('journal_hangs'));
  chain.pending = [];
  chain.pending_bytes = 0;
}

function takeBatch(chain: Chain): PendingWrite[] {
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

/** Writes the lines of a group: a cut before them and a checkpoint after them, if due. */
async function commitBatch(chain: Chain, batch: readonly PendingWrite[]): Promise<void> {
  const { heads, options } = chain;
  let text = '';
  let head = chain.head;
  const add = (kind: RecordKind, bodyJson: string): void => {
    const encoded = encodeRecord(head, options.writer, kind, bodyJson);
    text += encoded.line;
    head = encoded.head;
  };
  if (chain.cut !== null) add('cut', JSON.stringify(chain.cut));
  for (const { action_json, event_json } of batch) {
    if (action_json !== null) add('action', action_json);
    add('event', event_json);
  }
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
  chain.has_events ||= batch.length > 0;
  chain.checkpoint_due = false;
  chain.unsigned_records = signs ? 0 : unsigned;
  if (signs) publishHeads(chain, heads);
}

function hasNewHeads({ options, heads, signed_heads }: Chain): boolean {
  return options.witness === true && JSON.stringify(heads) !== JSON.stringify(signed_heads);
}

/** Publishes the durable checkpoint to other writers, in the background. After a failure they name the previous one. */
function publishHeads(chain: Chain, heads: readonly WriterHead[]): void {
  const { options, writer_dir, head } = chain;
  chain.signed_heads = heads;
  chain.publishing = chain.publishing.then(() => publishHead(writer_dir, options, head)).catch(() => {});
}

/** Reads the checkpoints of other writers before a checkpoint is due. Keeps the last ones if the read fails. */
async function refreshHeads(chain: Chain): Promise<void> {
  chain.heads = await readPublishedHeads(chain.options).catch(() => chain.heads);
}

/** Signs the end of the file and continues in a new one. Keeps writing to the old file until the new one exists. */
async function rotateSegment(chain: Chain): Promise<void> {
  chain.rotation_due = false;
  chain.checkpoint_due = true;
  await commitBatch(chain, []);
  const old = chain.segment;
  const begun = await createSegment(chain.options, chain.writer_dir, chain.head);
  chain.segment = begun.segment;
  chain.head = begun.head;
  chain.unsigned_records = 1;
  chain.has_events = false;
  clearTimeout(chain.seal_timer ?? undefined);
  chain.seal_timer = null;
  await closeSegment(old).catch(() => {});
  scheduleMaintenance(chain);
}

/** Rejects all waiting callers and truncates the incomplete write. */
async function giveUp(chain: Chain, batch: readonly PendingWrite[], error: unknown): Promise<void> {
  const failed = [...batch, ...chain.pending];
  chain.pending = [];
  chain.pending_bytes = 0;
  chain.checkpoint_due = false;
  chain.rotation_due = false;
  const failure = buildWriteFailure(error);
  // Reject first, because a disk that hangs would delay what follows.
  for (const waiting of failed) waiting.reject(failure);
  const before = chain.cut;
  chain.cut = {
    timestamp: new Date(chain.options.now_ms()).toISOString(),
    reason: before?.reason ?? 'write_failed',
    bytes: (before?.bytes ?? 0) + (chain.loose ? await measureLooseBytes(chain) : 0),
    events_rejected: (before?.events_rejected ?? 0) + failed.length + (chain.hanging ?? 0),
    set_aside: before?.set_aside ?? null,
  };
  if (chain.loose) await cutLoose(chain).catch(() => {});
}

function buildWriteFailure(error: unknown): AuditFailure {
  const code = getSystemCode(error);
  const disk = code === 'ENOENT' ? null : findDiskProblem(error);
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

async function measureLooseBytes(chain: Chain): Promise<number> {
  const { size } = await stat(chain.segment.path).catch(() => ({ size: chain.segment.bytes }));
  return Math.max(0, size - chain.segment.bytes);
}

/** Arms the timer that signs the last lines if no others follow. */
function armCheckpoint(chain: Chain): void {
  const isIdle = chain.unsigned_records === 0 && chain.options.witness !== true;
  if (isIdle || chain.checkpoint_timer !== null || chain.stopping.signal.aborted) return;
  chain.checkpoint_timer = setTimeout(async () => {
    await refreshHeads(chain);
    if (chain.stopping.signal.aborted) return;
    chain.checkpoint_timer = null;
    chain.checkpoint_due = true;
    startWriting(chain);
  }, chain.options.checkpoint_ms ?? CHECKPOINT_MS).unref();
}

/** Arms the timer that closes a file with events. */
function armSeal(chain: Chain): void {
  const { seal_after_ms } = chain.options;
  if (seal_after_ms === undefined || !chain.has_events || chain.seal_timer !== null) return;
  if (chain.stopping.signal.aborted) return;
  chain.seal_timer = setTimeout(() => {
    chain.seal_timer = null;
    chain.rotation_due = true;
    startWriting(chain);
  }, seal_after_ms).unref();
}

/** Compresses and deletes closed files in the background, one round at a time. Schedules the next round in an hour. */
function scheduleMaintenance(chain: Chain, others = false): void {
  clearTimeout(chain.maintenance_timer ?? undefined);
  chain.maintenance_timer = setTimeout(() => scheduleMaintenance(chain, true), HOUR_MS).unref();
  const { retention, writer_dir, steady_now_ms } = chain;
  const { retention: _, seal_after_ms, ...options } = chain.options;
  const round = {
    ...{ ...options, writer_dir, steady_now_ms, signal: chain.stopping.signal },
    keeps_unshipped: seal_after_ms !== undefined,
    ...(retention !== undefined && { retention }),
  };
  chain.maintenance = chain.maintenance
    .then(() => maintainWriter(round))
    .then(() => (others ? maintainIdleWriters(round) : undefined))
    .catch((error) => {
      if (!chain.stopping.signal.aborted) options.on_maintenance_failure?.(getSystemCode(error));
    });
}

/** Runs between two rounds of maintenance, which replaces the same files. */
function eraseChainActions(chain: Chain, erasure: ActionErasure): Promise<number> {
  if (chain.stopping.signal.aborted) return Promise.reject(buildFailure('journal_closed'));
  const erased = chain.maintenance.then(async () => {
    const newest = (await listSegments(chain.writer_dir)).at(-1);
    if (newest !== undefined && (await hasActions(newest, erasure))) await continueInNewFile(chain);
    const closed = (await listSegments(chain.writer_dir)).slice(0, -1);
    return eraseFromFiles(chain.writer_dir, closed, erasure);
  });
  chain.maintenance = erased.then(
    () => {},
    () => {},
  );
  return erased;
}

async function continueInNewFile(chain: Chain): Promise<void> {
  const { path } = chain.segment;
  chain.rotation_due = true;
  startWriting(chain);
  await chain.writing;
  if (chain.segment.path === path) throw buildFailure('journal_hangs');
}

async function closeChain(chain: Chain): Promise<void> {
  if (chain.stopping.signal.aborted) return;
  chain.stopping.abort();
  for (const timer of [chain.checkpoint_timer, chain.seal_timer, chain.maintenance_timer])
    clearTimeout(timer ?? undefined);
  try {
    await chain.writing;
    await chain.maintenance;
    if (chain.loose) await cutLoose(chain);
    await refreshHeads(chain);
    chain.checkpoint_due = true;
    await commitBatch(chain, []);
    await chain.publishing;
  } finally {
    await closeSegment(chain.segment).catch(() => {});
    chain.lock.release();
  }
}
