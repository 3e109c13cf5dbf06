import { hash } from 'node:crypto';
import type { AuditEvent } from './types.ts';

/**
 * One line of the journal. A line is a JSON object with a fixed order of fields, so that its hash is one pass over its
 * bytes:
 *
 *     {"seq":7,"writer":"worker-1","kind":"event","prev_hash":"<64 hex>","event":{...},"record_hash":"<64 hex>"}
 *
 * `record_hash` is SHA-256 over the bytes of the line before `,"record_hash"`. `prev_hash` is the `record_hash` of the
 * previous line; for the first line of a file, of the last line of the previous file. `seq` counts the lines of one
 * writer from 1, across its files. The body is the field named after the kind.
 */
export type JournalRecord =
  | RecordOf<'segment', SegmentBody>
  | RecordOf<'event', AuditEvent>
  | RecordOf<'cut', CutBody>
  | RecordOf<'checkpoint', CheckpointBody>;

export const RECORD_KINDS = ['segment', 'event', 'cut', 'checkpoint'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

type RecordOf<Kind extends RecordKind, Body> = {
  readonly seq: number;
  readonly writer: string;
  readonly kind: Kind;
  readonly prev_hash: string;
  readonly record_hash: string;
} & { readonly [key in Kind]: Body };

/** The first line of a file. `timestamp` is the time when the file was created. */
export interface SegmentBody {
  readonly format: 1;
  readonly hash: 'sha256';
  readonly timestamp: string;
}

/** Bytes that were removed from the end of a file, and the reason. They contain no acknowledged event. */
export interface CutBody {
  readonly timestamp: string;
  /** `torn_line`: the process died while it wrote. `write_failed`: the disk refused. `unreadable_tail`: see `set_aside`. */
  readonly reason: 'torn_line' | 'write_failed' | 'unreadable_tail';
  readonly bytes: number;
  /** Events whose callers received an error. */
  readonly events_rejected: number;
  /** The file next to the journal that keeps the bytes, if they were more than one torn line. */
  readonly set_aside: string | null;
}

/** A signature over the chain before this line; see `buildCheckpointMessage`. */
export interface CheckpointBody {
  readonly timestamp: string;
  readonly key_id: string;
  /** Ed25519, base64. */
  readonly signature: string;
  /** Durable checkpoints of the other writers, which the signature covers. Earlier versions wrote none. */
  readonly heads?: readonly WriterHead[];
}

/** The end of a chain: the number and hash of its last line. A new chain starts at `CHAIN_START`. */
export interface ChainHead {
  readonly seq: number;
  readonly record_hash: string;
}

/** A checkpoint record of a writer, as another writer names it. */
export interface WriterHead extends ChainHead {
  readonly writer: string;
}

export const CHAIN_START: ChainHead = { seq: 0, record_hash: '0'.repeat(64) };

/** The maximum length of a line, for writers and readers. */
export const JOURNAL_LINE_BYTES_MAX = 1_048_576;

const TAIL_START = ',"record_hash":"';
const TAIL_BYTES = TAIL_START.length + 64 + 2;

/** Encodes the line after `head`, `\n` included. `body_json` is the body as JSON text. */
export function encodeRecord(
  head: ChainHead,
  writer: string,
  kind: RecordKind,
  body_json: string,
): { readonly line: string; readonly head: ChainHead } {
  const seq = head.seq + 1;
  const hashed = `{"seq":${seq},"writer":"${writer}","kind":"${kind}","prev_hash":"${head.record_hash}","${kind}":${body_json}`;
  const record_hash = hash('sha256', hashed, 'hex');
  return { line: `${hashed}${TAIL_START}${record_hash}"}\n`, head: { seq, record_hash } };
}

/** The fault of a line as one clause: `its hash does not fit its content`. */
export type LineFault = { readonly fault: string };

/** Decodes one line (without its `\n`) and checks its hash. The caller checks that it follows the previous line. */
export function decodeRecord(line: Buffer): JournalRecord | LineFault {
  const end = line.length - TAIL_BYTES;
  if (end <= 0 || line.toString('latin1', end, end + TAIL_START.length) !== TAIL_START) {
    return { fault: 'it does not end in a hash' };
  }
  const record = parseRecord(line.toString('utf8'));
  if ('fault' in record) return record;
  const actual = hash('sha256', line.subarray(0, end), 'hex');
  return actual === record.record_hash ? record : { fault: 'its hash does not fit its content' };
}

/** Decodes one line without checking its hash, for readers that only need the content. */
export function parseRecord(line: string): JournalRecord | LineFault {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { fault: 'it is not JSON' };
  }
  return isRecord(value) ? value : { fault: 'it is not a journal record' };
}

function isRecord(value: unknown): value is JournalRecord {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Record<string, unknown>;
  return (
    Number.isSafeInteger(record.seq) &&
    typeof record.writer === 'string' &&
    RECORD_KINDS.includes(record.kind as RecordKind) &&
    isHash(record.prev_hash) &&
    isHash(record.record_hash) &&
    typeof record[record.kind as string] === 'object' &&
    record[record.kind as string] !== null
  );
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

/** Returns the JSON text of an event, sliced from the line that `record` was decoded from. */
export function formatEventJson(record: JournalRecord, line: string): string {
  const start = `{"seq":${record.seq},"writer":"${record.writer}","kind":"${record.kind}","prev_hash":"${record.prev_hash}","${record.kind}":`;
  return line.slice(start.length, line.length - TAIL_BYTES);
}
