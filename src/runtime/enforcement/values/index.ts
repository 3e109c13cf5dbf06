import { hash, randomInt } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { ValuesChange, ValuesSeen } from '../../../core/types/index.ts';
import type { Store, StoreTables } from '../../../platform/store/index.ts';
import type { ConversationOwner } from './conversation-texts.ts';
import { deriveSessionKey, openValueHash } from './hash-values.ts';
import {
  applyRecords,
  createValueLog,
  decodeValueLog,
  encodeChange,
  type SessionOrigin,
  type ValueLog,
} from './value-log.ts';

/** The session that values belong to. The same session id of another credential, person or agent is another session. */
export interface ValuesOwner {
  readonly tenant_id: string;
  readonly session_id: string;
  /** The agent that acts. */
  readonly agent_id: string;
  readonly caller_id: string;
  /** Empty if no person is proved. */
  readonly user_id: string;
}

/** A session's lifetime. */
interface ValuesLimits {
  readonly idle_ms: number;
  readonly age_ms: number;
}

/** A session's values as they were read, before a decision that may add to them. */
export interface LoadedValues {
  readonly owner: ValuesOwner;
  readonly seen: ValuesSeen;
  /** `null` before the first message. */
  readonly origin: SessionOrigin | null;
  /** The row's version; `null` if there is no row. */
  readonly version: number | null;
  readonly log: ValueLog;
}

/** A change that a decision made. */
export interface SavedChange extends ValuesChange {
  readonly event_id: string;
  readonly origin: SessionOrigin | null;
}

/** Reads and saves the values that sessions have seen. One per process, because it caches what it decoded. */
export interface ValueIndex {
  /** Reads a session's values. @throws StoreFailure, Error: the caller must block then */
  readonly load: (
    store: Store,
    owner: ValuesOwner,
    nowMs: number,
    limits: ValuesLimits,
  ) => Promise<LoadedValues>;
  /**
   * Makes a change durable. Other workers' changes since the load are kept, because entries are only added.
   * @throws StoreFailure, Error: the caller must block then
   */
  readonly save: (
    store: Store,
    loaded: LoadedValues,
    change: SavedChange,
    nowMs: number,
    limits: ValuesLimits,
  ) => Promise<void>;
  /** Returns what a credential's conversations are compared by: the rows' owner, and their hash. */
  readonly openConversation: (owner: ValuesOwner) => {
    readonly conversation_owner: ConversationOwner;
    readonly hashText: (text: string) => string;
  };
  /** Returns values for a call outside any session: nothing was seen, and nothing is stored. */
  readonly createEmpty: (owner: ValuesOwner) => LoadedValues;
}

/**
 * Opens a process's index.
 *
 * @param readSecret - returns the secret that all processes of the service share
 */
export function openValueIndex(readSecret: () => string): ValueIndex {
  const cache = openCache();
  let secret: string | null = null;
  const openHash = (owner: ValuesOwner): ValuesSeen['hashValue'] => {
    secret ??= readSecret();
    // Agents in one session share the key, so that a message carries its values' labels to its receiver.
    const { tenant_id, session_id, caller_id, user_id } = owner;
    return openValueHash(deriveSessionKey(secret, [tenant_id, session_id, caller_id, user_id]));
  };
  const createEmpty = (owner: ValuesOwner) => buildLoaded(owner, createValueLog(), openHash(owner), null);
  return {
    openConversation: (owner) => {
      secret ??= readSecret();
      const { tenant_id, principal_hash } = getRowKey(owner);
      const hashValue = openValueHash(deriveSessionKey(secret, ['conversations', tenant_id, principal_hash]));
      const hashText = (text: string) => hashValue('exact', text.trim());
      return { conversation_owner: { tenant_id, principal_hash }, hashText };
    },
    createEmpty,
    load: async (store, owner, nowMs, limits) => {
      const known = cache.get(owner);
      const row = await readRow(store, owner);
      if (row === undefined || !isAlive(row, nowMs, limits)) return createEmpty(owner);
      if (nowMs - row.seen_ms > limits.idle_ms / TOUCHES) await touchRow(store, owner, nowMs);
      if (known?.version === row.version) return known;
      const stored = await readEntries(store.db, owner);
      if (stored === undefined) return createEmpty(owner);
      const hashValue = known?.seen.hashValue ?? openHash(owner);
      const loaded = buildLoaded(owner, decodeLog(stored.entries, hashValue), hashValue, stored.version);
      cache.set(loaded);
      return loaded;
    },
    save: async (store, loaded, change, nowMs, limits) => {
      const { owner, seen } = loaded;
      const full = { ...change, key_id: getKeyId(seen.hashValue) };
      if (loaded.version !== null && encodeChange(loaded.log, full).length === 0) return;
      const { log, records, version } = await store.transaction((trx) =>
        appendChange(trx, loaded, full, nowMs, limits),
      );
      // Only now, because the transaction may have failed, or was repeated.
      applyRecords(log, records);
      cache.set(buildLoaded(owner, log, seen.hashValue, version));
    },
  };
}

