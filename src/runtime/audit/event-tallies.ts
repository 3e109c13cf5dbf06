import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { AddCounts } from './audit-index.ts';
import {
  APPROVAL_MARK,
  LONG_PERIOD_MS,
  PERIODS_MS,
  SHORT_PERIOD_MS,
  TALLY_FIELDS,
  type TallyField,
} from './count-types.ts';
import type { IndexRows, IndexTables } from './index-tables.ts';
import { isSelfTestEvent } from './self-test.ts';
import { isReportedEvent } from './service-event.ts';
import type { AuditEvent } from './types.ts';

/** Limits of one event, because callers name tags and tools freely. Values beyond them are not counted. */
const VALUES_MAX = 256;
const VALUE_CHARS_MAX = 256;

type CountRow = { -readonly [Key in keyof IndexRows['audit_counts']]: IndexRows['audit_counts'][Key] };
type SessionRow = IndexRows['audit_sessions'];
type PolicyRow = IndexRows['audit_policies'];
type Database = Kysely<IndexTables>;

/**
 * Adds events to the counts. The caller's transaction also inserts the events, so that both are always consistent. Events
 * of self-tests are not counted, and reported ones say nothing of the policy of the service.
 */
export async function addToCounts(
  db: Database,
  events: readonly AuditEvent[],
  add: AddCounts,
): Promise<void> {
  const counts = new Map<string, CountRow>();
  const sessions = new Map<string, SessionRow>();
  const policies = new Map<string, PolicyRow>();
  for (const event of events) {
    if (isSelfTestEvent(event)) continue;
    const ms = Date.parse(event.timestamp);
    for (const field of TALLY_FIELDS)
      for (const value of listCountedValues(field, event)) addEvent(counts, field, value, event, ms);
    if (event.session_id !== null) addToSession(sessions, event.session_id, event, ms);
    if (!isReportedEvent(event)) addToPolicy(policies, event.policy_hash, ms);
  }
  await add(db, 'audit_counts', sumPeriods([...counts.values()]));
  await add(db, 'audit_sessions', [...sessions.values()]);
  await add(db, 'audit_policies', [...policies.values()]);
}

/** Returns the values of a field under which an event is counted. Those of approval events have a mark. */
export function listCountedValues(field: TallyField, event: AuditEvent): readonly string[] {
  const values = listRawValues(field, event);
  if (values.length === 0) return values;
  const kept = [...new Set(values.slice(0, VALUES_MAX))].filter((value) => value.length <= VALUE_CHARS_MAX);
  return isApprovalEvent(event) ? kept.map((value) => APPROVAL_MARK + value) : kept;
}

/** Returns whether an event is about an approval request, not a decision of its own. */
function isApprovalEvent({ metadata }: AuditEvent): boolean {
  return typeof metadata.phase === 'string' && metadata.phase.startsWith('approval_');
}

function listRawValues(field: TallyField, event: AuditEvent): readonly string[] {
  const { metadata } = event;
  switch (field) {
    case 'boundary':
      return [event.boundary];
    case 'rule':
      return [event.policy_name];
    case 'tool':
      return event.tool_name === null ? [] : [event.tool_name];
    case 'tag':
      return event.data_tags;
    case 'tag_family':
      return [...listTagFamilies(event.data_tags)];
    case 'detector':
      return readNames(metadata.rule_ids).map((id) => `${event.boundary}/${id}`);
    case 'monitored':
      return readNames(metadata.monitored);
    case 'allowlisted':
      return [...readNames(metadata.allowlisted_fingerprints), ...readNames(metadata.allowlist_entries)];
    case 'model':
      return typeof metadata.model === 'string' ? [metadata.model] : [];
    case 'hook':
      return typeof metadata.hook === 'string' && typeof metadata.hook_event === 'string'
        ? [`${metadata.hook}/${metadata.hook_event}`]
        : [];
  }
}

function readNames(list: AuditEvent['metadata'][string] | undefined): readonly string[] {
  return Array.isArray(list) ? list : [];
}

