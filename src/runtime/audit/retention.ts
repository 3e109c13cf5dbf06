import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { EARLIER_NAME } from '../../core/names.ts';
import { takeLock } from '../../drivers/stores/lock.ts';
import { readOwnFile } from '../../platform/files/own-file.ts';
import { getSystemCode } from './failure.ts';
import {
  buildTemporaryName,
  FILE_MODE,
  listSegments,
  listWriters,
  type SegmentFile,
  syncDir,
  writeFileDurably,
} from './files.ts';
import { decodeRecord, type JournalRecord } from './journal-record.ts';
import { isMissingKey, isSigned, type SigningKey, signMessage, type TrustedKeys } from './keys.ts';
import { findHoldOn, type LegalHold } from './legal-holds.ts';
import { readJournalLines } from './lines.ts';
import { buildServiceEvent } from './service-event.ts';
import { readShippedSeq } from './shipped.ts';
import type { AuditEvent } from './types.ts';

export interface MaintainOptions {
  readonly writer_dir: string;
  readonly writer: string;
  readonly max_age_days: number;
  readonly compress_rotated: boolean;
  readonly signing_key: SigningKey;
  readonly now_ms: () => number;
  /** The time that file ages are compared with; `null` while the clock is not steady. */
  readonly steady_now_ms: () => number | null;
  readonly signal: AbortSignal;
  /** Deletes only files that are shipped. */
  readonly keeps_unshipped?: boolean;
  /** Holds and evidence of deleting; without it, files are deleted by age alone. */
  readonly retention?: RetentionControl;
}

/** Legal holds, and the record of what is deleted. */
export interface RetentionControl {
  /** Returns the legal holds; `null` if they are not known, and then nothing is deleted. */
  readonly readHolds: () => readonly LegalHold[] | null;
  /** Called before anything is deleted. Nothing is deleted if it rejects. */
  readonly record: (report: RetentionReport) => Promise<void>;
}

/** The files of one writer that are about to be deleted by age, and those that legal holds keep. */
export interface RetentionReport {
  readonly writer: string;
  readonly max_age_days: number;
  /** From the oldest on, at most `FILES_MAX`. */
  readonly removed: readonly RemovedSegment[];
  /** Older than the maximum age and held, at most `FILES_MAX`. */
  readonly held: readonly { readonly name: string; readonly hold_id: string }[];
}

export interface RemovedSegment {
  readonly name: string;
  readonly first_seq: number;
  readonly last_seq: number;
  /** The hash of the last record, which the next file names. */
  readonly last_hash: string;
}

/** The most files that one round deletes or names. */
const FILES_MAX = 200;

/**
 * Replaces files that were deleted by age: the chain up to `last_seq` existed and ended in `head_hash`. It is signed,
 * so that only the holder of the key can shorten a journal at its old end.
 */
export interface RetiredSegments {
  readonly writer: string;
  readonly last_seq: number;
  readonly head_hash: string;
  readonly timestamp: string;
  readonly key_id: string;
  /** Ed25519 over `formatRetiredMessage`, base64. */
  readonly signature: string;
}

const RETIRED = 'retired.json';
const DAY_MS = 86_400_000;

/** Deletes closed files that exceed the maximum age and compresses the others. Never touches the newest file. */
export async function maintainWriter(options: MaintainOptions): Promise<void> {
  await removeTemporaries(options.writer_dir);
  const segments = await listSegments(options.writer_dir);
  const kept = await retireSegments(options, segments);
  if (!options.compress_rotated) return;
  for (const segment of kept.slice(0, -1)) {
    if (options.signal.aborted) return;
    if (!segment.gzip) await compressSegment(segment, options);
  }
}

/** The age of a writer's newest file, in milliseconds, from which the writer counts as idle. */
const IDLE_MS = 3_600_000;

/**
 * Maintains the folders of writers that no process has open. A service that runs with fewer workers than before leaves
 * such chains behind. `options.dir` is the folder of all writers; `options.writer` is the caller's own.
 */
export async function maintainIdleWriters(
  options: Omit<MaintainOptions, 'writer_dir'> & { dir: string },
): Promise<void> {
  for (const writer of await listWriters(options.dir)) {
    const writerDir = join(options.dir, writer);
    const newest = (await listSegments(writerDir)).at(-1);
    if (writer === options.writer || newest === undefined || options.signal.aborted) continue;
    if (options.now_ms() - (await stat(newest.path)).mtimeMs < IDLE_MS) continue;
    const lock = takeLock(join(writerDir, 'lock'));
    if (lock === null) continue;
    await maintainWriter({ ...options, writer, writer_dir: writerDir }).finally(lock.release);
  }
}

