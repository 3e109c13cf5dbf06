import { sql } from 'kysely';
import type { Store } from '../../platform/store/index.ts';
import { OPEN_STATUSES } from './lifecycle.ts';

/** The requests whose calls are erased: one, or all that were made before a time. */
export type RequestErasure = { readonly request_id: string | null } | { readonly before_ms: number };

/** Replaces the masked arguments of a request; JSON. */
const ERASED = '"erased"';

function selectCovered({ db }: Pick<Store, 'db'>, erasure: RequestErasure) {
  const all = db.selectFrom('approval_requests').select('request_id');
  return 'before_ms' in erasure
    ? all.where('requested_ms', '<', erasure.before_ms)
    : all.where('request_id', '=', erasure.request_id ?? '');
}

/** Returns a covered request that can still be decided or used; `null` if there is none. */
export async function findOpenRequest(
  store: Store,
  erasure: RequestErasure,
  nowMs: number,
): Promise<string | null> {
  const open = selectCovered(store, erasure)
    .where('status', 'in', OPEN_STATUSES)
    .where('expires_ms', '>', nowMs);
  return (await open.limit(1).executeTakeFirst())?.request_id ?? null;
}

/** Erases the calls of requests from the store, and returns their number. SQLite's file is written again without them. */
export async function eraseRequestActions(store: Store, erasure: RequestErasure): Promise<number> {
  const { numUpdatedRows } = await store.db
    .updateTable('approval_requests')
    .set({ action_shown: null, action_marks: null, arguments_masked: ERASED, arguments_bytes: ERASED.length })
    .where('request_id', 'in', selectCovered(store, erasure))
    .where('arguments_masked', '!=', ERASED)
    .executeTakeFirst();
  if (store.kind === 'sqlite') {
    await sql`VACUUM`.execute(store.db);
    await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(store.db);
  }
  return Number(numUpdatedRows);
}
