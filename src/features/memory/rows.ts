import type { Store } from '../../platform/store/index.ts';
import { computeOwnerSlot, computeSlots, type EntryRow, type EntrySlot, type MemoryOwner } from './entry.ts';
import { AGENT_LOCKS } from './tables.ts';

/** The limits for a new entry. An entry that is replaced does not count. */
export interface MemoryQuota {
  /** The entries of the session, user or agent in the entry's document. */
  readonly max_entries: number;
  /** The required fields of the document, for which entries are reserved. */
  readonly required: readonly string[];
  readonly agent_entries_max: number;
  readonly agent_bytes_max: number;
}

/** The reason why an entry was not stored: a limit, or the master key is no longer the active one. */
export type StoreRejection = 'max_entries' | 'agent_entries_max' | 'agent_bytes_max' | 'key_replaced';

/**
 * Stores an entry and replaces the previous one. Returns `null`, or the reason for a rejection. Resolves when the entry
 * is durable.
 */
export function storeRow(store: Store, row: EntryRow, quota: MemoryQuota): Promise<StoreRejection | null> {
  return store.transaction(async (trx) => {
    // Writers that count for the same agent run one after the other, so that each count includes all committed entries.
    const turn = Buffer.from(row.agent_slot, 'base64url').readUInt32BE() % AGENT_LOCKS;
    await trx
      .updateTable('memory_turns')
      .set((eb) => ({ taken: eb('taken', '+', 1) }))
      .where('turn', '=', turn)
      .execute();
    const activeKeyId = await readMemoryState(trx, 'key_id');
    if (activeKeyId !== row.key_id) return 'key_replaced';
    const full = await findExceededLimit(trx, row, quota);
    if (full !== null) return full;
    await trx.deleteFrom('memory_entries').where('slot', '=', row.slot).execute();
    await trx.insertInto('memory_entries').values(row).execute();
    return null;
  });
}

async function findExceededLimit(
  trx: Store['db'],
  row: EntryRow,
  quota: MemoryQuota,
): Promise<StoreRejection | null> {
  const nowMs = row.created_at_ms;
  const live = trx.selectFrom('memory_entries').where('expires_at_ms', '>', nowMs);
  const before = await live.select('value_bytes').where('slot', '=', row.slot).executeTakeFirst();
  const agent = await live
    .select((eb) => [
      eb.fn.countAll<number>().as('entries'),
      eb.fn.sum<number | null>('value_bytes').as('bytes'),
    ])
    .where('agent_slot', '=', row.agent_slot)
    .executeTakeFirstOrThrow();
  const bytes = (agent.bytes ?? 0) - (before?.value_bytes ?? 0) + row.value_bytes;
  if (bytes > quota.agent_bytes_max) return 'agent_bytes_max';
  if (before !== undefined) return null;
  if (agent.entries >= quota.agent_entries_max) return 'agent_entries_max';
  const fields = await live.select('field').where('owner_slot', '=', row.owner_slot).execute();
  const present = new Set([row.field, ...fields.map(({ field }) => field)]);
  const keptFree = quota.required.filter((field) => !present.has(field)).length;
  return present.size + keptFree > quota.max_entries ? 'max_entries' : null;
}

/** Returns the row of a handle of any owner; `undefined` if there is none. */
export function findRowByHandle(store: Store, entryId: string): Promise<EntryRow | undefined> {
  return store.db.selectFrom('memory_entries').selectAll().where('entry_id', '=', entryId).executeTakeFirst();
}

/** Returns the row of a slot; `undefined` if there is none. */
export function findRowBySlot(store: Store, place: EntrySlot): Promise<EntryRow | undefined> {
  const { slot } = computeSlots(place);
  return store.db.selectFrom('memory_entries').selectAll().where('slot', '=', slot).executeTakeFirst();
}

/** Returns the unexpired entries of one session, user or agent in one document, ordered by field. */
export function listOwnerRows(
  store: Store,
  owner: MemoryOwner,
  schemaName: string,
  nowMs: number,
  limit: number,
): Promise<EntryRow[]> {
  return store.db
    .selectFrom('memory_entries')
    .selectAll()
    .where('owner_slot', '=', computeOwnerSlot(owner, schemaName))
    .where('expires_at_ms', '>', nowMs)
    .orderBy('field')
    .limit(limit)
    .execute();
}

/** The entries that one statement deletes at most, so that other statements can run in between. */
export const PURGE_BATCH_ROWS = 500;

/** Deletes one batch of expired entries and returns their number. */
export async function purgeBatch(store: Store, nowMs: number): Promise<number> {
  const { numDeletedRows } = await store.db
    .deleteFrom('memory_entries')
    .where('entry_id', 'in', (eb) =>
      eb
        .selectFrom('memory_entries')
        .select('entry_id')
        .where('expires_at_ms', '<=', nowMs)
        .limit(PURGE_BATCH_ROWS),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/**
 * Returns the ids of all keys that encrypt stored entries. Each id takes one index step, so the number of entries does
 * not matter.
 */
export async function listStoredKeyIds(store: Store): Promise<readonly string[]> {
  const keyIds: string[] = [];
  for (;;) {
    const next = await store.db
      .selectFrom('memory_entries')
      .select('key_id')
      .where('key_id', '>', keyIds.at(-1) ?? '')
      .orderBy('key_id')
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return keyIds;
    keyIds.push(next.key_id);
  }
}

/** Returns whether any unexpired entry is encrypted with a key. */
export async function isKeyInUse(store: Store, keyId: string, nowMs: number): Promise<boolean> {
  const found = await store.db
    .selectFrom('memory_entries')
    .select('entry_id')
    .where('key_id', '=', keyId)
    .where('expires_at_ms', '>', nowMs)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Returns the next rows of a key, in the order of their ids. */
export function listRowsByKey(
  store: Store,
  keyId: string,
  afterId: string,
  limit: number,
): Promise<EntryRow[]> {
  return store.db
    .selectFrom('memory_entries')
    .selectAll()
    .where('key_id', '=', keyId)
    .where('entry_id', '>', afterId)
    .orderBy('entry_id')
    .limit(limit)
    .execute();
}

/**
 * Replaces a row with the same entry encrypted under another key. A row that changed in the meantime is kept. Returns
 * whether the row was replaced.
 */
export async function reencryptRow(store: Store, row: EntryRow, reencrypted: EntryRow): Promise<boolean> {
  const { numUpdatedRows } = await store.db
    .updateTable('memory_entries')
    .set({ key_id: reencrypted.key_id, sealed: reencrypted.sealed })
    .where('entry_id', '=', row.entry_id)
    .where('key_id', '=', row.key_id)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

/** Returns a value of the global memory state; `null` if none is stored. */
export async function readMemoryState(db: Store['db'], name: 'key_id' | 'latest_ms'): Promise<string | null> {
  const row = await db.selectFrom('memory_state').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value ?? null;
}

/** Stores a value of the global memory state. */
export async function writeMemoryState(
  db: Store['db'],
  name: 'key_id' | 'latest_ms',
  value: string,
): Promise<void> {
  await db
    .insertInto('memory_state')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}
