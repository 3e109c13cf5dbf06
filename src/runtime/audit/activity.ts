import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditIndex } from './audit-index.ts';

/** A query for recent activity. */
export interface ActivityQuery {
  /** The field to sum by. */
  readonly by: 'agent_id' | 'session_id';
  readonly since_ms: number;
  /** The tenants and agents whose events count; `*` for all. */
  readonly tenants: '*' | readonly string[];
  readonly agents: '*' | readonly string[];
}

/** The events of one agent, or of one session in one tenant. */
export interface ActivityEntry {
  readonly id: string;
  readonly tenant_ids: readonly string[];
  readonly agent_ids: readonly string[];
  readonly event_count: number;
  readonly block_count: number;
  readonly first_ms: number;
  readonly last_ms: number;
}

export interface Activity {
  /** The entries, most recent activity first. */
  readonly active: readonly ActivityEntry[];
  /** The query stopped at `ACTIVITY_EVENTS_MAX` events; older events are not counted. */
  readonly partial: boolean;
}

/** The maximum number of events that one query reads. */
export const ACTIVITY_EVENTS_MAX = 50_000;
const PAGE_ROWS = 1_000;

interface Sum {
  readonly id: string;
  readonly tenants: Set<string>;
  readonly agents: Set<string>;
  event_count: number;
  block_count: number;
  first_ms: number;
  last_ms: number;
}

/** Sums activity from the newest event back. Reads a page at a time, so that it does not block the process. */
export async function sumActivity(index: AuditIndex, asked: ActivityQuery): Promise<Activity> {
  const sums = new Map<string, Sum>();
  let before: Row | null = null;
  let looked = 0;
  let partial = false;
  for (;;) {
    const page: Row[] = await selectPage(index, asked, before);
    for (const row of page) add(sums, row, asked.by);
    looked += page.length;
    if (page.length < PAGE_ROWS) break;
    if (looked >= ACTIVITY_EVENTS_MAX) {
      partial = true;
      break;
    }
    before = page.at(-1)!;
    await nextTurn();
  }
  const active = [...sums.values()]
    .map(({ tenants, agents, ...sum }) => ({ ...sum, tenant_ids: [...tenants], agent_ids: [...agents] }))
    .toSorted((a, b) => b.last_ms - a.last_ms);
  return { active, partial };
}

type Row = Awaited<ReturnType<typeof selectPage>>[number];

function selectPage(
  index: AuditIndex,
  { by, since_ms, tenants, agents }: ActivityQuery,
  before: { readonly timestamp_ms: number; readonly seq: number; readonly event_id: string } | null,
) {
  let query = index.db
    .selectFrom('audit_events')
    .select(['timestamp_ms', 'seq', 'event_id', 'tenant_id', 'agent_id', 'session_id', 'decision'])
    .where('timestamp_ms', '>=', since_ms);
  if (by === 'session_id') query = query.where('session_id', 'is not', null);
  if (tenants !== '*') query = query.where('tenant_id', 'in', tenants);
  if (agents !== '*') query = query.where('agent_id', 'in', agents);
  if (before !== null) {
    const { timestamp_ms, seq, event_id } = before;
    query = query.where((eb) =>
      eb(eb.refTuple('timestamp_ms', 'seq', 'event_id'), '<', eb.tuple(timestamp_ms, seq, event_id)),
    );
  }
  return query
    .orderBy('timestamp_ms', 'desc')
    .orderBy('seq', 'desc')
    .orderBy('event_id', 'desc')
    .limit(PAGE_ROWS)
    .execute();
}

/** Adds a row to the sums. Rows must come newest first. A session ID in two tenants counts as two sessions. */
function add(sums: Map<string, Sum>, row: Row, by: ActivityQuery['by']): void {
  const id = row[by];
  if (id === null) return;
  const key = by === 'agent_id' ? id : JSON.stringify([row.tenant_id, id]);
  const sum = sums.get(key) ?? {
    id,
    tenants: new Set<string>(),
    agents: new Set<string>(),
    event_count: 0,
    block_count: 0,
    first_ms: row.timestamp_ms,
    last_ms: row.timestamp_ms,
  };
  sums.set(key, sum);
  sum.tenants.add(row.tenant_id);
  sum.agents.add(row.agent_id);
  sum.event_count += 1;
  if (row.decision === 'block') sum.block_count += 1;
  sum.first_ms = row.timestamp_ms;
}
