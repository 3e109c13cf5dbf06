/**
 * Slows down guesses of passwords and codes. Attempts over a limit are verified one by one, at an interval: a stranger who
 * guesses delays people, and never shuts them out. A device on which the user has signed in before has a counter of its
 * own, so that guesses from elsewhere do not delay it.
 */
import { type Kysely, sql } from 'kysely';
import { isLoopback } from '../../platform/net/loopback.ts';
import type { StoreTables } from '../../platform/store/index.ts';
import { hashToken } from '../../runtime/access/tokens.ts';
import { isKnownDevice } from './known-devices.ts';
import type { AccountParts, AccountSettings, SignInOrigin } from './types.ts';

type Db = Kysely<StoreTables>;

/** An attempt to sign in that was counted before its proof is verified. */
export interface CountedAttempt {
  /** `null`: it may be verified now. Otherwise the seconds until another attempt may be. */
  readonly retry_seconds: number | null;
  /** `true` for the first attempt over a limit. */
  readonly is_first_over: boolean;
  /** Forgets the attempts on the account after a correct proof, and takes this one off the address. */
  readonly forgive: () => Promise<void>;
}

/** The longest time in milliseconds for which a request waits for its turn. An attempt with a later turn is refused. */
const WAIT_MS_MAX = 20_000;

/**
 * Intervals between attempts over a limit, as multiples of `attempt_delay`. A code has six digits only. The start of a
 * sign-in with a passkey or at the OpenID provider guesses nothing; its interval bounds the rows that it stores.
 */
const INTERVALS = { account: 1, totp: 6, address: 0.1, start: 0.01 } as const;

interface Counter {
  readonly subject: string;
  /** The attempts that are verified without a delay. */
  readonly max: number;
  readonly interval_ms: number;
}

/**
 * Counts a guess of a password (`account`) or of a code (`totp`), and waits for its turn. It counts before the proof is
 * verified, so that parallel guesses cannot pass the limit together. Codes have a counter of their own, because a known
 * password must not reset it, and none for the address, because they follow a password or a session.
 */
export async function countGuess(
  parts: AccountParts,
  kind: 'account' | 'totp',
  userId: string,
  origin: SignInOrigin,
): Promise<CountedAttempt> {
  const { db } = await parts.store();
  const account = buildAccountCounter(parts.settings, kind, userId);
  if (origin.device_token !== null && (await isKnownDevice(parts, userId, origin.device_token))) {
    const subject = `${account.subject}:${hashToken(origin.device_token)}`;
    const attempts = await increment(parts, { ...account, subject });
    const forgive = () => deleteCounters(db, [subject]);
    if (attempts <= account.max) return { retry_seconds: null, is_first_over: false, forgive };
  }
  const address = kind === 'totp' ? null : buildAddressCounter(parts.settings, 'address', origin.address);
  const taken = await takeTurns(parts, address === null ? [account] : [account, address]);
  const forgive = async (): Promise<void> => {
    await deleteCounters(db, [account.subject]);
    if (address !== null) await decrement(db, address.subject);
  };
  return { ...taken, forgive };
}

/** Counts the start of a sign-in with a passkey or at the OpenID provider. Returns whether it may continue, after its turn. */
export async function countStart(parts: AccountParts, { address }: SignInOrigin): Promise<boolean> {
  const counter = buildAddressCounter(parts.settings, 'start', address);
  return counter === null || (await takeTurns(parts, [counter])).retry_seconds === null;
}

/** Ends the delays of a user on all devices, and those of all addresses. */
export async function deleteDelays(db: Db, userId: string): Promise<void> {
  const subjects = (['account', 'totp'] as const).map((kind) => nameAccountSubject(kind, userId));
  await db
    .deleteFrom('sign_in_counters')
    .where((eb) =>
      eb.or([
        ...subjects.flatMap((subject) => [
          eb('subject', '=', subject),
          eb('subject', 'like', `${subject}:%`),
        ]),
        eb('subject', 'like', 'address:%'),
        eb('subject', 'like', 'start:%'),
      ]),
    )
    .execute();
}

function buildAccountCounter(settings: AccountSettings, kind: 'account' | 'totp', userId: string): Counter {
  return {
    subject: nameAccountSubject(kind, userId),
    max: settings.attempts_per_account_max,
    interval_ms: settings.attempt_delay_ms * INTERVALS[kind],
  };
}

