import type { Store } from '../../../platform/store/index.ts';

/** Texts from an untrusted origin count for this time in all conversations of a credential. */
const UNTRUSTED_TEXT_MS = 86_400_000;

/** The most texts that are kept from one request, the newest first. */
const TEXTS_MAX = 1_000;

/** The credential and person whose conversations are compared. */
export interface ConversationOwner {
  readonly tenant_id: string;
  readonly principal_hash: string;
}

/** Keeps that texts came from tools. Durable when it resolves. @throws StoreFailure */
export async function saveUntrustedTexts(
  { db }: Store,
  owner: ConversationOwner,
  hashes: readonly string[],
  nowMs: number,
): Promise<void> {
  const unique = [...new Set(hashes.slice(-TEXTS_MAX))];
  if (unique.length === 0) return;
  await db
    .insertInto('conversation_texts')
    .values(unique.map((textHash) => ({ ...owner, text_hash: textHash, first_hash: '', seen_ms: nowMs })))
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'principal_hash', 'text_hash']).doUpdateSet({ seen_ms: nowMs }),
    )
    .execute();
}

/** Returns which texts came from tools within a day. @throws StoreFailure */
export async function findUntrustedTexts(
  { db }: Store,
  { tenant_id, principal_hash }: ConversationOwner,
  hashes: readonly string[],
  nowMs: number,
): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set();
  const rows = await db
    .selectFrom('conversation_texts')
    .select('text_hash')
    .where('tenant_id', '=', tenant_id)
    .where('principal_hash', '=', principal_hash)
    .where('text_hash', 'in', [...hashes])
    .where('seen_ms', '>=', nowMs - UNTRUSTED_TEXT_MS)
    .execute();
  return new Set(rows.map(({ text_hash }) => text_hash));
}

/**
 * Returns whether a conversation begins as the first one of its session did, which is kept if it is the first. A client
 * that shortens a conversation puts a summary in its place, whose words are not the person's.
 * @throws StoreFailure
 */
export async function matchesFirstText(
  { db }: Store,
  owner: ConversationOwner,
  { session_hash, first_hash }: { readonly session_hash: string; readonly first_hash: string },
  nowMs: number,
): Promise<boolean> {
  await db
    .insertInto('conversation_texts')
    .values({ ...owner, text_hash: session_hash, first_hash, seen_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await db
    .selectFrom('conversation_texts')
    .select('first_hash')
    .where(({ and }) => and({ ...owner, text_hash: session_hash }))
    .executeTakeFirst();
  return row?.first_hash === first_hash;
}

/** Deletes texts that no longer count. */
export async function deleteOldTexts(
  { db }: Store,
  { age_ms }: { readonly age_ms: number },
  nowMs: number,
): Promise<void> {
  await db
    .deleteFrom('conversation_texts')
    .where((row) =>
      row.or([
        row.and([row('first_hash', '=', ''), row('seen_ms', '<', nowMs - UNTRUSTED_TEXT_MS)]),
        row('seen_ms', '<', nowMs - age_ms),
      ]),
    )
    .execute();
}
