import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { StoreTables } from '../../platform/store/index.ts';
import type { AccountParts } from './types.ts';

/** An attempt to sign in that was counted before its proof is verified. */
export interface CountedAttempt {
  /** `null`: within the limits. Otherwise the seconds until the next attempt is verified. */
  readonly retry_seconds: number | null;
  /** `true` for the first attempt over a limit. */
  readonly is_first_over: boolean;
  /** Forgets the attempts on the account after a correct proof, and takes this one off the address. */
  readonly forgive: () => Promise<void>;
}

/**
 * Counts an attempt for its account and its address. It counts before the proof is verified, so that parallel guesses
 * cannot pass the limit together. Codes of an app have a counter of their own, because a known password must not reset
 * it. `null`: only the address is counted.
 */
export async function countAttempt(
  { store, ports, settings }: AccountParts,
  account: `account:${string}` | `totp:${string}` | null,
  address: string | null,
): Promise<CountedAttempt> {
  const { db } = await store();
  const now_ms = ports().now_ms();
  const place = `address:${address ?? 'unknown'}`;
  const limits = [
    ...(account === null ? [] : [{ subject: account, max: settings.attempts_per_account_max }]),
    { subject: place, max: settings.attempts_per_address_max },
  ];
  const counts = [];
  for (const { subject, max } of limits) {
    const row = await incrementAttempts(db, subject, now_ms, settings.attempts_window_ms);
    counts.push({ ...row, over: row.attempts - max });
  }
  const over = counts.filter((row) => row.over > 0);
  const until_ms = Math.max(...over.map(({ first_ms }) => first_ms + settings.attempts_window_ms));
  return {
    retry_seconds: over.length === 0 ? null : Math.max(1, Math.ceil((until_ms - now_ms) / 1_000)),
    is_first_over: over.some((row) => row.over === 1),
    forgive: async () => {
      if (account !== null) await db.deleteFrom('sign_in_attempts').where('subject', '=', account).execute();
      await db
        .updateTable('sign_in_attempts')
        .set({ attempts: sql<number>`attempts - 1` })
        .where('subject', '=', place)
        .where('attempts', '>', 0)
        .execute();
    },
  };
}

/** Adds one to a counter, which starts again after the window. */
async function incrementAttempts(
  db: Kysely<StoreTables>,
  subject: string,
  now_ms: number,
  window_ms: number,
): Promise<{ attempts: number; first_ms: number }> {
  const is_old = sql<boolean>`sign_in_attempts.first_ms <= ${now_ms - window_ms}`;
  const row = await db
    .insertInto('sign_in_attempts')
    .values({ subject, attempts: 1, first_ms: now_ms })
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet({
        attempts: sql<number>`case when ${is_old} then 1 else sign_in_attempts.attempts + 1 end`,
        first_ms: sql<number>`case when ${is_old} then ${now_ms} else sign_in_attempts.first_ms end`,
      }),
    )
    .returning(['attempts', 'first_ms'])
    .executeTakeFirstOrThrow();
  return { attempts: Number(row.attempts), first_ms: Number(row.first_ms) };
}