/** Adds one event to the count of its short period. A NUL separates the names, because no name contains one. */
function addEvent(
  counts: Map<string, CountRow>,
  field: TallyField,
  value: string,
  { tenant_id, agent_id, decision, action }: AuditEvent,
  ms: number,
): void {
  const bucketMs = Math.floor(ms / SHORT_PERIOD_MS) * SHORT_PERIOD_MS;
  const key = `${bucketMs}\0${field}\0${value}\0${tenant_id}\0${agent_id}\0${decision}\0${action}`;
  const row = counts.get(key);
  if (row !== undefined) {
    row.event_count += 1;
    row.first_ms = Math.min(row.first_ms, ms);
    row.last_ms = Math.max(row.last_ms, ms);
    return;
  }
  const widthMs = SHORT_PERIOD_MS;
  const about = {
    width_ms: widthMs,
    field,
    bucket_ms: bucketMs,
    tenant_id,
    agent_id,
    value,
    decision,
    action,
  };
  counts.set(key, { ...about, event_count: 1, first_ms: ms, last_ms: ms });
}

/** Sums the counts of short periods up for each longer one. */
function sumPeriods(rows: readonly CountRow[]): CountRow[] {
  const sums = new Map<string, CountRow>();
  for (const widthMs of PERIODS_MS)
    for (const row of rows) {
      const bucketMs = Math.floor(row.bucket_ms / widthMs) * widthMs;
      const { field, value, tenant_id, agent_id, decision, action } = row;
      const key = `${widthMs}\0${bucketMs}\0${field}\0${value}\0${tenant_id}\0${agent_id}\0${decision}\0${action}`;
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { ...row, width_ms: widthMs, bucket_ms: bucketMs });
      else {
        sum.event_count += row.event_count;
        sum.first_ms = Math.min(sum.first_ms, row.first_ms);
        sum.last_ms = Math.max(sum.last_ms, row.last_ms);
      }
    }
  return [...sums.values()];
}

function widenRow(row: { event_count: number; first_ms: number; last_ms: number }, ms: number) {
  return {
    event_count: row.event_count + 1,
    first_ms: Math.min(row.first_ms, ms),
    last_ms: Math.max(row.last_ms, ms),
  };
}

function addToSession(
  sessions: Map<string, SessionRow>,
  sessionId: string,
  event: AuditEvent,
  ms: number,
): void {
  const { tenant_id, agent_id, decision } = event;
  const key = JSON.stringify([tenant_id, sessionId, agent_id]);
  const blocked = decision === 'block' && !isApprovalEvent(event) ? 1 : 0;
  const row = sessions.get(key);
  if (row === undefined)
    sessions.set(key, {
      tenant_id,
      session_id: sessionId,
      agent_id,
      event_count: 1,
      block_count: blocked,
      first_ms: ms,
      last_ms: ms,
    });
  else Object.assign(row, widenRow(row, ms), { block_count: row.block_count + blocked });
}

function addToPolicy(policies: Map<string, PolicyRow>, policyHash: string, ms: number): void {
  const bucketMs = Math.floor(ms / SHORT_PERIOD_MS) * SHORT_PERIOD_MS;
  const key = `${bucketMs} ${policyHash}`;
  const row = policies.get(key);
  if (row === undefined)
    policies.set(key, {
      bucket_ms: bucketMs,
      policy_hash: policyHash,
      event_count: 1,
      first_ms: ms,
      last_ms: ms,
    });
  else Object.assign(row, widenRow(row, ms));
}

const RECOUNT_ROWS = 2_000;

/**
 * Counts the indexed events again, from the long period that contains `sinceMs` on, or all of them for `null`. Needed
 * after events were deleted from the index because their file changed. With `node`, only the events and counts of that
 * state folder, because others may be counting theirs.
 */
