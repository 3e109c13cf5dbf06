/**
 * The stored form of the values that a session has seen: a log of records, to which each change appends. A record is
 * one byte for its kind and its fields.
 */
import { getValueQuota, VALUE_QUOTAS } from '../../../core/flow/quotas.ts';
import type { Label, SeenLabel, ValueForm, ValueQuota, ValuesChange } from '../../../core/types/index.ts';

/** The most labels of one session. Callers name tools, and each tool may be a label. */
export const LABELS_MAX = 512;

/** A session's beginning: `user` with a person's words, `agent` with a message from another agent. */
export type SessionOrigin = 'user' | 'agent';

/** The values that a session has seen, decoded. Only `applyRecords` changes it. */
export interface ValueLog {
  readonly labels_by_hash: Map<string, SeenLabel[]>;
  readonly counts: Record<ValueQuota, number>;
  readonly full: Set<ValueQuota>;
  readonly ended: Set<Label>;
  /** The names that records refer to by number. */
  readonly labels: Label[];
  readonly events: string[];
  origin: SessionOrigin | null;
  /** Identifies the hash key; `null` in a new log. */
  key_id: string | null;
  /** The log as it is stored. */
  bytes: Buffer;
}

/** A change to a session's values. */
export interface LoggedChange extends ValuesChange {
  readonly event_id: string;
  readonly key_id: string;
  /** Is set once: a session keeps its first origin. */
  readonly origin: SessionOrigin | null;
}

const KIND = { label: 1, event: 2, value: 3, full: 4, end: 5, origin: 6, key: 7 } as const;
const TEXT_KINDS: ReadonlySet<number> = new Set([KIND.label, KIND.event, KIND.end, KIND.key]);
const QUOTAS: readonly ValueQuota[] = ['user', 'trusted', 'untrusted', 'shingle'];
const ORIGINS: readonly SessionOrigin[] = ['user', 'agent'];
const HASH = /^[0-9a-f]{16}$/;
const HASH_BYTES = 8;
const VALUE_BYTES = 1 + 1 + 2 + 2 + HASH_BYTES;

/** Creates a log without entries. */
export function createValueLog(): ValueLog {
  return {
    labels_by_hash: new Map(),
    counts: { user: 0, trusted: 0, untrusted: 0, shingle: 0 },
    full: new Set(),
    ended: new Set(),
    labels: [],
    events: [],
    origin: null,
    key_id: null,
    bytes: Buffer.alloc(0),
  };
}

