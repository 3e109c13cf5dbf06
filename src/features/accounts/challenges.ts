import { randomBytes } from 'node:crypto';
import { hashToken } from '../../runtime/access/tokens.ts';
import type { AccountParts } from './types.ts';

/** The step that a one-time value continues: a sign-in at another step, or the registration of a passkey. */
export type ChallengeKind = 'second_factor' | 'passkey_registration' | 'passkey_sign_in' | 'oidc';

export interface Challenge {
  readonly user_id: string | null;
  /** JSON of the kind's own. */
  readonly data: string;
}

const TTL_MS = 5 * 60_000;
/** The number of wrong codes after which a ticket is void. */
const ATTEMPTS_MAX = 5;

type Parts = Pick<AccountParts, 'store' | 'ports'>;

/** Creates a one-time value that is valid for five minutes, and stores its hash. */
export async function createChallenge(
  { store, ports }: Parts,
  kind: ChallengeKind,
  { user_id, data }: Challenge,
  value: string = randomBytes(32).toString('base64url'),
): Promise<string> {
  const { db } = await store();
  const expiresMs = ports().now_ms() + TTL_MS;
  const row = { challenge_sha256: hashToken(value), kind, user_id, data, attempts: 0, expires_ms: expiresMs };
  await db.insertInto('sign_in_challenges').values(row).execute();
  return value;
}

/** Uses a value up. Returns `null` if it is unknown, expired or used already. */
export async function takeChallenge(
  { store, ports }: Parts,
  kind: ChallengeKind,
  value: string,
): Promise<Challenge | null> {
  const { db } = await store();
  const row = await db
    .deleteFrom('sign_in_challenges')
    .where('challenge_sha256', '=', hashToken(value))
    .where('kind', '=', kind)
    .returning(['user_id', 'data', 'expires_ms'])
    .executeTakeFirst();
  return row !== undefined && ports().now_ms() < row.expires_ms ? row : null;
}

/**
 * Reads a value without using it up, and counts an attempt on it. Returns `null` if it is unknown or expired, or after
 * too many attempts.
 */
export async function tryChallenge(
  { store, ports }: Parts,
  kind: ChallengeKind,
  value: string,
): Promise<Challenge | null> {
  const { db } = await store();
  const row = await db
    .updateTable('sign_in_challenges')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('challenge_sha256', '=', hashToken(value))
    .where('kind', '=', kind)
    .where('attempts', '<', ATTEMPTS_MAX)
    .returning(['user_id', 'data', 'expires_ms'])
    .executeTakeFirst();
  return row !== undefined && ports().now_ms() < row.expires_ms ? row : null;
}
