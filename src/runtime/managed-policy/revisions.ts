import type { Kysely, Transaction } from 'kysely';
import type { StoreTables } from '../../platform/store/index.ts';

/** A subject that operators change over the API: the policy, the API keys, or the list of blocked agents. */
export type ManagedSubject = 'policy' | 'api_keys' | 'agent_blocks';

/** The number of changes of each subject. */
export type Revisions = Readonly<Record<ManagedSubject, number>>;

/** Counts a change, in the transaction that makes it. */
export async function countRevision(trx: Transaction<StoreTables>, subject: ManagedSubject): Promise<void> {
  await trx
    .insertInto('managed_revisions')
    .values({ subject, revision: 1 })
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet(({ ref, eb }) => ({
        revision: eb(ref('managed_revisions.revision'), '+', 1),
      })),
    )
    .execute();
}

/** Returns how many changes there were; 0 for a subject that was never changed. */
export async function readRevisions(db: Kysely<StoreTables>): Promise<Revisions> {
  const rows = await db.selectFrom('managed_revisions').selectAll().execute();
  const countOf = (subject: ManagedSubject): number =>
    Number(rows.find((row) => row.subject === subject)?.revision ?? 0);
  return {
    policy: countOf('policy'),
    api_keys: countOf('api_keys'),
    agent_blocks: countOf('agent_blocks'),
  };
}

/** Returns the one revision of all subjects, which every change raises. */
export function sumRevisions({ policy, api_keys, agent_blocks }: Revisions): number {
  return policy + api_keys + agent_blocks;
}