/** Decodes a stored log. @throws Error if it is damaged */
export function decodeValueLog(bytes: Uint8Array): ValueLog {
  const log = createValueLog();
  applyRecords(log, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  return log;
}

/**
 * Returns the records that a change appends, empty if it changes nothing. The log itself stays as it is. Entries over a
 * quota are left out, and the quota is recorded as used up.
 */
export function encodeChange(log: ValueLog, change: LoggedChange): Buffer {
  const writer = openWriter(log, change.event_id);
  for (const { hash, form, label } of change.add) writer.addValue(hash, form, label);
  for (const label of change.end) writer.endLabel(label);
  if (change.origin !== null && log.origin === null)
    writer.write(Buffer.of(KIND.origin, ORIGINS.indexOf(change.origin)));
  const records = writer.finish();
  if (records.length === 0 || log.key_id !== null) return records;
  return Buffer.concat([encodeText(KIND.key, change.key_id), records]);
}

function openWriter(log: ValueLog, eventId: string) {
  const parts: Buffer[] = [];
  const labels = new Map(log.labels.map((label, at) => [label, at]));
  const counts = { ...log.counts };
  const full = new Set(log.full);
  const ended = new Set(log.ended);
  const added = new Set<string>();
  let event: number | null = null;
  const write = (part: Buffer): void => {
    parts.push(part);
  };
  const markFull = (quota: ValueQuota): void => {
    if (full.has(quota)) return;
    full.add(quota);
    write(Buffer.of(KIND.full, QUOTAS.indexOf(quota)));
  };
  const getLabel = (given: Label): number | null => {
    // Labels over the limit lose their names. One that permits is left out, because another one could permit more.
    const label = labels.has(given) || labels.size < LABELS_MAX ? given : shortenLabel(given);
    if (label === null) return null;
    const known = labels.get(label);
    if (known !== undefined) return known;
    labels.set(label, labels.size);
    write(encodeText(KIND.label, label));
    return labels.size - 1;
  };
  const getEvent = (): number => {
    if (event !== null) return event;
    event = log.events.length;
    write(encodeText(KIND.event, eventId));
    return event;
  };
  return {
    write,
    addValue: (hash: string, form: ValueForm, given: Label): void => {
      if (!HASH.test(hash)) throw new Error('a hash of a value has 16 hex digits');
      const quota = getValueQuota(form, given);
      const number = getLabel(given);
      if (number === null) {
        markFull(quota);
        return;
      }
      const key = `${hash} ${number}`;
      const isKnown =
        log.labels_by_hash.get(hash)?.some(({ label }) => labels.get(label) === number) ?? false;
      if (isKnown || added.has(key)) return;
      if (counts[quota] >= VALUE_QUOTAS[quota]) {
        markFull(quota);
        return;
      }
      counts[quota] += 1;
      added.add(key);
      const record = Buffer.alloc(VALUE_BYTES);
      record[0] = KIND.value;
      record[1] = QUOTAS.indexOf(quota);
      record.writeUInt16LE(number, 2);
      record.writeUInt16LE(getEvent(), 4);
      record.write(hash, 6, 'hex');
      write(record);
    },
    endLabel: (given: Label): void => {
      const number = getLabel(given) ?? getLabel('trusted');
      const label = [...labels].find(([, at]) => at === number)?.[0] ?? 'trusted';
      if (ended.has(label)) return;
      ended.add(label);
      write(encodeText(KIND.end, label));
    },
    finish: () => Buffer.concat(parts),
  };
}

function shortenLabel(label: Label): Label | null {
  return label.startsWith('untrusted.') ? 'untrusted' : null;
}

/** Appends records to a log. @throws Error if they are damaged */
export function applyRecords(log: ValueLog, records: Buffer): void {
  let at = 0;
  while (at < records.length) {
    switch (records[at]) {
      case KIND.value:
        addEntry(log, records, at);
        at += VALUE_BYTES;
        break;
      case KIND.full:
        log.full.add(pick(QUOTAS, records[at + 1]));
        at += 2;
        break;
      case KIND.origin:
        log.origin ??= pick(ORIGINS, records[at + 1]);
        at += 2;
        break;
      default: {
        const { kind, text, end } = decodeText(records, at);
        if (kind === KIND.label) log.labels.push(text);
        else if (kind === KIND.event) log.events.push(text);
        else if (kind === KIND.key) log.key_id = text;
        else log.ended.add(text);
        at = end;
      }
    }
  }
  log.bytes = Buffer.concat([log.bytes, records]);
}

function addEntry(log: ValueLog, records: Buffer, at: number): void {
  if (at + VALUE_BYTES > records.length) throw buildDamage();
  const quota = pick(QUOTAS, records[at + 1]);
  const label = pick(log.labels, records.readUInt16LE(at + 2));
  const eventId = pick(log.events, records.readUInt16LE(at + 4));
  const hash = records.toString('hex', at + 6, at + VALUE_BYTES);
  const known = log.labels_by_hash.get(hash);
  if (known === undefined) log.labels_by_hash.set(hash, [{ label, event_id: eventId }]);
  else known.push({ label, event_id: eventId });
  log.counts[quota] += 1;
}

function encodeText(kind: number, text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const head = Buffer.alloc(3);
  head[0] = kind;
  head.writeUInt16LE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

function decodeText(records: Buffer, at: number): { kind: number; text: string; end: number } {
  const kind = records[at]!;
  if (at + 3 > records.length) throw buildDamage();
  const end = at + 3 + records.readUInt16LE(at + 1);
  if (end > records.length || !TEXT_KINDS.has(kind)) throw buildDamage();
  return { kind, text: records.toString('utf8', at + 3, end), end };
}

function pick<Item>(list: readonly Item[], at: number | undefined): Item {
  const item = at === undefined ? undefined : list[at];
  if (item === undefined) throw buildDamage();
  return item;
}

function buildDamage(): Error {
  return new Error('the values of a session are damaged');
}
