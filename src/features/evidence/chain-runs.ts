import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isWriterHead } from '../../runtime/audit/chain-heads.ts';
import { listSegments, type SegmentFile } from '../../runtime/audit/files.ts';
import { decodeRecord, type JournalRecord } from '../../runtime/audit/journal-record.ts';
import { buildCheckpointMessage, isSigned, type TrustedKeys } from '../../runtime/audit/keys.ts';
import { readJournalLines } from '../../runtime/audit/lines.ts';
import { type RetiredSegments, readRetiredSegments } from '../../runtime/audit/retention.ts';
import { EvidenceFailure, throwIfCanceled } from './failure.ts';
import type { ChainRun, EvidenceWindow } from './types.ts';

/** The journal to read, and the window whose events are collected. */
export interface ChainSource {
  /** The folder of all writers, `<state>/journal`. */
  readonly journal_dir: string;
  readonly trusted: TrustedKeys;
  readonly window: EvidenceWindow;
  readonly signal?: AbortSignal;
  /** Called with the bytes of each file that was read. */
  readonly onRead?: (bytes: number) => void;
}

/** The records of one writer that a pack needs. */
export interface ChainPlan {
  readonly writer: string;
  readonly runs: readonly ChainRun[];
  readonly reaches_end: boolean;
  readonly began_at: string | null;
  readonly retired: RetiredSegments | null;
  /** The keys that signed the checkpoints of the runs and the record of deleted files. */
  readonly key_ids: ReadonlySet<string>;
}

/** A record from which a run may begin: it has a time of its own. */
interface Boundary {
  readonly seq: number;
  readonly ms: number;
}

interface Scan {
  readonly writer: string;
  readonly source: ChainSource;
  readonly runs: { first_seq: number; last_seq: number }[];
  readonly key_ids: Set<string>;
  head: { readonly seq: number; readonly record_hash: string } | null;
  boundary: Boundary | null;
  /** An event since the boundary is within the window. */
  has_event: boolean;
}

/**
 * Finds the runs of records that prove a window: from a record with a time before it to a checkpoint after it, and around
 * every later record whose event belongs to the window (short-lived processes chain their events late). Verifies all
 * records that it reads.
 *
 * @throws EvidenceFailure `journal_broken`, with the place
 */
export async function planChain(writer: string, source: ChainSource): Promise<ChainPlan> {
  const writerDir = join(source.journal_dir, writer);
  const retired = await readRetiredSegments(writerDir, writer, source.trusted);
  if (retired === 'unsigned' || (retired !== null && 'missing_key' in retired))
    throw buildBrokenChainFailure(`${writer}/retired.json`, null, 'it is not signed by a trusted key');
  const scan: Scan = {
    ...{ writer, source, runs: [], key_ids: new Set(), head: null, boundary: null, has_event: false },
  };
  const { segments, began_ms } = await selectSegments(writerDir, source.window.since_ms);
  for (const segment of segments) await scanSegment(scan, segment, segment === segments.at(-1));
  if (retired !== null) scan.key_ids.add(retired.key_id);
  return { ...finishScan(scan, began_ms), writer, retired, key_ids: scan.key_ids };
}

/** Returns the files from the last one that began before the window, and the time at which the chain begins. */
async function selectSegments(writerDir: string, sinceMs: number) {
  const all = await listSegments(writerDir);
  for (let at = all.length - 1; at >= 0; at--) {
    const beganMs = await readStart(all[at]!);
    if (beganMs <= sinceMs || at === 0) return { segments: all.slice(at), began_ms: beganMs };
  }
  return { segments: [], began_ms: Number.NaN };
}

async function readStart(segment: SegmentFile): Promise<number> {
  for await (const line of readJournalLines(segment)) {
    const record = line.whole ? decodeRecord(line.bytes) : null;
    if (record === null || 'fault' in record || record.kind !== 'segment') break;
    return Date.parse(record.segment.timestamp);
  }
  return Number.NEGATIVE_INFINITY;
}