/** Removes the half-written files of a process that was killed. */
async function removeTemporaries(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (name.endsWith('.tmp')) await rm(join(dir, name), { force: true });
  }
}

/** A file that exceeds the maximum age, and the first record of the next one. */
interface ExpiredSegment {
  readonly segment: SegmentFile;
  readonly next: JournalRecord;
}

/**
 * Deletes expired files from the old end, up to the first one with an event under a legal hold: a chain has one
 * beginning, so newer files stay too.
 */
async function retireSegments(options: MaintainOptions, segments: SegmentFile[]): Promise<SegmentFile[]> {
  const nowMs = options.steady_now_ms();
  if (nowMs === null) return segments;
  const old = await listExpired(options, segments, nowMs - options.max_age_days * DAY_MS);
  const shippedSeq = options.keeps_unshipped === true ? await readShippedSeq(options.writer_dir) : null;
  const expired = shippedSeq === null ? old : old.filter(({ next }) => next.seq <= shippedSeq + 1);
  if (expired.length === 0) return segments;
  const removable = await recordRound(options, expired);
  let gone = 0;
  for (const { segment, next } of removable) {
    if (options.signal.aborted) break;
    await writeRetired(options, next);
    await removeSegment(segment);
    await syncDir(options.writer_dir);
    gone++;
  }
  return segments.slice(gone);
}

async function listExpired(
  { signal }: MaintainOptions,
  segments: readonly SegmentFile[],
  beforeMs: number,
): Promise<ExpiredSegment[]> {
  const expired: ExpiredSegment[] = [];
  for (let at = 0; at + 1 < segments.length && at < FILES_MAX && !signal.aborted; at++) {
    const next = await readFirstRecord(segments[at + 1]!);
    if (next === null || next.kind !== 'segment' || Date.parse(next.segment.timestamp) >= beforeMs) break;
    expired.push({ segment: segments[at]!, next });
  }
  return expired;
}

/** Finds the held files and records the round. Returns the files to delete. */
async function recordRound(
  options: MaintainOptions,
  expired: readonly ExpiredSegment[],
): Promise<readonly ExpiredSegment[]> {
  const { retention, writer, max_age_days, signal } = options;
  if (retention === undefined) return expired;
  const holds = retention.readHolds();
  if (holds === null) return [];
  const held: RetentionReport['held'][number][] = [];
  let removable = expired;
  for (const [at, { segment }] of expired.entries()) {
    if (signal.aborted) return [];
    const hold = await findCachedHold(options, segment, holds);
    if (hold === null) continue;
    if (held.length === 0) removable = expired.slice(0, at);
    held.push({ name: segment.name, hold_id: hold.hold_id });
  }
  if (removable.length > 0 || held.length > 0)
    await retention.record({ writer, max_age_days, removed: removable.map(describeRemoved), held });
  return removable;
}

/** The holds on files that were searched, by their path; closed files never change. */
const searched = new Map<string, { readonly key: string; readonly hold: LegalHold | null }>();
const SEARCHED_MAX = 10_000;

async function findCachedHold(
  { writer_dir }: MaintainOptions,
  segment: SegmentFile,
  holds: readonly LegalHold[],
): Promise<LegalHold | null> {
  const path = join(writer_dir, String(segment.first_seq));
  const key = JSON.stringify(holds);
  const known = searched.get(path);
  if (known?.key === key) return known.hold;
  // A file that cannot be read may hold an event.
  const hold = await findHoldOn(segment, holds).catch(() => holds[0] ?? null);
  if (searched.size >= SEARCHED_MAX) searched.clear();
  searched.set(path, { key, hold });
  return hold;
}

function describeRemoved({ segment, next }: ExpiredSegment): RemovedSegment {
  const { name, first_seq } = segment;
  return { name, first_seq, last_seq: next.seq - 1, last_hash: next.prev_hash };
}

async function removeSegment(segment: SegmentFile): Promise<void> {
  const plain = segment.path.replace(/\.gz$/, '');
  await rm(plain, { force: true });
  await rm(`${plain}.gz`, { force: true });
}

