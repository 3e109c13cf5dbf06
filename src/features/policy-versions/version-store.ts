import { createHash } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { Row } from '../../platform/store/define-table.ts';
import type { StoreTables } from '../../platform/store/index.ts';
import type { ManagedDocument } from '../../runtime/managed-policy/managed-policy.ts';
import type { policyVersions } from './tables.ts';

type Db = Kysely<StoreTables>;

/** One version of the policy document. */
export type PolicyVersion = Readonly<Row<typeof policyVersions>>;

/** Returns a version, by default the current one; `null` if there is none. */
export async function findPolicyVersion(
  db: Db,
  version: number | null = null,
): Promise<PolicyVersion | null> {
  const query = db.selectFrom('policy_versions').selectAll().orderBy('version', 'desc').limit(1);
  const row = await (version === null ? query : query.where('version', '=', version)).executeTakeFirst();
  return row ?? null;
}

/** Lists versions, newest first. `before` is the number of the last version of the previous page. */
export async function listPolicyVersions(
  db: Db,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<readonly PolicyVersion[]> {
  const query = db.selectFrom('policy_versions').selectAll().orderBy('version', 'desc').limit(limit);
  return (before === null ? query : query.where('version', '<', before)).execute();
}

/** Adds a version. Returns `false` if another caller added one with this number first. */
export async function insertPolicyVersion(
  trx: Transaction<StoreTables>,
  version: PolicyVersion,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows: count = 0n } = await trx
    .insertInto('policy_versions')
    .values(version)
    .onConflict((conflict) => conflict.column('version').doNothing())
    .executeTakeFirst();
  return count > 0n;
}

/** Removes a version that could not be activated, if no later one follows it. */
export async function deletePolicyVersion(trx: Transaction<StoreTables>, version: number): Promise<void> {
  if ((await findPolicyVersion(trx))?.version !== version) return;
  await trx.deleteFrom('policy_versions').where('version', '=', version).execute();
}

/** Returns the document of the managed policy; `null` if none was saved. */
export async function readPolicyDocument(db: Db): Promise<ManagedDocument | null> {
  const current = await findPolicyVersion(db);
  return current === null ? null : { version: current.version, text: current.text };
}

/** Returns the hash that identifies the text of a document. */
export function hashDocumentText(text: string): string {
  return `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
}
