import { createPublicKey, type KeyObject } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EARLIER_NAME } from '../../core/names.ts';
import { openOwnFile, readOwnFile } from '../../platform/files/own-file.ts';
import { getSystemCode } from './failure.ts';
import { buildTemporaryName, FILE_MODE, isWriterName, listWriters } from './files.ts';
import type { ChainHead, WriterHead } from './journal-record.ts';
import { buildCheckpointMessage, isSigned, type SigningKey, signMessage } from './keys.ts';

/** The file in a writer's folder that holds the writer's last durable checkpoint, for the other writers to sign. */
const HEAD_FILE = 'head.json';
/** A longer file was not written by this program. */
const HEAD_BYTES_MAX = 1_024;
/** The maximum number of writers that one checkpoint names, so that the line stays below its size limit. */
const HEADS_MAX = 1_024;

/** The writer that signs, and its key. */
interface WriterIdentity {
  readonly writer: string;
  readonly signing_key: SigningKey;
}

/** Returns the body of a checkpoint that follows `head`, as JSON text. */
export function signCheckpoint(
  { writer, signing_key, now_ms }: WriterIdentity & { readonly now_ms: () => number },
  head: ChainHead,
  heads: readonly WriterHead[],
): string {
  const timestamp = new Date(now_ms()).toISOString();
  const signature = signMessage(buildCheckpointMessage(writer, head, timestamp, heads), signing_key);
  return JSON.stringify({ timestamp, key_id: signing_key.key_id, signature, heads });
}

/**
 * Publishes a checkpoint to the other writers. The checkpoint must be durable already, because other writers sign that
 * it exists. The file is not synced: losing it only delays the next reader until the next checkpoint.
 */
export async function publishHead(
  writerDir: string,
  { writer, signing_key }: WriterIdentity,
  { seq, record_hash }: ChainHead,
): Promise<void> {
  const head = { writer, seq, record_hash };
  const signature = signMessage(formatHeadMessage(head), signing_key);
  const path = join(writerDir, HEAD_FILE);
  const temporary = buildTemporaryName(path);
  try {
    await writeFile(temporary, `${JSON.stringify({ ...head, signature })}\n`, {
      flag: 'wx',
      mode: FILE_MODE,
    });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Reads the checkpoints that the other writers have published, sorted by writer. Skips files that the key did not sign,
 * so that only a holder of the key can have a record signed.
 */
export async function readPublishedHeads(
  own: WriterIdentity & { readonly dir: string },
): Promise<readonly WriterHead[]> {
  const publicKey = createPublicKey(own.signing_key.private_key);
  const heads: WriterHead[] = [];
  for (const writer of await listWriters(own.dir)) {
    if (writer === own.writer || heads.length === HEADS_MAX) continue;
    const published = await readPublished(join(own.dir, writer, HEAD_FILE));
    if (published === null || published.writer !== writer) continue;
    const { seq, record_hash, signature } = published;
    const head = { writer, seq, record_hash };
    if (isSigned(formatHeadMessage(head), signature, publicKey)) heads.push(head);
  }
  return heads;
}

/** The state of the published checkpoint of a writer. A power cut may leave it empty. */
export type PublishedHead = ChainHead | 'missing' | 'empty' | 'changed';

/** Reads the checkpoint that a writer has published, and compares every byte with what a trusted key signed. */
export async function verifyPublishedHead(
  writerDir: string,
  writer: string,
  keys: Iterable<KeyObject>,
): Promise<PublishedHead> {
  const text = await readOwnFile(join(writerDir, HEAD_FILE), HEAD_BYTES_MAX).catch((error) =>
    getSystemCode(error) === 'ENOENT' ? null : 'x',
  );
  if (text === null) return 'missing';
  if (text.replaceAll('\0', '') === '') return 'empty';
  const head = parsePublished(text);
  if (head === null || head.writer !== writer) return 'changed';
  const { seq, record_hash, signature } = head;
  const message = formatHeadMessage({ writer, seq, record_hash });
  const written = Buffer.from(signature, 'base64').toString('base64');
  const isWhole = text === `${JSON.stringify({ writer, seq, record_hash, signature: written })}\n`;
  return isWhole && [...keys].some((key) => isSigned(message, signature, key))
    ? { seq, record_hash }
    : 'changed';
}

function parsePublished(text: string): (WriterHead & { signature: string }) | null {
  try {
    const value: unknown = JSON.parse(text);
    const signature = (value as { signature?: unknown } | null)?.signature;
    return isWriterHead(value) && typeof signature === 'string' ? { ...value, signature } : null;
  } catch {
    return null;
  }
}

async function readPublished(path: string): Promise<(WriterHead & { signature: string }) | null> {
  try {
    const file = await openOwnFile(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES_MAX), 0, HEAD_BYTES_MAX, 0);
      return parsePublished(buffer.toString('utf8', 0, bytesRead));
    } finally {
      await file.close();
    }
  } catch {
    // A writer of an earlier version has no such file, and a power cut may leave an empty one.
    return null;
  }
}

