import { hash, randomBytes } from 'node:crypto';
import type { ActionMarks, AuditEvent } from './types.ts';

/**
 * One line of the journal. A line is a JSON object with a fixed order of fields:
 *
 *     {"seq":7,"writer":"worker-1","kind":"event","prev_hash":"<64 hex>","body_hash":"<64 hex>","event":{...},"record_hash":"<64 hex>"}
 *
 * The body is the field named after the kind. `body_hash` is SHA-256 over its bytes. `record_hash` is SHA-256 over the
 * bytes of the line before the body, so the chain can be verified without the bodies. `prev_hash` is the `record_hash`
 * of the previous line; for the first line of a file, of the last line of the previous file. `seq` counts the lines of
 * one writer from 1, across its files.
 *
 * Lines of earlier versions have no `body_hash`; their `record_hash` covers the bytes before `,"record_hash"`.
 */
export type JournalRecord =
  | RecordOf<'segment', SegmentBody>
  | RecordOf<'event', AuditEvent>
  | ActionRecord
  | RecordOf<'cut', CutBody>
  | RecordOf<'checkpoint', CheckpointBody>;

export const RECORD_KINDS = ['segment', 'event', 'action', 'cut', 'checkpoint'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

type RecordOf<Kind extends RecordKind, Body> = {
  readonly seq: number;
  readonly writer: string;
  readonly kind: Kind;
  readonly prev_hash: string;
  /** Absent in lines of earlier versions. */
  readonly body_hash?: string;
  readonly record_hash: string;
} & { readonly [key in Kind]: Body };

/** The shown action for the event in the next line. Its body can be erased, and the chain still verifies. */
type ActionRecord = Omit<RecordOf<'action', ActionBody>, 'action'> & { readonly action?: ActionBody };

export interface ActionBody {
  readonly event_id: string;
  /** 32 hex digits: `body_hash` proves the body, and does not let an erased one be guessed. */
  readonly salt: string;
  readonly action_shown: string;
  readonly action_marks: ActionMarks;
}

/** The first line of a file. `timestamp` is the time when the file was created. */
export interface SegmentBody {
  /** The format of the file's first line; later lines may be of a newer one. */
  readonly format: 1 | 2;
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

/** Encodes the line after `head`, `\n` included. `bodyJson` is the body as JSON text. */
export function encodeRecord(
  head: ChainHead,
  writer: string,
  kind: RecordKind,
  bodyJson: string,
): { readonly line: string; readonly head: ChainHead } {
  const seq = head.seq + 1;
  const bodyHash = hash('sha256', bodyJson, 'hex');
  const header = `{"seq":${seq},"writer":"${writer}","kind":"${kind}","prev_hash":"${head.record_hash}","body_hash":"${bodyHash}"`;
  const recordHash = hash('sha256', header, 'hex');
  return {
    line: `${header},"${kind}":${bodyJson}${TAIL_START}${recordHash}"}\n`,
    head: { seq, record_hash: recordHash },
  };
}

/** Encodes the line body with an event's shown action; `null` if it has none. */
export function encodeActionBody({ event_id, action_shown, action_marks = [] }: AuditEvent): string | null {
  if (action_shown === undefined) return null;
  const salt = randomBytes(16).toString('hex');
  return JSON.stringify({ event_id, salt, action_shown, action_marks } satisfies ActionBody);
}

/** The bytes before the body of a line: its header, the hash of the body if there is one, and the name of the body. */
const HEADER =
  /^(\{"seq":\d{1,16},"writer":"[a-z0-9._-]{1,64}","kind":"(\w{1,10})","prev_hash":"[0-9a-f]{64}"(?:,"body_hash":"([0-9a-f]{64})")?),"\2":/;
const ERASED =
  /^\{"seq":\d{1,16},"writer":"[a-z0-9._-]{1,64}","kind":"action","prev_hash":"[0-9a-f]{64}","body_hash":"[0-9a-f]{64}"$/;
/** The header of a line is shorter than this. */
const HEADER_BYTES_MAX = 340;

/** Splits a line into its header, the stated hash of its body, and its body; `null` if it has another form. */
function splitLine(
  line: Buffer,
): { readonly header: string; readonly body_hash: string | null; readonly body: Buffer } | null {
  const match = HEADER.exec(line.toString('latin1', 0, HEADER_BYTES_MAX));
  if (match === null) return null;
  const body = line.subarray(match[0].length, line.length - TAIL_BYTES);
  return { header: match[1]!, body_hash: match[3] ?? null, body };
}

/** The place of an action body in a line, with its comma and name; `event_id` is `null` if it cannot be read. */
interface ActionPlace {
  readonly start: number;
  readonly end: number;
  readonly event_id: string | null;
}

/** Finds the body of an action line, torn ones too; `null` for other lines and erased actions. */
export function findActionBody(line: Buffer): ActionPlace | null {
  const match = HEADER.exec(line.toString('latin1', 0, HEADER_BYTES_MAX));
  if (match?.[2] !== 'action') return null;
  const tail = line.length - TAIL_BYTES;
  const isWhole = line.toString('latin1', tail, tail + TAIL_START.length) === TAIL_START;
  const end = isWhole ? tail : line.length;
  const eventId = /^\{"event_id":"([^"\\]{1,64})"/.exec(line.toString('latin1', match[0].length, end))?.[1];
  return { start: match[1]!.length, end, event_id: eventId ?? null };
}

/** Returns the header of an action line whose body was erased; spaces are in its place. `null` for other lines. */
function findErasedHeader(line: Buffer): string | null {
  const header = line.toString('latin1', 0, line.length - TAIL_BYTES).trimEnd();
  return ERASED.test(header) ? header : null;
}

/**
 * Returns a line without its body, which still proves its place in the chain: `seq`, `writer`, `kind`, `prev_hash`,
 * `body_hash` and `record_hash`. A line of an earlier version loses the proof with its body.
 */
export function omitBody(line: Buffer): string {
  const header = splitLine(line)?.header ?? findErasedHeader(line) ?? undefined;
  if (header === undefined) throw new TypeError('not a line of the journal');
  return header + line.toString('latin1', line.length - TAIL_BYTES);
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
  return isUnchanged(line, record) ? record : { fault: 'its hash does not fit its content' };
}

function isUnchanged(line: Buffer, record: JournalRecord): boolean {
  if (record.kind === 'action' && record.action === undefined) {
    const header = findErasedHeader(line);
    return header !== null && hash('sha256', header, 'hex') === record.record_hash;
  }
  if (record.body_hash === undefined)
    return hash('sha256', line.subarray(0, line.length - TAIL_BYTES), 'hex') === record.record_hash;
  const parts = splitLine(line);
  return (
    parts?.body_hash === record.body_hash &&
    hash('sha256', parts.body, 'hex') === record.body_hash &&
    hash('sha256', parts.header, 'hex') === record.record_hash
  );
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
    (isErasedAction(record) ||
      (typeof record[record.kind as string] === 'object' && record[record.kind as string] !== null))
  );
}

function isErasedAction(record: Readonly<Record<string, unknown>>): boolean {
  return record.kind === 'action' && record.action === undefined && isHash(record.body_hash);
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

/** Returns an event as its line has it, without the shown action. */
export function dropAction({ action_shown: _, action_marks: __, ...event }: AuditEvent): AuditEvent {
  return event;
}

/** Returns the JSON text of an event, sliced from the line that `record` was decoded from. */
export function formatEventJson(record: JournalRecord, line: string): string {
  const bodyHash = record.body_hash === undefined ? '' : `"body_hash":"${record.body_hash}",`;
  const start = `{"seq":${record.seq},"writer":"${record.writer}","kind":"${record.kind}","prev_hash":"${record.prev_hash}",${bodyHash}"${record.kind}":`;
  return line.slice(start.length, line.length - TAIL_BYTES);
}