/** The number of updates per idle time for a session in use. */
const TOUCHES = 10;

function buildLoaded(
  owner: ValuesOwner,
  log: ValueLog,
  hashValue: ValuesSeen['hashValue'],
  version: number | null,
): LoadedValues {
  const seen: ValuesSeen = {
    hashValue,
    findLabels: (hash) => log.labels_by_hash.get(hash) ?? [],
    full: [...log.full],
    ended: [...log.ended],
  };
  return { owner, seen, origin: log.origin, version, log };
}

/** @throws Error if other keys made the hashes: no value would be found, and neither would strangers' values */
function decodeLog(entries: Uint8Array, hashValue: ValuesSeen['hashValue']): ValueLog {
  const log = decodeValueLog(entries);
  if (log.key_id !== null && log.key_id !== getKeyId(hashValue))
    throw new Error('the values of the session were stored under another fingerprint key');
  return log;
}

function getKeyId(hashValue: ValuesSeen['hashValue']): string {
  return hashValue('exact', 'key id');
}

async function appendChange(
  trx: Transaction<StoreTables>,
  loaded: LoadedValues,
  change: Parameters<typeof encodeChange>[1],
  nowMs: number,
  limits: ValuesLimits,
): Promise<{ readonly log: ValueLog; readonly records: Buffer; readonly version: number }> {
  const row = await lockRow(trx, loaded.owner, nowMs);
  const isFresh = !isAlive(row, nowMs, limits);
  const log = isFresh
    ? createValueLog()
    : row.version === loaded.version
      ? loaded.log
      : decodeLog((await readEntries(trx, loaded.owner))!.entries, loaded.seen.hashValue);
  const records = encodeChange(log, change);
  const version = isFresh ? pickVersion() : row.version + 1;
  await trx
    .updateTable('values_seen')
    .set({
      version,
      entries: Buffer.concat([log.bytes, records]),
      started_ms: isFresh ? nowMs : row.started_ms,
      seen_ms: Math.max(nowMs, Math.min(row.seen_ms, nowMs + limits.idle_ms)),
    })
    .where(({ and }) => and(getRowKey(loaded.owner)))
    .execute();
  return { log, records, version };
}

/** Returns a new row's version. */
function pickVersion(): number {
  return randomInt(VERSION_MAX);
}

const VERSION_MAX = 2 ** 47;

type Database = Store['db'] | Transaction<StoreTables>;

/** Reads the row without its entries. Each decision does, so that the statement is compiled once. */
async function readRow({ db }: Store, owner: ValuesOwner) {
  let compiled = rowQueries.get(db);
  if (compiled === undefined) {
    compiled = buildRowQuery(db, owner);
    rowQueries.set(db, compiled);
  }
  const { tenant_id, session_id, agent_id, principal_hash } = getRowKey(owner);
  const parameters = [tenant_id, session_id, agent_id, principal_hash];
  return (await db.executeQuery<SeenRow>({ ...compiled, parameters })).rows[0];
}

