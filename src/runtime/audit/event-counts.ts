import { sql } from 'kysely';
import type { AuditIndex } from './audit-index.ts';

/** The fields by which events are counted. */
export const COUNT_FIELDS = ['boundary', 'rule', 'tool', 'tag', 'agent', 'tenant'] as const;
export type CountField = (typeof COUNT_FIELDS)[number];

/** A request to count events by one field, their decision and their action. */
export interface EventCountQuery {
  readonly by: CountField;
  /** Inclusive; milliseconds since 1970. */
  readonly since_ms: number;
  /** Exclusive; milliseconds since 1970. */
  readonly until_ms: number;
  /** The tenants and agents whose events count; `*` for all. */
  readonly tenants: '*' | readonly string[];
  readonly agents: '*' | readonly string[];
  /** Splits the counts into periods of this length, in milliseconds; `null` for one count. */
  readonly bucket_ms: number | null;
}

/** The number of events that have the same values. */
export interface EventCount {
  readonly value: string;
  /** The beginning of the period; `null` if the counts are not split. */
  readonly bucket_ms: number | null;
  readonly decision: string;
  readonly action: string;
  readonly count: number;
  readonly first_ms: number;
  readonly last_ms: number;
}

const COLUMNS = {
  boundary: 'boundary',
  rule: 'policy_name',
  tool: 'tool_name',
  agent: 'agent_id',
  tenant: 'tenant_id',
} as const;

/** Counts events by one field. Events without a value of the field are left out. */
export async function countEventsBy(index: AuditIndex, asked: EventCountQuery): Promise<EventCount[]> {
  const { by, bucket_ms } = asked;
  const value = by === 'tag' ? sql.ref<string>('tags.tag') : sql.ref<string>(`events.${COLUMNS[by]}`);
  const bucket =
    bucket_ms === null
      ? sql<number | null>`null`
      : sql<number | null>`events.timestamp_ms / ${bucket_ms} * ${bucket_ms}`;
  let query = index.db
    .selectFrom('audit_events as events')
    .where('events.timestamp_ms', '>=', asked.since_ms)
    .where('events.timestamp_ms', '<', asked.until_ms)
    .where(value, 'is not', null);
  if (asked.tenants !== '*') query = query.where('events.tenant_id', 'in', asked.tenants);
  if (asked.agents !== '*') query = query.where('events.agent_id', 'in', asked.agents);
  const joined =
    by === 'tag' ? query.innerJoin('audit_event_tags as tags', 'tags.event_id', 'events.event_id') : query;
  return joined
    .select([value.as('value'), bucket.as('bucket_ms'), 'events.decision', 'events.action'])
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      eb.fn.min<number>('events.timestamp_ms').as('first_ms'),
      eb.fn.max<number>('events.timestamp_ms').as('last_ms'),
    ])
    .groupBy(sql`1, 2, 3, 4` as never)
    .execute() as never;
}
