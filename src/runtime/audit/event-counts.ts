import { sql } from 'kysely';
import type { AuditIndex } from './audit-index.ts';
import {
  APPROVAL_MARK,
  type EventCount,
  type EventCountQuery,
  LONG_PERIOD_MS,
  PERIODS_MS,
  SHORT_PERIOD_MS,
} from './count-types.ts';

/** A part of a period that is covered by counts of one length. */
interface Segment {
  readonly width_ms: number;
  readonly from_ms: number;
  readonly to_ms: number;
}

/** Counts events by one field, in one statement. Events without a value of the field are left out. */
export async function countEventsBy(index: AuditIndex, request: EventCountQuery): Promise<EventCount[]> {
  const [first, ...others] = splitPeriod(request).map((segment) => selectSegment(index, request, segment));
  if (first === undefined) return [];
  const counts = await index.db
    .selectFrom(others.reduce((all, each) => all.unionAll(each), first).as('own'))
    .select(['value', 'split', 'bucket_ms', 'decision', 'action'])
    .select((eb) => [
      eb.fn.sum<number>('event_count').as('count'),
      eb.fn.min<number>('first_ms').as('first_ms'),
      eb.fn.max<number>('last_ms').as('last_ms'),
    ])
    .groupBy(['value', 'split', 'bucket_ms', 'decision', 'action'])
    .execute();
  return counts.map((each) => ({ ...each, value: each.value.replace(APPROVAL_MARK, '') }));
}

/** Covers a period with the longest counts that fit: days, then hours, then five minutes at its ends. */
function splitPeriod({ since_ms, until_ms, bucket_ms = null }: EventCountQuery): Segment[] {
  if (since_ms === null) return [{ width_ms: LONG_PERIOD_MS, from_ms: 0, to_ms: Number.MAX_SAFE_INTEGER }];
  const widths = PERIODS_MS.filter((width) => bucket_ms === null || bucket_ms % width === 0);
  const fromMs = Math.floor(since_ms / SHORT_PERIOD_MS) * SHORT_PERIOD_MS;
  const toMs = Math.ceil(until_ms / SHORT_PERIOD_MS) * SHORT_PERIOD_MS;
  return coverPeriod(fromMs, toMs, widths);
}

function coverPeriod(fromMs: number, toMs: number, [widthMs, ...shorter]: readonly number[]): Segment[] {
  if (widthMs === undefined || fromMs >= toMs) return [];
  const beginMs = Math.ceil(fromMs / widthMs) * widthMs;
  const endMs = Math.floor(toMs / widthMs) * widthMs;
  if (beginMs >= endMs) return coverPeriod(fromMs, toMs, shorter);
  return [
    ...coverPeriod(fromMs, beginMs, shorter),
    { width_ms: widthMs, from_ms: beginMs, to_ms: endMs },
    ...coverPeriod(endMs, toMs, shorter),
  ];
}

/** Selects the counts of a segment, unsummed. */
function selectSegment(index: AuditIndex, request: EventCountQuery, { width_ms, from_ms, to_ms }: Segment) {
  const { by, bucket_ms = null, split = null, values, approval_events = false } = request;
  const isScope = by === 'agent' || by === 'tenant';
  const value = sql.ref<string>(isScope ? `${by}_id` : 'value');
  const bucket =
    bucket_ms === null
      ? sql<number | null>`null`
      : sql<number | null>`bucket_ms / ${sql.lit(bucket_ms)} * ${sql.lit(bucket_ms)}`;
  let query = index.db
    .selectFrom('audit_counts')
    .where('width_ms', '=', width_ms)
    .where('field', '=', isScope ? 'boundary' : by)
    .where('bucket_ms', '>=', from_ms)
    .where('bucket_ms', '<', to_ms);
  if (request.tenants !== '*') query = query.where('tenant_id', 'in', request.tenants);
  if (request.agents !== '*') query = query.where('agent_id', 'in', request.agents);
  if (!approval_events) query = query.where('value', 'not like', `${APPROVAL_MARK}%`);
  if (values !== undefined)
    query = query.where(value, 'in', [...values, ...values.map((each) => APPROVAL_MARK + each)]);
  return query.select([
    value.as('value'),
    (split === null ? sql<string | null>`null` : sql.ref<string | null>(`${split}_id`)).as('split'),
    bucket.as('bucket_ms'),
    'decision',
    'action',
    'event_count',
    'first_ms',
    'last_ms',
  ]);
}
