import type { Transaction } from 'kysely';
import { covers } from '../../../core/tags.ts';
import type { Crossing, Tag, TaintChange } from '../../../core/types/index.ts';
import type { Store, StoreTables } from '../../../platform/store/index.ts';
import { findTagOwners, listReaderKeys, type SessionKey } from './keys.ts';
import type { SessionLimits } from './types.ts';

/** The number of tags of one session: more than all detectors have, plus the list of one read. */
export const SESSION_TAGS_MAX = 1_000;

/** The session has reached its tag limit and cannot add the tags of a crossing, so the crossing is blocked. */
export class SessionFull extends Error {
  constructor() {
    super(`The session has ${SESSION_TAGS_MAX} tags, and cannot take in another.`);
    this.name = 'SessionFull';
  }
}

/** The state of a session, as far as one crossing needs it. */
export interface SessionState {
  /** The tags of all agents that count, each once, sorted. */
  readonly tags: readonly Tag[];
  /** The stored tags by session. */
  readonly rows: readonly (SessionKey & { readonly tags: readonly Tag[] })[];
}

/** Reads the session state for a crossing. It writes only to keep a session in use from expiring. */
export async function readSession(
  store: Store,
  crossing: Crossing,
  limits: SessionLimits,
): Promise<SessionState> {
  const request = findTagOwners(crossing);
  let query = store.db
    .selectFrom('sessions')
    .selectAll()
    .where('tenant_id', '=', crossing.tenant_id)
    .where('session_id', '=', crossing.session_id ?? '');
  if (request !== 'everyone') query = query.where('agent_id', 'in', [...request]);
  const found = (await query.execute()).filter((row) => isAlive(row, crossing.now_ms, limits));
  for (const row of found)
    if (crossing.now_ms - row.seen_ms > limits.idle_ms / TOUCHES)
      await touchSession(store, row, crossing.now_ms);
  const rows = found.map((row) => ({ ...row, tags: parseTags(row.tags) }));
  return { tags: [...new Set(rows.flatMap(({ tags }) => tags))].sort(), rows };
}

/** The number of times that a session in use is updated per idle time. */
const TOUCHES = 10;

async function touchSession(store: Store, key: SessionKey, nowMs: number): Promise<void> {
  await store.db
    .updateTable('sessions')
    .set({ seen_ms: nowMs })
    .where('tenant_id', '=', key.tenant_id)
    .where('session_id', '=', key.session_id)
    .where('agent_id', '=', key.agent_id)
    .where('seen_ms', '<', nowMs)
    .execute();
}

/** A clock that was set back expires nothing. */
function isAlive(
  { started_ms, seen_ms }: { readonly started_ms: number; readonly seen_ms: number },
  nowMs: number,
  { idle_ms, age_ms }: SessionLimits,
): boolean {
  return nowMs - seen_ms <= idle_ms && nowMs - started_ms <= age_ms;
}

function parseTags(text: string): readonly Tag[] {
  return JSON.parse(text) as readonly Tag[];
}

/**
 * Makes a change durable before the response is sent. Writes nothing if nothing changes.
 *
 * @throws SessionFull
 */
export async function saveSession(
  store: Store,
  crossing: Crossing,
  { rows }: SessionState,
  change: TaintChange,
  limits: SessionLimits,
): Promise<void> {
  for (const key of listReaderKeys(crossing)) {
    const known = rows.find(({ agent_id }) => agent_id === key.agent_id);
    if (known !== undefined && isSame(known.tags, applyTaintChange(known.tags, change))) continue;
    await store.transaction((trx) => keepOne(trx, key, change, crossing.now_ms, limits));
  }
}

async function keepOne(
  trx: Transaction<StoreTables>,
  key: SessionKey,
  change: TaintChange,
  nowMs: number,
  limits: SessionLimits,
): Promise<void> {
  const found = await getRow(trx, key, nowMs);
  const row = isAlive(found, nowMs, limits) ? found : { ...found, tags: '[]', started_ms: nowMs };
  const tags = applyTaintChange(parseTags(row.tags), change);
  if (tags.length > SESSION_TAGS_MAX) throw new SessionFull();
  await trx
    .updateTable('sessions')
    .set({
      tags: JSON.stringify(tags),
      started_ms: row.started_ms,
      seen_ms: Math.max(nowMs, Math.min(row.seen_ms, nowMs + limits.idle_ms)),
    })
    .where('tenant_id', '=', key.tenant_id)
    .where('session_id', '=', key.session_id)
    .where('agent_id', '=', key.agent_id)
    .execute();
}

/** Returns the row, created if missing, and locked. */
async function getRow(trx: Transaction<StoreTables>, key: SessionKey, nowMs: number) {
  const { tenant_id, session_id, agent_id } = key;
  await trx
    .insertInto('sessions')
    .values({ tenant_id, session_id, agent_id, tags: '[]', started_ms: nowMs, seen_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return trx
    .selectFrom('sessions')
    .selectAll()
    .where('tenant_id', '=', tenant_id)
    .where('session_id', '=', session_id)
    .where('agent_id', '=', agent_id)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

function applyTaintChange(tags: readonly Tag[], { add, remove }: TaintChange): readonly Tag[] {
  const left =
    remove === 'all' ? [] : tags.filter((tag) => !remove.some((ancestor) => covers(ancestor, tag)));
  return [...new Set([...left, ...add])].sort();
}

function isSame(before: readonly Tag[], after: readonly Tag[]): boolean {
  return before.length === after.length && after.every((tag) => before.includes(tag));
}
