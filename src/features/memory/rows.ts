import type { Store } from '../../platform/store/index.ts';
import { computeOwnerSlot, computeSlots, type EntryRow, type EntrySlot, type MemoryOwner } from './entry.ts';
import { AGENT_LOCKS } from './tables.ts';

/** How much there may be. An entry that is replaced does not count. */
export interface MemoryQuota {
  /** Of the session, user or agent, in the entry's document. */
  readonly max_entries: number;
  /** The fields of the document for which room is kept. */
  readonly required: readonly string[];
  readonly agent_entries_max: number;
  readonly agent_bytes_max: number;
}

/** Why an entry was not stored: a limit, or the master key is not the one in force any more. */
export type StoreRejection = 'max_entries' | 'agent_entries_max' | 'agent_bytes_max' | 'key_replaced';

/** Stores an entry in place of the one before; `null`, or why not. Resolves when it is durable. */
export function storeRow(store: Store, row: EntryRow, room: MemoryQuota): Promise<StoreRejection | null> {
  return store.transaction(async (trx) => {
    // One after the other where they count for the same agent; what is counted is what was committed.
    const turn = Buffer.from(row.agent_slot, 'base64url').readUInt32BE() % AGENT_LOCKS;
    await trx
      .updateTable('memory_turns')
      .set((eb) => ({ taken: eb('taken', '+', 1) }))
      .where('turn', '=', turn)
      .execute();
    const in_force = await readMemoryState(trx, 'key_id');
    if (in_force !== row.key_id) return 'key_replaced';
    const full = await findExceededLimit(trx, row, room);
    if (full !== null) return full;
    await trx.deleteFrom('memory_entries').where('slot', '=', row.slot).execute();
    await trx.insertInto('memory_entries').values(row).execute();
    return null;
  });
}

async function findExceededLimit(
  trx: Store['db'],
  row: EntryRow,
  room: MemoryQuota,
): Promise<StoreRejection | null> {
  const now_ms = row.created_at_ms;
  const live = trx.selectFrom('memory_entries').where('expires_at_ms', '>', now_ms);
  const before = await live.select('value_bytes').where('slot', '=', row.slot).executeTakeFirst();
  const agent = await live
    .select((eb) => [eb.fn.countAll().as('entries'), eb.fn.sum('value_bytes').as('bytes')])
    .where('agent_slot', '=', row.agent_slot)
    .executeTakeFirstOrThrow();
  const bytes = Number(agent.bytes ?? 0) - (before?.value_bytes ?? 0) + row.value_bytes;
  if (bytes > room.agent_bytes_max) return 'agent_bytes_max';
  if (before !== undefined) return null;
  if (Number(agent.entries) >= room.agent_entries_max) return 'agent_entries_max';
  const fields = await live.select('field').where('owner_slot', '=', row.owner_slot).execute();
  const there = new Set([row.field, ...fields.map(({ field }) => field)]);
  const kept_free = room.required.filter((field) => !there.has(field)).length;
  return there.size + kept_free > room.max_entries ? 'max_entries' : null;
}

/** The row of a handle, whoever's it is; `undefined` where there is none. */
export function findRowByHandle(store: Store, entry_id: string): Promise<EntryRow | undefined> {
  return store.db
    .selectFrom('memory_entries')
    .selectAll()
    .where('entry_id', '=', entry_id)
    .executeTakeFirst();
}

/** The row of a place; `undefined` where there is none. */
export function findRowBySlot(store: Store, place: EntrySlot): Promise<EntryRow | undefined> {
  const { slot } = computeSlots(place);
  return store.db.selectFrom('memory_entries').selectAll().where('slot', '=', slot).executeTakeFirst();
}

/** What one session, user or agent has by one document and is not expired, by field. */
export function listOwnerRows(
  store: Store,
  owner: MemoryOwner,
  schema_name: string,
  now_ms: number,
  limit: number,
): Promise<EntryRow[]> {
  return store.db
    .selectFrom('memory_entries')
    .selectAll()
    .where('owner_slot', '=', computeOwnerSlot(owner, schema_name))
    .where('expires_at_ms', '>', now_ms)
    .orderBy('field')
    .limit(limit)
    .execute();
}

/** How many entries one statement deletes at most, so that others get their turn. */
export const PURGE_BATCH_ROWS = 500;

/** Deletes some of what has expired, and gives how many. */
export async function purgeBatch(store: Store, now_ms: number): Promise<number> {
  const { numDeletedRows } = await store.db
    .deleteFrom('memory_entries')
    .where('entry_id', 'in', (eb) =>
      eb
        .selectFrom('memory_entries')
        .select('entry_id')
        .where('expires_at_ms', '<=', now_ms)
        .limit(PURGE_BATCH_ROWS),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** The ids of all keys under which something is stored; a few steps however many entries there are. */
export async function listStoredKeyIds(store: Store): Promise<readonly string[]> {
  const key_ids: string[] = [];
  for (;;) {
    const next = await store.db
      .selectFrom('memory_entries')
      .select('key_id')
      .where('key_id', '>', key_ids.at(-1) ?? '')
      .orderBy('key_id')
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return key_ids;
    key_ids.push(next.key_id);
  }
}

/** Whether anything that is not expired is stored under a key. */
export async function isKeyInUse(store: Store, key_id: string, now_ms: number): Promise<boolean> {
  const found = await store.db
    .selectFrom('memory_entries')
    .select('entry_id')
    .where('key_id', '=', key_id)
    .where('expires_at_ms', '>', now_ms)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** The next rows under a key, in the order of their ids. */
export function listRowsByKey(
  store: Store,
  key_id: string,
  after_id: string,
  limit: number,
): Promise<EntryRow[]> {
  return store.db
    .selectFrom('memory_entries')
    .selectAll()
    .where('key_id', '=', key_id)
    .where('entry_id', '>', after_id)
    .orderBy('entry_id')
    .limit(limit)
    .execute();
}

/** Puts the same entry, encrypted under another key, in place of a row; a row that was replaced meanwhile stays. */
export async function reencryptRow(store: Store, row: EntryRow, anew: EntryRow): Promise<boolean> {
  const { numUpdatedRows } = await store.db
    .updateTable('memory_entries')
    .set({ key_id: anew.key_id, sealed: anew.sealed })
    .where('entry_id', '=', row.entry_id)
    .where('key_id', '=', row.key_id)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

/** What the service keeps of memory as a whole; `null` where nothing was kept yet. */
export async function readMemoryState(db: Store['db'], name: 'key_id' | 'latest_ms'): Promise<string | null> {
  const row = await db.selectFrom('memory_state').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value ?? null;
}

/** Keeps it, in place of what was there. */
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
