import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Expression,
  type ExpressionBuilder,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import { StoreFailure } from '../../platform/store/failure.ts';
import type { AuditIndex } from './audit-index.ts';
import { AuditFailure } from './failure.ts';
import {
  type AuditCursor,
  EQUAL_FIELDS,
  type EqualField,
  formatCursor,
  hasMetadata,
  INCIDENT_ACTIONS,
  LIST_FIELDS,
  matchesMonitored,
  matchesUser,
  type ParsedFilter,
  parseFilter,
} from './filter.ts';
import type { IndexTables } from './index-tables.ts';
import { isSelfTestEvent } from './self-test.ts';
import { addActions } from './shown-actions.ts';
import type { AuditEvent, AuditFilter, AuditPage } from './types.ts';

export interface QueryOptions {
  readonly now_ms: () => number;
  /** The time limit, in milliseconds, of a query without a matching index; ten seconds by default. */
  readonly timeout_ms?: number;
}

/** Fields with an index of their own, in order of preference. A query uses the first one that it filters by. */
const INDEXED: readonly EqualField[] = [
  'event_id',
  'session_id',
  'tool_name',
  'agent_id',
  'policy_name',
  'action',
  'tenant_id',
];
const TIMEOUT_MS = 10_000;
/** The number of rows that one page reads before other work of the process runs. */
const PAGE_ROWS = 1_000;

/** Events, as `e`. A page for one tag joins the tag's rows as `t`, which are in the same order. */
type Tables = IndexTables & { readonly e: IndexTables['audit_events'] };
type Query = SelectQueryBuilder<Tables, 'e', object>;
type Expressions = ExpressionBuilder<Tables, 'e'>;

/**
 * Finds events in the order of their time (within one writer, of their decision). All filters are joined with AND. A
 * query uses one index; the other filters test each row that it returns. It reads a page at a time, so that a query
 * over all events does not block the process.
 *
 * @throws AuditFilterError if the filter is invalid; AuditFailure `query_too_slow`
 */
export async function queryIndex(
  index: AuditIndex,
  filter: AuditFilter,
  options: QueryOptions,
): Promise<AuditPage> {
  const page = await findPage(index, filter, options);
  return filter.with_actions === true ? { ...page, events: await addActions(index, page.events) } : page;
}

async function findPage(index: AuditIndex, filter: AuditFilter, options: QueryOptions): Promise<AuditPage> {
  const parsed = parseFilter(filter, options.now_ms());
  const deadline = performance.now() + (options.timeout_ms ?? filter.timeout_ms ?? TIMEOUT_MS);
  const { limit } = parsed;
  const events: AuditEvent[] = [];
  for (let cursor = parsed.cursor, isFirst = true; ; isFirst = false) {
    const rowsMax = isFirst ? Math.min(limit, PAGE_ROWS) : PAGE_ROWS;
    const page = await selectPage(index, parsed, cursor, rowsMax).execute().catch(rethrowSlow);
    for (const row of page) {
      if (events.length === limit) break;
      addWhere(events, row.event, parsed);
      cursor = { timestamp_ms: row.timestamp_ms, seq: row.seq, event_id: row.event_id };
    }
    const isFull = events.length === limit;
    if (page.length < rowsMax && !isFull) {
      const found: AuditPage = { events, count: events.length, next_cursor: null };
      // No index covers the events of one caller, so counting them would block the process.
      if (events.length > 0 || parsed.is_paged || filter.scope?.caller_id !== undefined) return found;
      return { ...found, events_searched: await countEvents(index, parsed, filter.scope ?? {}) };
    }
    const isLate = performance.now() > deadline;
    if (isLate && !isFull && !parsed.is_paged) throw buildTooSlowFailure();
    if (isFull || isLate) return { events, count: events.length, next_cursor: formatCursor(cursor!) };
    await nextTurn();
  }
}

