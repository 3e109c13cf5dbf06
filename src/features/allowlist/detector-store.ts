import type { Kysely, Selectable } from 'kysely';
import type { AllowedDetector } from '../../core/types/index.ts';
import type { StoreTables } from '../../platform/store/index.ts';

type Db = Kysely<StoreTables>;
export type AllowedDetectorRow = Selectable<StoreTables['allowed_detectors']>;

/** Adds entries. Rejects if an ID is taken. */
export async function insertAllowedDetectors(trx: Db, rows: readonly AllowedDetectorRow[]): Promise<void> {
  await trx.insertInto('allowed_detectors').values(rows).execute();
}

/** Removes an entry. Returns `false` if it was already gone. */
export async function deleteAllowedDetector(trx: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('allowed_detectors')
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Lists all entries by id. A maintenance job removes expired ones, which have no effect before that. */
export async function listAllowedDetectorRows(db: Db): Promise<readonly AllowedDetectorRow[]> {
  return db.selectFrom('allowed_detectors').selectAll().orderBy('id').execute();
}

/** Returns the managed policy's allowlisted detectors. */
export async function readAllowedDetectors(db: Db): Promise<readonly AllowedDetector[]> {
  return (await listAllowedDetectorRows(db)).map(buildAllowedDetector);
}

/** Builds the managed policy's entry from a row. */
export function buildAllowedDetector({
  tool,
  agent_id,
  tenant_id,
  created_by,
  created_ms: _created_ms,
  ...row
}: AllowedDetectorRow): AllowedDetector {
  return {
    ...row,
    tool: tool === '' ? null : tool,
    agent_id: agent_id === '' ? null : agent_id,
    tenant_id: tenant_id === '' ? null : tenant_id,
    owner: created_by,
  };
}
