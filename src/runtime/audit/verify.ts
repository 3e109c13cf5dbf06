import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  collectNamedHeads,
  isWriterHead,
  type NamedHeads,
  type PublishedHead,
  verifyPublishedHead,
} from './chain-heads.ts';
import { countJournalBytes, isWriterName, listSegments, listWriters, type SegmentFile } from './files.ts';
import { listForeignJournalEntries } from './foreign-entries.ts';
import {
  CHAIN_START,
  type ChainHead,
  decodeRecord,
  type JournalRecord,
  type LineFault,
} from './journal-record.ts';
import {
  buildCheckpointMessage,
  isMissingKey,
  isSigned,
  type PublicKeyRecord,
  type TrustedKeys,
  trustKeys,
} from './keys.ts';
import { readJournalLines } from './lines.ts';
import { findChangedStep, ORDER_NAME } from './order.ts';
import { RETENTION_EVENT, readRetiredSegments } from './retention.ts';
import { REFUSED_END } from './spool.ts';
import type { AuditEvent } from './types.ts';
import type { ChainBreak, RetiredReport, VerifyReport, WriterReport } from './verify-report.ts';

export interface VerifyOptions {
  /** The folder of all writers, `<state>/journal`, or a copy of it. */
  readonly dir: string;
  readonly public_keys: readonly PublicKeyRecord[];
  /** The only trusted root key; without it, every key without an endorsement is trusted. */
  readonly trusted_key_id?: string | null;
  /** Heads of each chain from another source, such as `indexHeads` or a backup. The chains must still contain them. */
  readonly known_heads?: ReadonlyMap<string, ChainHead>;
  /**
   * The folder is a copy without the newest files, and perhaps without the oldest, as object storage has it. Missing
   * ends are then warnings. The part between them is verified as always.
   */
  readonly is_partial?: boolean;
  /** Called from time to time with the bytes of files that were read, and all bytes. */
  readonly onProgress?: (progress: { readonly done_bytes: number; readonly total_bytes: number }) => void;
  /** Rejects with its reason when it is aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Verifies every line of every writer: its hash, its link to the previous line, and that trusted keys signed the
 * checkpoints. Needs only the files and the public keys. Stops at a writer's first fault; `broken` is the first fault
 * of all writers.
 *
 * Every checkpoint that one writer has signed for another must exist, unless retention has deleted it. So must the one
 * in `head.json` of a writer, which has to be signed. Lines of `order` must have their check digits.
 *
 * Three kinds of tampering remain undetected. First, lines that were replaced or removed after the last checkpoint that
 * another writer names, unless `known_heads` reaches further. Second, a rollback of all writers to the same earlier
 * time. Third, anything done with the private key.
 */
export async function verifyJournal(requested: VerifyOptions): Promise<VerifyReport> {
  const options = { ...requested, onRead: await openMeter(requested) };
  const trusted = trustKeys(options.public_keys, options.trusted_key_id ?? null);
  const changedStep = await findChangedStep(options.dir).catch(() => 0);
  const names = new Set([...(await listWriters(options.dir)), ...(options.known_heads?.keys() ?? [])]);
  const named = collectNamedHeads();
  const retentions: RetentionEvents = new Map();
  const chains = new Map<string, Walk>();
  for (const writer of [...names].filter(isWriterName).sort()) {
    chains.set(writer, await walkWriter(writer, options, trusted, named, retentions));
  }
  for (const writer of named.writers()) {
    chains.set(writer, await checkNamedHeads(writer, chains.get(writer), named, options, trusted));
  }
  const walks = [...chains.values()].sort((a, b) => (a.writer < b.writer ? -1 : 1));
  for (const walk of walks) {
    checkRetention(walk, retentions);
    checkPublishedHead(walk);
  }
  const foreign = listForeignJournalEntries(options.dir);
  // The service has skipped a refused entry and reported it, so no record can be behind its name.
  const hiding = foreign.find((path) => !path.endsWith(REFUSED_END));
  const broken =
    walks.find((walk) => walk.broken !== null)?.broken ??
    (hiding === undefined ? null : buildForeignBreak(hiding)) ??
    (changedStep === null ? null : buildOrderBreak(changedStep));
  const missingKeys = [...new Set(walks.flatMap((walk) => [...walk.missing_keys]))].sort();
  return {
    intact: broken === null && missingKeys.length === 0,
    missing_keys: missingKeys,
    writers: walks.map(getReport),
    broken,
    warnings: [
      ...listRootWarnings(trusted),
      ...walks.flatMap((walk) => walk.warnings),
      ...foreign.map((path) => `\`${path}\` is not a file of the journal. Remove it.`),
    ],
  };
}

/** Checks that a chain has the checkpoint that its writer has published. A writer publishes only what is durable. */
function checkPublishedHead(walk: Walk): void {
  const { published, writer } = walk;
  // Without every key it is unknown.
  const isUnknown = walk.trusted.present.size === 0 || walk.missing_keys.size > 0;
  if (walk.broken !== null || published === 'missing' || isUnknown) return;
  const file = `${writer}/head.json`;
  if (published === 'empty')
    walk.warnings.push(
      `\`${file}\` is empty, as a power cut may leave it. The next checkpoint writes it again.`,
    );
  else if (published === 'changed') breakAt(walk, file, null, HEAD_UNSIGNED);
  else if (published.seq > walk.retired_seq) {
    const { seq, record_hash } = published;
    if (walk.checkpoint_hashes.get(seq) !== record_hash)
      breakAt(walk, file, null, `The end is missing: it names checkpoint ${seq}, which is not there.`);
  }
}

/** The order is no evidence of events, so a break in it is the last one that is reported. */
function buildOrderBreak(line: number): ChainBreak {
  const reason =
    line === 0
      ? 'The order of arrival cannot be read.'
      : 'The line is not as it was written. Remove the file: the order of earlier events is lost, no event is.';
  return { writer: ORDER_NAME, file: ORDER_NAME, line: line === 0 ? null : line, seq: 1, reason };
}

/** Records can be missing where something else has the name of a file. */
function buildForeignBreak(path: string): ChainBreak {
  const reason = 'It is a folder, a link, a pipe or a socket in the place of a file. Move it away.';
  return { writer: path.split('/')[0]!, file: path, line: null, seq: 1, reason };
}

/**
 * Checks that a chain has the checkpoints that other writers have signed. Walks a chain that lacks one again, because a
 * running writer may have written it after the first walk.
 */
async function checkNamedHeads(
  writer: string,
  walked: Walk | undefined,
  named: NamedHeads,
  options: WalkOptions,
  trusted: TrustedKeys,
): Promise<Walk> {
  const isPartial = options.is_partial ?? false;
  if (walked !== undefined && (walked.broken !== null || named.findMissing(walked, isPartial) === null))
    return isPartial ? warnOfEnd(walked, named) : walked;
  const walk = await walkWriter(writer, options, trusted, collectNamedHeads(), new Map());
  const missing = walk.broken === null ? named.findMissing(walk, isPartial) : null;
  if (missing !== null) walk.broken = { writer, file: null, line: null, ...missing };
  return isPartial ? warnOfEnd(walk, named) : walk;
}

/** Warns that other chains name a later record than the last one of a partial copy. */
function warnOfEnd(walk: Walk, named: NamedHeads): Walk {
  const lastNamed = named.findLast(walk.writer);
  if (walk.broken === null && lastNamed > walk.head.seq)
    walk.warnings.push(
      `${walk.writer}: the copy ends with record ${walk.head.seq}, and other chains name record ${lastNamed}.`,
    );
  return walk;
}

interface WalkOptions extends VerifyOptions {
  /** Called with the bytes that were read since the last call. */
  readonly onRead: (bytes: number) => void;
}

async function openMeter({ dir, onProgress }: VerifyOptions): Promise<WalkOptions['onRead']> {
  if (onProgress === undefined) return () => {};
  const totalBytes = await countJournalBytes(dir);
  let doneBytes = 0;
  return (bytes) => {
    // A chain that is walked again is not counted twice.
    doneBytes = Math.min(totalBytes, doneBytes + bytes);
    onProgress({ done_bytes: doneBytes, total_bytes: totalBytes });
  };
}

/** The audit events of retention, by writer and last deleted record. */
type RetentionEvents = Map<string, { readonly event_id: string; readonly last_hash: unknown }>;

function buildRetentionKey(writer: unknown, lastSeq: unknown): string {
  return `${writer} ${lastSeq}`;
}

/** Names the event that recorded the deletion of a chain's beginning, which must agree on the last hash. */
function checkRetention(walk: Walk, retentions: RetentionEvents): void {
  if (walk.retired === null) return;
  const event = retentions.get(buildRetentionKey(walk.writer, walk.retired.last_seq));
  if (event === undefined) return;
  walk.retired = { ...walk.retired, event_id: event.event_id };
  if (walk.broken === null && event.last_hash !== walk.retired.last_hash)
    breakAt(
      walk,
      `${walk.writer}/retired.json`,
      null,
      `The event ${event.event_id} records another hash of the last deleted record.`,
    );
}

/** The state of one chain during verification. */
interface Walk {
  readonly writer: string;
  readonly trusted: TrustedKeys;
  /** Collects the heads of other writers that this chain's checkpoints name. */
  readonly named: NamedHeads;
  readonly retentions: RetentionEvents;
  retired: RetiredReport | null;
  readonly published: PublishedHead;
  /** The hash of each checkpoint, by its number. */
  readonly checkpoint_hashes: Map<number, string>;
  /** The last record that was deleted by age; 0 if none was. */
  retired_seq: number;
  /** Numbers and hashes that the chain must contain, and their source. */
  readonly waypoints: Map<number, { record_hash: string; source: string }>;
  readonly warnings: string[];
  /** The IDs of keys without which signatures of this chain cannot be checked. */
  readonly missing_keys: Set<string>;
  head: ChainHead;
  /** `false` while the current line's predecessor was deleted by age and its hash is therefore unknown. */
  linked: boolean;
  segments: number;
  records: number;
  events: number;
  erased_actions: number;
  checkpoints: number;
  first_seq: number;
  unsigned_tail: number;
  torn_bytes: number;
  cuts: number;
  broken: ChainBreak | null;
}

/** Walks a chain. Repeats the walk if retention has deleted a file meanwhile. */
async function walkWriter(
  writer: string,
  options: WalkOptions,
  trusted: TrustedKeys,
  named: NamedHeads,
  retentions: RetentionEvents,
): Promise<Walk> {
  for (let tries = 0; ; tries++) {
    const [before] = await listSegments(join(options.dir, writer));
    const walk = await walkOnce(writer, options, trusted, named, retentions);
    const [after] = await listSegments(join(options.dir, writer));
    if (walk.broken === null || before?.first_seq === after?.first_seq || tries === 3) return walk;
  }
}

async function walkOnce(
  writer: string,
  options: WalkOptions,
  trusted: TrustedKeys,
  named: NamedHeads,
  retentions: RetentionEvents,
): Promise<Walk> {
  const segments = await listSegments(join(options.dir, writer));
  const walk = await startWalk(writer, segments[0]?.first_seq ?? null, options, trusted, named, retentions);
  for (const [index, segment] of segments.entries()) {
    if (walk.broken !== null) break;
    await walkSegment(walk, segment, index === segments.length - 1, options);
  }
  if (walk.broken === null) checkWaypointsReached(walk);
  return walk;
}

async function startWalk(
  writer: string,
  firstSeq: number | null,
  options: WalkOptions,
  trusted: TrustedKeys,
  named: NamedHeads,
  retentions: RetentionEvents,
): Promise<Walk> {
  const folder = join(options.dir, writer);
  // Read before the lines: a running writer publishes only what is durable.
  const published = await verifyPublishedHead(folder, writer, trusted.keys.values());
  const retired = await readRetiredSegments(folder, writer, trusted);
  const walk: Walk = {
    writer,
    trusted,
    named,
    retentions,
    retired: null,
    published,
    checkpoint_hashes: new Map(),
    retired_seq: 0,
    waypoints: new Map(),
    warnings: [],
    missing_keys: new Set(),
    head: CHAIN_START,
    linked: true,
    segments: 0,
    records: 0,
    events: 0,
    erased_actions: 0,
    checkpoints: 0,
    first_seq: firstSeq ?? 0,
    unsigned_tail: 0,
    torn_bytes: 0,
    cuts: 0,
    broken: null,
  };
  const known = options.known_heads?.get(writer);
  if (known !== undefined)
    walk.waypoints.set(known.seq, { record_hash: known.record_hash, source: 'the index' });
  if (retired !== null && retired !== 'unsigned' && 'missing_key' in retired) {
    walk.missing_keys.add(retired.missing_key);
    walk.head = { seq: walk.first_seq - 1, record_hash: '' };
    walk.linked = walk.first_seq === 1;
    return walk;
  }
  if (retired === 'unsigned') {
    walk.broken = { writer, file: `${writer}/retired.json`, line: null, seq: 1, reason: RETIRED_UNSIGNED };
  } else if (retired !== null) {
    const { last_seq, head_hash: lastHash, timestamp } = retired;
    walk.retired_seq = last_seq;
    walk.retired = { last_seq, last_hash: lastHash, timestamp, event_id: null };
    startAfter(walk, retired.last_seq, retired.head_hash);
  } else if (options.is_partial === true && walk.first_seq > 1) {
    walk.warnings.push(`${writer}: the copy begins with record ${walk.first_seq}.`);
    walk.head = { seq: walk.first_seq - 1, record_hash: '' };
    walk.linked = false;
  }
  return walk;
}

const HEAD_UNSIGNED = 'The last checkpoint is not as a key that is believed has signed it.';
const RETIRED_UNSIGNED = 'The record of deleted files is not signed by a key that is believed.';

/** Starts after the records that age has deleted. A stop in the middle of deleting may have left the last file. */
function startAfter(walk: Walk, lastSeq: number, headHash: string): void {
  if (walk.first_seq === 0 || walk.first_seq > lastSeq) {
    walk.head = { seq: lastSeq, record_hash: headHash };
    const known = [...walk.waypoints.keys()].filter((seq) => seq <= lastSeq);
    for (const seq of known) walk.waypoints.delete(seq);
    return;
  }
  walk.head = { seq: walk.first_seq - 1, record_hash: '' };
  walk.linked = walk.first_seq === 1;
  if (walk.linked) walk.head = CHAIN_START;
  walk.waypoints.set(lastSeq, { record_hash: headHash, source: 'the record of deleted files' });
}

/** The number of lines after which the progress is reported, and an abort is noticed. */
const CHECK_LINES = 2_048;

async function walkSegment(
  walk: Walk,
  segment: SegmentFile,
  newest: boolean,
  { signal, onRead }: WalkOptions,
): Promise<void> {
  const file = `${walk.writer}/${segment.name}`;
  if (segment.first_seq !== walk.head.seq + 1) {
    breakAt(walk, file, null, `A file is missing before it: it begins with record ${segment.first_seq}.`);
    return;
  }
  walk.segments += 1;
  const { size } = await stat(segment.path).catch(() => ({ size: 0 }));
  let lineNumber = 0;
  let reported = 0;
  try {
    for await (const line of readJournalLines(segment)) {
      lineNumber += 1;
      if (lineNumber % CHECK_LINES === 0) {
        signal?.throwIfAborted();
        // The bytes of a compressed file are counted at its end.
        if (!segment.gzip) onRead(line.end - reported);
        reported = line.end;
      }
      if (line.whole) checkLine(walk, file, lineNumber, line.bytes);
      else checkTorn(walk, file, lineNumber, line.bytes.length, newest && !segment.gzip);
      if (walk.broken !== null) return;
    }
    onRead(segment.gzip ? size : Math.max(0, size - reported));
  } catch {
    signal?.throwIfAborted();
    breakAt(walk, file, lineNumber + 1, 'The file cannot be read to its end.');
    return;
  }
  if (lineNumber === 0 && !newest) breakAt(walk, file, 1, 'The file is empty.');
}

function checkLine(walk: Walk, file: string, line: number, bytes: Buffer): void {
  const record = decodeRecord(bytes);
  const fault = getFault(walk, record, line);
  if (fault !== null || 'fault' in record) {
    breakAt(walk, file, line, `The record is not as it was written: ${fault}.`);
    return;
  }
  const waypoint = walk.waypoints.get(record.seq);
  walk.waypoints.delete(record.seq);
  if (waypoint !== undefined && waypoint.record_hash !== record.record_hash) {
    breakAt(walk, file, line, `The record is another than ${waypoint.source} remembers: it was rewritten.`);
    return;
  }
  countRecord(walk, record);
}

/** Returns the reason why a line is not the next of this chain; `null` if it is. */
function getFault(walk: Walk, record: JournalRecord | LineFault, line: number): string | null {
  if ('fault' in record) return record.fault;
  if (record.writer !== walk.writer) return `it belongs to the chain of \`${record.writer}\``;
  if (record.seq !== walk.head.seq + 1) return `its number is ${record.seq}`;
  if (walk.linked && record.prev_hash !== walk.head.record_hash)
    return 'it does not follow the record before it';
  if ((record.kind === 'segment') !== (line === 1)) return 'a file begins in the wrong place';
  if (record.kind === 'checkpoint' && isMissingKey(record.checkpoint.key_id, walk.trusted)) return null;
  if (record.kind === 'checkpoint' && !isGenuine(walk, record))
    return 'its signature is not by a key that is believed';
  return null;
}

function isGenuine(walk: Walk, record: JournalRecord & { kind: 'checkpoint' }): boolean {
  const { key_id, signature, timestamp, heads } = record.checkpoint;
  const key = walk.trusted.keys.get(key_id);
  const before = { seq: record.seq - 1, record_hash: record.prev_hash };
  if (key === undefined || typeof signature !== 'string') return false;
  if (heads !== undefined && !(Array.isArray(heads) && heads.every(isWriterHead))) return false;
  return isSigned(buildCheckpointMessage(walk.writer, before, timestamp, heads), signature, key);
}

function countRecord(walk: Walk, record: JournalRecord): void {
  walk.head = { seq: record.seq, record_hash: record.record_hash };
  walk.linked = true;
  walk.records += 1;
  walk.unsigned_tail += 1;
  if (record.kind === 'event') countEvent(walk, record.event);
  if (record.kind === 'action' && record.action === undefined) walk.erased_actions += 1;
  if (record.kind === 'cut') countCut(walk, record);
  if (record.kind !== 'checkpoint') return;
  if (isMissingKey(record.checkpoint.key_id, walk.trusted)) {
    walk.missing_keys.add(record.checkpoint.key_id);
    return;
  }
  walk.checkpoints += 1;
  walk.unsigned_tail = 0;
  walk.checkpoint_hashes.set(record.seq, record.record_hash);
  walk.named.add(record.checkpoint.heads ?? [], walk.writer);
}

function countEvent(walk: Walk, { event_id, policy_name, metadata }: AuditEvent): void {
  walk.events += 1;
  if (policy_name !== RETENTION_EVENT || metadata.last_seq === undefined) return;
  walk.retentions.set(buildRetentionKey(metadata.writer, metadata.last_seq), {
    event_id,
    last_hash: metadata.last_hash,
  });
}

function countCut(walk: Walk, record: JournalRecord & { kind: 'cut' }): void {
  walk.cuts += 1;
  if (record.cut.reason !== 'unreadable_tail') return;
  walk.warnings.push(
    `${walk.writer}: at record ${record.seq} an unreadable end of ${record.cut.bytes} bytes was moved to \`${record.cut.set_aside}\`.`,
  );
}

function checkTorn(walk: Walk, file: string, line: number, bytes: number, mayBeTorn: boolean): void {
  walk.torn_bytes += bytes;
  if (!mayBeTorn) breakAt(walk, file, line, 'The file ends in the middle of a record.');
}

/** Reports a chain that ends before a waypoint. */
function checkWaypointsReached(walk: Walk): void {
  for (const [seq, waypoint] of walk.waypoints) {
    const reason = `The end is missing: ${waypoint.source} remembers ${seq} records, and ${walk.head.seq} are there.`;
    breakAt(walk, null, null, reason);
    return;
  }
}

function breakAt(walk: Walk, file: string | null, line: number | null, reason: string): void {
  walk.broken = { writer: walk.writer, file, line, seq: walk.head.seq + 1, reason };
}

function listRootWarnings(trusted: TrustedKeys): string[] {
  if (trusted.roots.length === 0) return ['There is no public key.'];
  if (trusted.roots.length === 1) return [];
  return [`${trusted.roots.length} keys vouch for themselves; name the one that you trust to be sure.`];
}

function getReport(walk: Walk): WriterReport {
  const {
    writer,
    segments,
    records,
    events,
    erased_actions,
    checkpoints,
    first_seq,
    unsigned_tail,
    torn_bytes,
    cuts,
    retired,
  } = walk;
  const { seq: lastSeq, record_hash: lastHash } = walk.head;
  return {
    writer,
    segments,
    records,
    events,
    erased_actions,
    checkpoints,
    first_seq,
    last_seq: lastSeq,
    last_hash: lastHash,
    unsigned_tail,
    torn_bytes,
    cuts,
    retired,
  };
}