/** Counts the events in the time range that the caller may read. Ignores the other filters. */
async function countEvents(
  index: AuditIndex,
  { since_ms, until_ms }: ParsedFilter,
  scope: NonNullable<AuditFilter['scope']>,
): Promise<number> {
  let query = index.db.selectFrom('audit_events');
  if (since_ms !== null) query = query.where('timestamp_ms', '>=', since_ms);
  if (until_ms !== null) query = query.where('timestamp_ms', '<=', until_ms);
  for (const field of ['tenant_id', 'agent_id'] as const)
    if (scope[field] !== undefined) query = query.where(field, '=', scope[field]);
  const { count } = await query
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

function addWhere(events: AuditEvent[], json: string | null, filter: ParsedFilter): void {
  if (json === null) return;
  // Most rows lack the key, which their text shows without parsing it.
  if (filter.metadata !== null && !json.includes(`${JSON.stringify(filter.metadata.key)}:`)) return;
  if (filter.monitored !== null && !json.includes('"monitored":')) return;
  if (filter.user_id !== null && !json.includes('"user_id":')) return;
  const event = JSON.parse(json) as AuditEvent;
  if (filter.without_self_tests && isSelfTestEvent(event)) return;
  if (hasMetadata(event, filter) && matchesMonitored(event, filter) && matchesUser(event, filter))
    events.push(event);
}

/** PostgreSQL's code for a statement that was canceled because it took too long. */
const CANCELED = '57014';

function rethrowSlow(error: unknown): never {
  throw error instanceof StoreFailure && error.system_code === CANCELED ? buildTooSlowFailure() : error;
}

function buildTooSlowFailure(): AuditFailure {
  return new AuditFailure(
    'query_too_slow',
    'The query covers too many events. Narrow it by `last`, `since`, `agent_id`, `session_id` or `data_tag`.',
  );
}

/** Selects a page of rows in order. `event` is `null` in rows that the other filters do not match. */
function selectPage(index: AuditIndex, filter: ParsedFilter, cursor: AuditCursor | null, rowsMax: number) {
  const indexed = INDEXED.find((field) => filter.equal[field] !== undefined) ?? null;
  const byTag = filter.data_tag !== null && indexed !== 'event_id' && indexed !== 'session_id';
  const direction = filter.newest_first ? 'desc' : 'asc';
  const place = getPlace(byTag ? 't' : 'e');
  const within = buildRange(place, filter, cursor);
  // Limited by itself: else a database may join all rows of the tag with all events.
  const tagged = index.db
    .selectFrom('audit_event_tags as t')
    .select(['t.timestamp_ms', 't.seq', 't.event_id'])
    .where('t.tag', '=', filter.data_tag)
    .where(within)
    .orderBy(place.timestamp_ms, direction)
    .orderBy(place.seq, direction)
    .orderBy(place.event_id, direction)
    .limit(rowsMax)
    .as('t');
  let query: Query = index.db
    .selectFrom('audit_events as e')
    .$if(byTag, (events) =>
      events.innerJoin(tagged, (join) =>
        join.onRef('t.event_id', '=', 'e.event_id').onRef('t.timestamp_ms', '=', 'e.timestamp_ms'),
      ),
    );
  if (!byTag) query = whereIndexed(query, indexed, filter, index.dialect.isIncident).where(within);
  return query
    .select([
      place.timestamp_ms.as('timestamp_ms'),
      place.seq.as('seq'),
      place.event_id.as('event_id'),
      (eb) => buildEventConditions(eb, filter, byTag ? null : indexed, byTag).as('event'),
    ])
    .orderBy(place.timestamp_ms, direction)
    .orderBy(place.seq, direction)
    .orderBy(place.event_id, direction)
    .limit(rowsMax);
}

/** The columns by which events, or one tag's rows, are in order. */
type Place = ReturnType<typeof getPlace>;

function getPlace(table: 'e' | 't') {
  return {
    timestamp_ms: sql.ref<number>(`${table}.timestamp_ms`),
    seq: sql.ref<number>(`${table}.seq`),
    event_id: sql.ref<string>(`${table}.event_id`),
  };
}

/** Adds the filter by which the rows are found. */
function whereIndexed(
  events: Query,
  indexed: EqualField | null,
  filter: ParsedFilter,
  isIncident: RawBuilder<boolean>,
): Query {
  if (indexed === null) return isAboutIncidents(filter) ? events.where(isIncident) : events;
  const query = events.where(`e.${indexed}`, '=', filter.equal[indexed]!);
  // A database uses a partial index only if the condition of the index is part of the query, word by word.
  return indexed === 'policy_name' && filter.equal.policy_name !== 'default.allow'
    ? query.where(sql<boolean>`e.policy_name != 'default.allow'`)
    : query;
}

function isAboutIncidents({ any_of }: ParsedFilter): boolean {
  const actions = any_of.action;
  return actions?.every((action) => INCIDENT_ACTIONS.includes(action)) ?? false;
}

/** Builds the condition of the times of a filter, and of the cursor. */
function buildRange(place: Place, filter: ParsedFilter, cursor: AuditCursor | null): RawBuilder<boolean> {
  const { since_ms, until_ms, newest_first } = filter;
  const conditions = [sql<boolean>`true`];
  if (since_ms !== null) conditions.push(sql`${place.timestamp_ms} >= ${since_ms}`);
  if (until_ms !== null) conditions.push(sql`${place.timestamp_ms} <= ${until_ms}`);
  if (cursor !== null) {
    const { timestamp_ms, seq, event_id } = cursor;
    const direction = sql.raw(newest_first ? '<' : '>');
    conditions.push(
      sql`(${place.timestamp_ms}, ${place.seq}, ${place.event_id}) ${direction} (${timestamp_ms}, ${seq}, ${event_id})`,
    );
  }
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/** Selects the event if it matches all filters that the index has not applied, else `null`. */
function buildEventConditions(
  eb: Expressions,
  filter: ParsedFilter,
  answered: EqualField | null,
  tagAnswered: boolean,
) {
  const conditions: Expression<SqlBool>[] = EQUAL_FIELDS.filter(
    (field) => field !== answered && filter.equal[field] !== undefined,
  ).map((field) => eb(`e.${field}`, '=', filter.equal[field]!));
  for (const field of LIST_FIELDS)
    if (filter.any_of[field] !== undefined) conditions.push(eb(`e.${field}`, 'in', filter.any_of[field]));
  if (filter.decisions_only)
    conditions.push(sql<boolean>`coalesce(e.phase, '') not like 'approval\\_%' escape '\\'`);
  if (filter.data_tag !== null && !tagAnswered) conditions.push(eb.exists(getTag(eb, filter.data_tag)));
  return eb.case().when(eb.and(conditions)).then(eb.ref('e.event')).else(null).end();
}

function getTag(eb: Expressions, tag: string) {
  return eb
    .selectFrom('audit_event_tags')
    .select('audit_event_tags.tag')
    .where('audit_event_tags.tag', '=', tag)
    .whereRef('audit_event_tags.timestamp_ms', '=', 'e.timestamp_ms')
    .whereRef('audit_event_tags.seq', '=', 'e.seq')
    .whereRef('audit_event_tags.event_id', '=', 'e.event_id');
}