type SeenRow = Pick<StoreTables['values_seen'], 'version' | 'started_ms' | 'seen_ms'>;

const rowQueries = new WeakMap<Store['db'], ReturnType<typeof buildRowQuery>>();

/** Compiles the statement. Its parameters are in the conditions' order. */
function buildRowQuery(db: Store['db'], owner: ValuesOwner) {
  const { tenant_id, session_id, agent_id, principal_hash } = getRowKey(owner);
  return db
    .selectFrom('values_seen')
    .select(['version', 'started_ms', 'seen_ms'])
    .where('tenant_id', '=', tenant_id)
    .where('session_id', '=', session_id)
    .where('agent_id', '=', agent_id)
    .where('principal_hash', '=', principal_hash)
    .compile();
}

function readEntries(db: Database, owner: ValuesOwner) {
  return db
    .selectFrom('values_seen')
    .select(['version', 'entries'])
    .where(({ and }) => and(getRowKey(owner)))
    .executeTakeFirst();
}

async function touchRow({ db }: Store, owner: ValuesOwner, nowMs: number): Promise<void> {
  await db
    .updateTable('values_seen')
    .set({ seen_ms: nowMs })
    .where(({ and }) => and(getRowKey(owner)))
    .where('seen_ms', '<', nowMs)
    .execute();
}

/** Returns the row, created if missing, and locked. */
async function lockRow(trx: Transaction<StoreTables>, owner: ValuesOwner, nowMs: number) {
  await trx
    .insertInto('values_seen')
    .values({
      ...getRowKey(owner),
      version: pickVersion(),
      entries: Buffer.alloc(0),
      started_ms: nowMs,
      seen_ms: nowMs,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return trx
    .selectFrom('values_seen')
    .select(['version', 'started_ms', 'seen_ms'])
    .where(({ and }) => and(getRowKey(owner)))
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** A clock that was set back expires nothing. */
function isAlive(
  { started_ms, seen_ms }: { readonly started_ms: number; readonly seen_ms: number },
  nowMs: number,
  { idle_ms, age_ms }: ValuesLimits,
): boolean {
  return nowMs - seen_ms <= idle_ms && nowMs - started_ms <= age_ms;
}

/** The decoded values of the sessions that this process used last. */
interface ValueCache {
  readonly get: (owner: ValuesOwner) => LoadedValues | undefined;
  readonly set: (loaded: LoadedValues) => void;
}

const CACHED_SESSIONS_MAX = 512;
const CACHED_BYTES_MAX = 4_000_000;

function openCache(): ValueCache {
  const cached = new Map<string, { readonly loaded: LoadedValues; readonly bytes: number }>();
  let total = 0;
  const remove = (key: string): void => {
    total -= cached.get(key)?.bytes ?? 0;
    cached.delete(key);
  };
  return {
    get: (owner) => {
      const key = getKey(owner);
      const found = cached.get(key);
      if (found === undefined) return undefined;
      cached.delete(key);
      cached.set(key, found);
      return found.loaded;
    },
    set: (loaded) => {
      const key = getKey(loaded.owner);
      const bytes = loaded.log.bytes.length;
      remove(key);
      cached.set(key, { loaded, bytes });
      total += bytes;
      for (const oldest of cached.keys()) {
        if (cached.size <= CACHED_SESSIONS_MAX && total <= CACHED_BYTES_MAX) break;
        remove(oldest);
      }
    },
  };
}

function getKey({ tenant_id, session_id, agent_id, caller_id, user_id }: ValuesOwner): string {
  return JSON.stringify([tenant_id, session_id, agent_id, caller_id, user_id]);
}

function getRowKey({ tenant_id, session_id, agent_id, caller_id, user_id }: ValuesOwner) {
  const principal = hash('sha256', JSON.stringify([caller_id, user_id]), 'hex');
  return { tenant_id, session_id, agent_id, principal_hash: principal };
}
