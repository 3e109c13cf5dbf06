import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Row } from '../../platform/store/define-table.ts';
import type { StoreTables } from '../../platform/store/index.ts';
import { hashToken } from '../../runtime/access/tokens.ts';
import type { userSessions } from './tables.ts';
import type { AccountParts, SignInMethod, SignInOrigin, SignInSession } from './types.ts';

type Db = Kysely<StoreTables>;

const AGENT_CHARS_MAX = 256;
/** A session that is in use is marked as seen at most this often, to save writes. */
const SEEN_EVERY_MS = 60_000;

/** A new session of a user. */
export interface NewSession {
  readonly user_id: string;
  readonly method: SignInMethod;
  readonly has_second_factor: boolean;
  readonly origin: SignInOrigin;
}

/** Begins a session, and ends the one that the browser had. Returns the value of the cookie, of which only the hash is stored. */
export async function insertSession(db: Db, nowMs: number, session: NewSession): Promise<string> {
  const { user_id, method, has_second_factor, origin } = session;
  const token = createSessionToken();
  if (origin.session_token !== null) await deleteSession(db, origin.session_token);
  await db
    .insertInto('user_sessions')
    .values({
      token_sha256: hashToken(token),
      session_id: `web_${randomBytes(12).toString('hex')}`,
      user_id,
      method,
      created_ms: nowMs,
      seen_ms: nowMs,
      second_factor_ms: has_second_factor ? nowMs : null,
      address: origin.address,
      user_agent: origin.user_agent?.slice(0, AGENT_CHARS_MAX) ?? null,
    })
    .execute();
  await db.updateTable('users').set({ last_sign_in_ms: nowMs }).where('user_id', '=', user_id).execute();
  return token;
}

/** Finds the session of a cookie; `null` if it is unknown, idle for too long, or too old. */
export async function findSession(
  { store, ports, settings }: AccountParts,
  token: string,
): Promise<SignInSession | null> {
  const { db } = await store();
  const tokenSha256 = hashToken(token);
  const row = await db
    .selectFrom('user_sessions')
    .selectAll()
    .where('token_sha256', '=', tokenSha256)
    .executeTakeFirst();
  if (row === undefined) return null;
  const nowMs = ports().now_ms();
  const session = toSession(row);
  if (!isOpen(session, nowMs, settings)) return null;
  if (nowMs - session.seen_ms >= Math.min(SEEN_EVERY_MS, settings.idle_ms / 4))
    await db
      .updateTable('user_sessions')
      .set({ seen_ms: nowMs })
      .where('token_sha256', '=', tokenSha256)
      .execute();
  return session;
}

/** Lists the open sessions of a user, the newest first. */
export async function listSessions(
  { store, ports, settings }: AccountParts,
  userId: string,
): Promise<readonly SignInSession[]> {
  const { db } = await store();
  const rows = await db
    .selectFrom('user_sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_ms', 'desc')
    .limit(1_000)
    .execute();
  const nowMs = ports().now_ms();
  return rows.map(toSession).filter((session) => isOpen(session, nowMs, settings));
}

/** Ends one session. Returns whether it was there. */
export async function deleteSession(db: Db, token: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('user_sessions')
    .where('token_sha256', '=', hashToken(token))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Ends sessions of a user: one, all, or all but one. Returns their number. */
export async function revokeSessions(
  db: Db,
  userId: string,
  which: { readonly session_id?: string; readonly except?: string } = {},
): Promise<number> {
  let query = db.deleteFrom('user_sessions').where('user_id', '=', userId);
  if (which.session_id !== undefined) query = query.where('session_id', '=', which.session_id);
  if (which.except !== undefined) query = query.where('session_id', '!=', which.except);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

/**
 * Gives a session another cookie value, after its rights have grown. Returns the value; `null` if the session has ended.
 */
export async function rotateSession(
  db: Db,
  sessionId: string,
  change: { readonly second_factor_ms?: number } = {},
): Promise<string | null> {
  const token = createSessionToken();
  const { numUpdatedRows } = await db
    .updateTable('user_sessions')
    .set({ token_sha256: hashToken(token), ...change })
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return numUpdatedRows > 0n ? token : null;
}

function createSessionToken(): string {
  return randomBytes(32).toString('base64url');
}

function isOpen(
  { created_ms, seen_ms }: SignInSession,
  nowMs: number,
  { idle_ms, absolute_ms }: AccountParts['settings'],
): boolean {
  return nowMs - seen_ms < idle_ms && nowMs - created_ms < absolute_ms;
}

function toSession({ token_sha256: _, ...session }: Row<typeof userSessions>): SignInSession {
  return session;
}