/** Names an account by its hash: people type passwords into the field of the name. */
function nameAccountSubject(kind: 'account' | 'totp', userId: string): string {
  return `${kind}:${hashToken(userId)}`;
}

/** Returns `null` on loopback, where all users of the machine share one address. */
function buildAddressCounter(
  settings: AccountSettings,
  kind: 'address' | 'start',
  address: string | null,
): Counter | null {
  if (address !== null && isLoopback(address)) return null;
  return {
    subject: `${kind}:${address ?? 'unknown'}`,
    max: settings.attempts_per_address_max,
    interval_ms: settings.attempt_delay_ms * INTERVALS[kind],
  };
}

/** Counts an attempt, and waits until its turn has come at all counters. */
async function takeTurns(
  parts: AccountParts,
  counters: readonly Counter[],
): Promise<Pick<CountedAttempt, 'retry_seconds' | 'is_first_over'>> {
  const turns = [];
  for (const counter of counters) turns.push(await takeTurn(parts, counter));
  const isFirstOver = turns.some((turn) => turn.is_first_over);
  const waitMs = Math.max(...turns.map((turn) => turn.wait_ms));
  if (waitMs > WAIT_MS_MAX) return { retry_seconds: Math.ceil(waitMs / 1_000), is_first_over: isFirstOver };
  if (waitMs > 0) await parts.wait(waitMs);
  return { retry_seconds: null, is_first_over: isFirstOver };
}

/** Counts an attempt. Returns the time until its turn in milliseconds; one later than `WAIT_MS_MAX` is not reserved. */
async function takeTurn(
  parts: AccountParts,
  counter: Counter,
): Promise<{ wait_ms: number; is_first_over: boolean }> {
  const { subject, max, interval_ms } = counter;
  const attempts = await increment(parts, counter);
  const isFirstOver = attempts === max + 1;
  if (attempts <= max) return { wait_ms: 0, is_first_over: isFirstOver };
  const { db } = await parts.store();
  const nowMs = parts.ports().now_ms();
  const reserved = await db
    .updateTable('sign_in_counters')
    .set({
      next_ms: sql<number>`(case when next_ms > ${nowMs} then next_ms else ${nowMs} end) + ${interval_ms}`,
    })
    .where('subject', '=', subject)
    .where('next_ms', '<=', nowMs + WAIT_MS_MAX)
    .returning('next_ms')
    .executeTakeFirst();
  if (reserved !== undefined)
    return { wait_ms: reserved.next_ms - interval_ms - nowMs, is_first_over: isFirstOver };
  const full = await db
    .selectFrom('sign_in_counters')
    .select('next_ms')
    .where('subject', '=', subject)
    .executeTakeFirst();
  const waitMs = Math.max(WAIT_MS_MAX + 1, Number(full?.next_ms ?? nowMs) - nowMs);
  return { wait_ms: waitMs, is_first_over: isFirstOver };
}

/** Adds one to a counter, and returns the sum. The counter starts again after `attempts_window` without an attempt. */
async function increment(
  { store, ports, settings }: AccountParts,
  { subject, max, interval_ms }: Counter,
): Promise<number> {
  const { db } = await store();
  const lastMs = ports().now_ms();
  const nextMs = lastMs + interval_ms;
  const isOld = sql<boolean>`sign_in_counters.last_ms <= ${lastMs - settings.attempts_window_ms}`;
  const row = await db
    .insertInto('sign_in_counters')
    .values({ subject, attempts: 1, last_ms: lastMs, next_ms: nextMs })
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet({
        attempts: sql<number>`case when ${isOld} then 1 else sign_in_counters.attempts + 1 end`,
        last_ms: lastMs,
        next_ms: sql<number>`case when ${isOld} or sign_in_counters.attempts < ${max} then ${nextMs} else sign_in_counters.next_ms end`,
      }),
    )
    .returning('attempts')
    .executeTakeFirstOrThrow();
  return row.attempts;
}

async function decrement(db: Db, subject: string): Promise<void> {
  await db
    .updateTable('sign_in_counters')
    .set({ attempts: sql<number>`attempts - 1` })
    .where('subject', '=', subject)
    .where('attempts', '>', 0)
    .execute();
}

async function deleteCounters(db: Db, subjects: readonly string[]): Promise<void> {
  await db.deleteFrom('sign_in_counters').where('subject', 'in', subjects).execute();
}
