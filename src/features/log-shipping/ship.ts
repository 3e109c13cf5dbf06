import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Bucket, NewObject } from '../../drivers/object-storage/s3.ts';
import { readWithoutActions } from '../../runtime/audit/erase-actions.ts';
import { listSegments, listWriters, type SegmentFile } from '../../runtime/audit/files.ts';
import { loadPublicKeys, type PublicKeyRecord } from '../../runtime/audit/keys.ts';
import { readJournalLines } from '../../runtime/audit/lines.ts';
import { findLogId } from '../../runtime/audit/log-id.ts';
import { readShippedSeq, writeShippedSeq } from '../../runtime/audit/shipped.ts';
import { buildLayout, type LogLayout } from './layout.ts';
import { ShippingFailure, type ShippingRound } from './types.ts';

/** The log to ship, and its place. */
export interface ShippingOptions {
  readonly state_dir: string;
  readonly bucket: Bucket;
  readonly prefix: string;
  /** The name of this machine, for people. */
  readonly node: string;
  /** Ships shown actions too. */
  readonly exports_actions: boolean;
  readonly object_lock: { readonly mode: 'governance' | 'compliance'; readonly days: number } | null;
  readonly now_ms: () => number;
  readonly signal: AbortSignal;
}

/** The files that one round ships. */
const ROUND_FILES_MAX = 20;
const DAY_MS = 86_400_000;

/**
 * Stores the closed files of the journal that are not in the bucket yet, oldest first, and the public keys before them.
 * A file is stored once: an object with its key and its last record counts as stored.
 *
 * @throws ObjectStorageFailure
 * @throws ShippingFailure `shipping_conflict` if an object has the key of a file and is of another log
 */
export async function shipClosedFiles(options: ShippingOptions): Promise<ShippingRound> {
  const { state_dir, prefix, signal } = options;
  const journalDir = join(state_dir, 'journal');
  const waiting = await listWaiting(journalDir);
  if (waiting.length === 0) return { shipped: 0, waiting: 0 };
  const keys = await loadPublicKeys(join(state_dir, 'keys'));
  const folder = await mkdtemp(join(tmpdir(), 'ship-'));
  try {
    const layout = buildLayout(prefix, requireLogId(keys));
    await shipDescription(options, layout, keys, folder);
    const round = waiting.slice(0, ROUND_FILES_MAX);
    for (const file of round) {
      signal.throwIfAborted();
      await shipFile(options, layout, file, folder);
      writeShippedSeq(join(journalDir, file.writer), file.last_seq);
    }
    return { shipped: round.length, waiting: waiting.length - round.length };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A closed file that is not in the bucket. */
interface WaitingFile {
  readonly writer: string;
  readonly segment: SegmentFile;
  readonly last_seq: number;
}

async function listWaiting(journalDir: string): Promise<readonly WaitingFile[]> {
  const waiting: WaitingFile[] = [];
  for (const writer of await listWriters(journalDir)) {
    const segments = await listSegments(join(journalDir, writer));
    const shippedSeq = await readShippedSeq(join(journalDir, writer));
    for (const [at, segment] of segments.slice(0, -1).entries()) {
      const lastSeq = segments[at + 1]!.first_seq - 1;
      if (lastSeq > shippedSeq) waiting.push({ writer, segment, last_seq: lastSeq });
    }
  }
  return waiting;
}

/** @throws ShippingFailure `shipping_missing` without a public key */
function requireLogId(keys: readonly PublicKeyRecord[]): string {
  const logId = findLogId(keys);
  if (logId !== null) return logId;
  throw new ShippingFailure(
    'shipping_missing',
    'The state folder has no public key, so the log cannot be shipped. Put `keys` back from a backup.',
  );
}

/** Stores the public keys and a description of the log for people, unless they are there. */
async function shipDescription(
  options: ShippingOptions,
  layout: LogLayout,
  keys: readonly PublicKeyRecord[],
  folder: string,
): Promise<void> {
  const about = { node: options.node, shipped_since: new Date(options.now_ms()).toISOString() };
  const texts = [
    ...keys.map((key) => [`${layout.keys}${key.key_id}.json`, key] as const),
    [layout.about, about] as const,
  ];
  for (const [key, value] of texts) {
    const path = join(folder, 'description');
    await writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
    await options.bucket.createObject(
      await describeObject(options, { key, path, content_type: 'application/json', metadata: {} }),
      options.signal,
    );
  }
}

async function shipFile(
  options: ShippingOptions,
  layout: LogLayout,
  { writer, segment, last_seq }: WaitingFile,
  folder: string,
): Promise<void> {
  const { bucket, exports_actions, signal } = options;
  const path = join(folder, 'segment');
  const lastHash = await copySegment(segment, path, exports_actions, signal);
  const key = layout.buildFileKey(writer, segment.first_seq);
  const metadata = { 'last-seq': String(last_seq), 'last-hash': lastHash };
  const object = await describeObject(options, { key, path, content_type: 'application/gzip', metadata });
  if (await bucket.createObject(object, signal)) return;
  const there = await bucket.readMetadata(key, signal);
  if (there?.['last-hash'] === lastHash) return;
  throw new ShippingFailure(
    'shipping_conflict',
    `\`${key}\` in the bucket is not this file: its last record differs. Nothing was replaced, and this log is not shipped on. Compare both with \`customshouse audit verify\`; then choose another \`audit.object_storage.prefix\`.`,
  );
}

/** Writes a compressed copy of a file. Returns the hash of its last record. */
async function copySegment(
  segment: SegmentFile,
  path: string,
  withActions: boolean,
  signal: AbortSignal,
): Promise<string> {
  let last: Buffer = Buffer.alloc(0);
  async function* readLines(): AsyncGenerator<Buffer> {
    const lines = withActions ? readLinesOf(segment) : readWithoutActions(segment);
    for await (const line of lines) {
      last = line;
      yield line;
    }
  }
  const lines = Readable.from(readLines(), { objectMode: false });
  await pipeline(lines, createGzip(), createWriteStream(path, { mode: 0o600 }), { signal });
  return /"record_hash":"([0-9a-f]{64})"\}\n?$/.exec(last.toString('latin1'))?.[1] ?? '';
}

async function* readLinesOf(segment: SegmentFile): AsyncGenerator<Buffer> {
  for await (const { bytes, whole } of readJournalLines(segment))
    yield Buffer.concat([bytes, Buffer.from(whole ? '\n' : '')]);
}

async function describeObject(
  { object_lock, now_ms }: ShippingOptions,
  object: Pick<NewObject, 'key' | 'path' | 'content_type' | 'metadata'>,
): Promise<NewObject> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(object.path), digest);
  return {
    ...object,
    bytes: (await stat(object.path)).size,
    sha256: digest.digest('base64'),
    locked_until:
      object_lock === null ? null : { mode: object_lock.mode, time_ms: now_ms() + object_lock.days * DAY_MS },
  };
}