async function readFirstRecord(segment: SegmentFile): Promise<JournalRecord | null> {
  for await (const line of readJournalLines(segment)) {
    const record = line.whole ? decodeRecord(line.bytes) : null;
    return record !== null && 'kind' in record ? record : null;
  }
  return null;
}

async function writeRetired(options: MaintainOptions, next: JournalRecord): Promise<void> {
  const unsigned = {
    writer: options.writer,
    last_seq: next.seq - 1,
    head_hash: next.prev_hash,
    timestamp: new Date(options.now_ms()).toISOString(),
    key_id: options.signing_key.key_id,
  };
  const signature = signMessage(formatRetiredMessage(unsigned), options.signing_key);
  await writeFileDurably(
    join(options.writer_dir, RETIRED),
    `${JSON.stringify({ ...unsigned, signature })}\n`,
  );
}

/**
 * Reads the signed record that replaces deleted files.
 *
 * @returns `null` if no file was ever deleted; `'unsigned'` if no trusted key signed the record
 */
export async function readRetiredSegments(
  writerDir: string,
  writer: string,
  trusted: TrustedKeys,
): Promise<RetiredSegments | 'unsigned' | { readonly missing_key: string } | null> {
  try {
    const retired = JSON.parse(await readOwnFile(join(writerDir, RETIRED))) as RetiredSegments;
    const key = trusted.keys.get(retired.key_id);
    if (isMissingKey(retired.key_id, trusted)) return { missing_key: retired.key_id };
    const genuine =
      key !== undefined &&
      retired.writer === writer &&
      isSigned(formatRetiredMessage(retired), retired.signature, key);
    return genuine ? retired : 'unsigned';
  } catch (error) {
    return getSystemCode(error) === 'ENOENT' ? null : 'unsigned';
  }
}

function formatRetiredMessage(retired: Omit<RetiredSegments, 'signature'>): string {
  return `${EARLIER_NAME} journal retired 1\n${retired.writer}\n${retired.last_seq}\n${retired.head_hash}\n${retired.timestamp}`;
}

/** Halves the work of the default level, which competes with requests for the CPU. The file grows by 2 %. */
export const GZIP_LEVEL = 1;

/** Replaces a file with `<name>.gz`. Deletes the plain file only when the compressed one is complete and durable. */
async function compressSegment(segment: SegmentFile, options: MaintainOptions): Promise<void> {
  const target = `${segment.path}.gz`;
  const temporary = buildTemporaryName(target);
  const output = createWriteStream(temporary, { flags: 'wx', mode: FILE_MODE, flush: true });
  await pipeline(createReadStream(segment.path), createGzip({ level: GZIP_LEVEL }), output, {
    signal: options.signal,
  });
  await rename(temporary, target);
  await syncDir(options.writer_dir);
  await rm(segment.path);
}

/** The `policy_name` of the events that record what retention deleted. */
export const RETENTION_EVENT = 'service.audit_retention';

/**
 * Builds the event of a round of retention. Its metadata has the writer, the first and last deleted record with the hash
 * of the last one, the deleted files, and the files that legal holds keep.
 */
export function buildRetentionEvent(
  report: RetentionReport,
  own: { readonly event_id: string; readonly now_ms: number; readonly policy_hash: string },
): AuditEvent {
  const { writer, max_age_days, removed, held } = report;
  const [first, last] = [removed[0], removed.at(-1)];
  return buildServiceEvent({
    ...own,
    phase: 'audit_retention',
    done: true,
    reason: describeRound(report),
    caller_id: 'service:retention',
    metadata: {
      ...{ writer, max_age_days },
      ...(first !== undefined &&
        last !== undefined && {
          first_seq: first.first_seq,
          last_seq: last.last_seq,
          last_hash: last.last_hash,
          removed: removed.map((each) => `${each.name} ${each.first_seq}-${each.last_seq} ${each.last_hash}`),
        }),
      ...(held.length > 0 && { held: held.map(({ name, hold_id }) => `${name} ${hold_id}`) }),
    },
  });
}

function describeRound({ removed, held }: RetentionReport): string {
  const parts = [
    ...(removed.length > 0
      ? [`Retention deleted ${formatFileCount(removed.length)} of the journal by age.`]
      : []),
    ...(held.length > 0
      ? [`Legal holds keep ${formatFileCount(held.length)} that retention would delete.`]
      : []),
  ];
  return parts.join(' ');
}

function formatFileCount(files: number): string {
  return `${files} ${files === 1 ? 'file' : 'files'}`;
}
