import type { Kysely, Selectable } from 'kysely';
import type { Store, StoreTables } from '../../platform/store/index.ts';
import { writeLegalHolds } from '../../runtime/audit/legal-holds.ts';

type Db = Kysely<StoreTables>;
export type HoldRow = Selectable<StoreTables['legal_holds']>;

/** The most holds of a service. Retention compares every event of an expired file with each of them. */
export const HOLDS_MAX = 500;

/** Lists all holds by ID, which is the order in which they were added. */
export async function listHoldRows(db: Db): Promise<readonly HoldRow[]> {
  return db.selectFrom('legal_holds').selectAll().orderBy('hold_id').execute();
}

/** Adds a hold. */
export async function insertHold(trx: Db, row: HoldRow): Promise<void> {
  await trx.insertInto('legal_holds').values(row).execute();
}

/** Deletes a hold. Returns `false` if there is none with this ID. */
export async function deleteHold(trx: Db, holdId: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('legal_holds')
    .where('hold_id', '=', holdId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Copies the holds from the store into the state folder, where every writer of a journal reads them. */
export async function copyLegalHolds(
  stateDir: string,
  { db }: Pick<Store, 'db'>,
  nowMs: number,
): Promise<void> {
  const rows = await listHoldRows(db);
  const holds = rows.map(({ hold_id, tenant_id, agent_id, session_id, since_ms, until_ms }) => ({
    ...{ hold_id, tenant_id, agent_id, session_id, since_ms, until_ms },
  }));
  writeLegalHolds(stateDir, holds, nowMs);
}