/** Returns whether a value from a file names a record of a writer. */
export function isWriterHead(value: unknown): value is WriterHead {
  if (typeof value !== 'object' || value === null) return false;
  const { writer, seq, record_hash } = value as Record<string, unknown>;
  return (
    typeof writer === 'string' &&
    isWriterName(writer) &&
    Number.isSafeInteger(seq) &&
    (seq as number) > 0 &&
    typeof record_hash === 'string' &&
    /^[0-9a-f]{64}$/.test(record_hash)
  );
}

function formatHeadMessage({ writer, seq, record_hash }: WriterHead): string {
  return `${EARLIER_NAME} journal head 1\n${writer}\n${seq}\n${record_hash}`;
}

/** A chain as `verifyJournal` read it. */
export interface FoundChain {
  readonly writer: string;
  readonly head: ChainHead;
  /** The last record that was deleted by age; 0 if none was. */
  readonly retired_seq: number;
  /** The first record that is there; 0 if none is. */
  readonly first_seq: number;
  /** The hash of every checkpoint, by its number. */
  readonly checkpoint_hashes: ReadonlyMap<number, string>;
}

/** The checkpoints that writers have signed for each other, by the writer they name. */
export interface NamedHeads {
  readonly add: (heads: readonly WriterHead[], by: string) => void;
  readonly writers: () => readonly string[];
  /**
   * Returns the first checkpoint that a chain lacks, as a sentence; `null` if it has all of them. Those before and after
   * a partial copy do not count.
   */
  readonly findMissing: (
    chain: FoundChain,
    isPartial: boolean,
  ) => { readonly seq: number; readonly reason: string } | null;
  /** Returns the last record of a writer that is named; 0 if none is. */
  readonly findLast: (writer: string) => number;
}

/**
 * Collects named heads. Keeps all of them, not only the highest: a chain that was deleted, restarted and has grown past
 * its old end matches the later heads.
 */
export function collectNamedHeads(): NamedHeads {
  const byWriter = new Map<string, Map<string, WriterHead & { by: string }>>();
  return {
    add: (heads, by) => {
      for (const head of heads) {
        const named = byWriter.get(head.writer) ?? new Map();
        byWriter.set(head.writer, named);
        const key = `${head.seq} ${head.record_hash}`;
        if (!named.has(key)) named.set(key, { ...head, by });
      }
    },
    writers: () => [...byWriter.keys()].sort(),
    findLast: (writer) => {
      let last = 0;
      for (const { seq } of byWriter.get(writer)?.values() ?? []) last = Math.max(last, seq);
      return last;
    },
    findMissing: (chain, isPartial) => {
      for (const named of byWriter.get(chain.writer)?.values() ?? []) {
        if (isPartial && (named.seq < chain.first_seq || named.seq > chain.head.seq)) continue;
        const missing = compareHead(chain, named);
        if (missing !== null) return missing;
      }
      return null;
    },
  };
}

function compareHead(
  { head, retired_seq, checkpoint_hashes }: FoundChain,
  { seq, record_hash, by }: WriterHead & { by: string },
): { seq: number; reason: string } | null {
  if (seq <= retired_seq || checkpoint_hashes.get(seq) === record_hash) return null;
  const named = `a checkpoint of \`${by}\` names record ${seq}`;
  if (head.seq === 0) return { seq: 1, reason: `The whole chain is missing: ${named}.` };
  if (head.seq < seq)
    return { seq: head.seq + 1, reason: `The end is missing: ${named}, and ${head.seq} are there.` };
  return { seq, reason: `The chain was rewritten: ${named} with another hash.` };
}
