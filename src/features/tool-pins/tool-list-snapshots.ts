import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { canonicalizeJson } from '../../core/policy/compile/canonical-json.ts';
import type { Json } from '../../core/types/index.ts';
import type { StoreTables } from '../../platform/store/index.ts';

type Db = Kysely<StoreTables>;

/**
 * A tool list, its audience, and the policy and detectors that evaluate it. If any of them differs, the list is scanned
 * again.
 */
export interface ToolListSnapshot {
  readonly version: string;
  readonly policy_hash: string;
  readonly tenant_id: string;
  readonly server: string;
  readonly user_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly definitions: readonly Json[];
}

/** The time after which a list is scanned again, even if it did not change. */
const SNAPSHOT_KEPT_MS = 86_400_000;

/** Returns the event of the scan of exactly this list; `null` if it was not scanned, or too long ago. */
export async function findSnapshotEvent(
  db: Db,
  snapshot: ToolListSnapshot,
  nowMs: number,
): Promise<string | null> {
  const row = await db
    .selectFrom('mcp_tool_list_snapshots')
    .select('event_id')
    .where('snapshot_hash', '=', hashSnapshot(snapshot))
    .where('seen_ms', '>', nowMs - SNAPSHOT_KEPT_MS)
    .executeTakeFirst();
  return row?.event_id ?? null;
}

/** Stores that a list was scanned, and in which event. */
export async function storeSnapshot(
  db: Db,
  snapshot: ToolListSnapshot,
  eventId: string,
  nowMs: number,
): Promise<void> {
  const row = { event_id: eventId, seen_ms: nowMs };
  await db
    .insertInto('mcp_tool_list_snapshots')
    .values({ snapshot_hash: hashSnapshot(snapshot), ...row })
    .onConflict((conflict) => conflict.column('snapshot_hash').doUpdateSet(row))
    .execute();
}

const BATCH = 500;

/** Deletes one batch of expired snapshots; returns `true` if more may remain. */
export async function deleteOldSnapshots(db: Db, nowMs: number): Promise<boolean> {
  const old = await db
    .selectFrom('mcp_tool_list_snapshots')
    .select('snapshot_hash')
    .where('seen_ms', '<=', nowMs - SNAPSHOT_KEPT_MS)
    .limit(BATCH)
    .execute();
  const snapshotHashes = old.map(({ snapshot_hash: snapshot }) => snapshot);
  if (snapshotHashes.length > 0)
    await db.deleteFrom('mcp_tool_list_snapshots').where('snapshot_hash', 'in', snapshotHashes).execute();
  return snapshotHashes.length === BATCH;
}

function hashSnapshot(snapshot: ToolListSnapshot): string {
  return createHash('sha256')
    .update(canonicalizeJson({ ...snapshot }))
    .digest('hex');
}