export async function recountEvents(
  db: Database,
  sinceMs: number | null,
  add: AddCounts,
  node: string | null = null,
): Promise<void> {
  const fromMs = sinceMs === null ? 0 : Math.floor(sinceMs / LONG_PERIOD_MS) * LONG_PERIOD_MS;
  await deleteCounts(db, fromMs, node);
  let after = { timestamp_ms: fromMs - 1, event_id: '' };
  for (;;) {
    const rows = await db
      .selectFrom('audit_events')
      .select(['timestamp_ms', 'event_id', 'event'])
      .$if(node !== null, (own) => own.where('node', '=', node!))
      .where('timestamp_ms', '>=', after.timestamp_ms)
      .where((eb) =>
        eb(eb.refTuple('timestamp_ms', 'event_id'), '>', eb.tuple(after.timestamp_ms, after.event_id)),
      )
      .orderBy('timestamp_ms')
      .orderBy('event_id')
      .limit(RECOUNT_ROWS)
      .execute();
    await addToCounts(
      db,
      rows.map(({ event }) => JSON.parse(event) as AuditEvent),
      add,
    );
    const last = rows.at(-1);
    if (last === undefined || rows.length < RECOUNT_ROWS) return;
    after = last;
    await nextTurn();
  }
}

/**
 * Deletes the counts from a time on. Sessions that continue after it keep the part before it.
 */
async function deleteCounts(db: Database, fromMs: number, node: string | null): Promise<void> {
  for (const widthMs of PERIODS_MS)
    await db
      .deleteFrom('audit_counts')
      .$if(node !== null, (own) => own.where('node', '=', node!))
      .where('width_ms', '=', widthMs)
      .where('bucket_ms', '>=', fromMs)
      .execute();
  await db
    .deleteFrom('audit_policies')
    .$if(node !== null, (own) => own.where('node', '=', node!))
    .where('bucket_ms', '>=', fromMs)
    .execute();
  const isOwn = node === null ? sql`true` : sql`node = ${node}`;
  // A session that began before keeps that part.
  await sql`
    update audit_sessions set
      event_count = before.event_count, block_count = before.block_count, first_ms = before.first_ms, last_ms = before.last_ms
    from (
      select tenant_id, session_id, agent_id, count(*) as event_count,
        count(*) filter (where decision = 'block' and coalesce(phase, '') not like 'approval\\_%' escape '\\') as block_count,
        min(timestamp_ms) as first_ms, max(timestamp_ms) as last_ms
      from audit_events
      where ${isOwn} and timestamp_ms < ${fromMs} and (tenant_id, session_id, agent_id) in (
        select tenant_id, session_id, agent_id from audit_sessions where ${isOwn} and last_ms >= ${fromMs})
      group by tenant_id, session_id, agent_id
    ) as before
    where ${isOwn} and audit_sessions.tenant_id = before.tenant_id and audit_sessions.session_id = before.session_id
      and audit_sessions.agent_id = before.agent_id`.execute(db);
  await db
    .deleteFrom('audit_sessions')
    .$if(node !== null, (own) => own.where('node', '=', node!))
    .where('last_ms', '>=', fromMs)
    .execute();
}

/** Deletes the counts of periods, and the sessions, that ended before a time. */
export async function pruneCounts(db: Database, beforeMs: number): Promise<void> {
  for (const widthMs of PERIODS_MS)
    await db
      .deleteFrom('audit_counts')
      .where('width_ms', '=', widthMs)
      .where('bucket_ms', '<=', beforeMs - widthMs)
      .execute();
  await db.deleteFrom('audit_sessions').where('last_ms', '<', beforeMs).execute();
  await db
    .deleteFrom('audit_policies')
    .where('bucket_ms', '<=', beforeMs - SHORT_PERIOD_MS)
    .execute();
}

/** Limits for the tag index, because callers declare tags freely. The event keeps tags beyond them. */
const TAGS_MAX = 256;
const TAG_CHARS_MAX = 128;

/** Returns each tag and its ancestors, once: `personal.pii` also as `personal`. */
export function listTagFamilies(tags: readonly string[]): Set<string> {
  const all = new Set<string>();
  for (const tag of tags.slice(0, TAGS_MAX)) {
    if (tag.length > TAG_CHARS_MAX) continue;
    for (let end = tag.length; end > 0; end = tag.lastIndexOf('.', end - 1)) all.add(tag.slice(0, end));
  }
  return all;
}