async function scanSegment(scan: Scan, segment: SegmentFile, isNewest: boolean): Promise<void> {
  throwIfCanceled(scan.source.signal);
  const file = `${scan.writer}/${segment.name}`;
  const { size } = await stat(segment.path).catch(() => ({ size: 0 }));
  if (scan.head !== null && segment.first_seq !== scan.head.seq + 1)
    throw buildBrokenChainFailure(file, null, 'a file is missing before it');
  let number = 0;
  for await (const line of readJournalLines(segment)) {
    number += 1;
    if (number % 4_096 === 0) throwIfCanceled(scan.source.signal);
    if (!line.whole && isNewest && !segment.gzip) break;
    const record = line.whole ? decodeRecord(line.bytes) : { fault: 'the file ends in the middle of it' };
    const fault = 'fault' in record ? record.fault : findFault(scan, record, number);
    if (fault !== null || 'fault' in record) throw buildBrokenChainFailure(file, number, fault ?? '');
    addRecord(scan, record);
  }
  scan.source.onRead?.(size);
}

function findFault(scan: Scan, record: JournalRecord, line: number): string | null {
  if (record.writer !== scan.writer) return `it belongs to the chain of \`${record.writer}\``;
  if ((record.kind === 'segment') !== (line === 1)) return 'a file begins in the wrong place';
  if (scan.head !== null && record.seq !== scan.head.seq + 1) return `its number is ${record.seq}`;
  if (scan.head !== null && record.prev_hash !== scan.head.record_hash)
    return 'it does not follow the record before it';
  if (record.kind !== 'checkpoint') return null;
  const { key_id, signature, timestamp, heads } = record.checkpoint;
  const key = scan.source.trusted.keys.get(key_id);
  const before = { seq: record.seq - 1, record_hash: record.prev_hash };
  const isGenuine =
    key !== undefined &&
    (heads === undefined || heads.every(isWriterHead)) &&
    isSigned(buildCheckpointMessage(scan.writer, before, timestamp, heads), signature, key);
  return isGenuine ? null : 'its signature is not by a trusted key';
}

function addRecord(scan: Scan, record: JournalRecord): void {
  const { since_ms, until_ms } = scan.source.window;
  scan.head = { seq: record.seq, record_hash: record.record_hash };
  if (record.kind === 'event') {
    const ms = Date.parse(record.event.timestamp);
    if (ms >= since_ms && ms < until_ms) scan.has_event = true;
  }
  if (record.kind === 'segment' && scan.boundary === null)
    scan.boundary = { seq: record.seq, ms: Date.parse(record.segment.timestamp) };
  if (record.kind !== 'checkpoint') return;
  const ms = Date.parse(record.checkpoint.timestamp);
  const { boundary } = scan;
  if (boundary !== null && (scan.has_event || (boundary.ms <= until_ms && ms >= since_ms))) {
    addRun(scan, boundary.seq, record.seq);
    scan.key_ids.add(record.checkpoint.key_id);
  }
  scan.boundary = { seq: record.seq, ms };
  scan.has_event = false;
}

function addRun({ runs }: Scan, firstSeq: number, lastSeq: number): void {
  const last = runs.at(-1);
  if (last !== undefined && last.last_seq >= firstSeq) last.last_seq = lastSeq;
  else runs.push({ first_seq: firstSeq, last_seq: lastSeq });
}

/** Adds what follows the last checkpoint, if the window reaches it. */
function finishScan(scan: Scan, beganMs: number): Pick<ChainPlan, 'runs' | 'reaches_end' | 'began_at'> {
  const { boundary, head, runs } = scan;
  const { until_ms } = scan.source.window;
  if (boundary !== null && head !== null && (scan.has_event || boundary.ms <= until_ms))
    addRun(scan, boundary.seq, head.seq);
  const beganAt = runs.length > 0 || Number.isNaN(beganMs) ? null : new Date(beganMs).toISOString();
  return { runs, reaches_end: head !== null && runs.at(-1)?.last_seq === head.seq, began_at: beganAt };
}

/** Builds the failure of a journal that is not intact. */
export function buildBrokenChainFailure(file: string, line: number | null, reason: string): EvidenceFailure {
  const place = line === null ? file : `${file}, line ${line}`;
  return new EvidenceFailure(
    'journal_broken',
    `The journal is broken at ${place}: ${reason}. No evidence is made from it. \`customshouse audit verify\` shows the place.`,
  );
}
