import type { AuditIndex } from './audit-index.ts';
import {
  APPROVAL_MARK,
  type CountField,
  SHORT_PERIOD_MS,
  TALLY_FIELDS,
  type TallyField,
} from './count-types.ts';
import { countEventsBy } from './event-counts.ts';
import { listCountedValues } from './event-tallies.ts';
import { isSelfTestEvent } from './self-test.ts';
import type { AuditEvent } from './types.ts';
import type { EventWindow, WindowCount, WindowCounts } from './window-types.ts';

/** The events that are read at once at the ends of a window. */
const READ_ROWS = 2_000;

/** Sums counts by field, value, decision and action. */
type Sums = Map<string, Map<string, { -readonly [Key in keyof WindowCount]: WindowCount[Key] }>>;

/**
 * Counts the events of a window by each field, exactly: whole periods of five minutes from the counts, and the events
 * before and after them one by one.
 */
export async function countWindowFields(
  index: AuditIndex,
  window: EventWindow,
  fields: readonly CountField[],
): Promise<WindowCounts> {
  const { tenants, agents } = window;
  const sums: Sums = new Map(fields.map((field) => [field, new Map()]));
  const wholeFromMs = Math.ceil(window.since_ms / SHORT_PERIOD_MS) * SHORT_PERIOD_MS;
  const wholeToMs = Math.floor(window.until_ms / SHORT_PERIOD_MS) * SHORT_PERIOD_MS;
  if (wholeFromMs >= wholeToMs) await addEvents(index, window, fields, sums);
  else {
    for (const by of fields) {
      const period = { since_ms: wholeFromMs, until_ms: wholeToMs };
      for (const each of await countEventsBy(index, { by, ...period, tenants, agents }))
        addCount(sums, by, each);
    }
    await addEvents(index, { ...window, until_ms: wholeFromMs }, fields, sums);
    await addEvents(index, { ...window, since_ms: wholeToMs }, fields, sums);
  }
  return Object.fromEntries(
    [...sums].map(([field, counts]) => [field, [...counts.values()].toSorted(compareCounts)]),
  );
}

/** Counts the events of a short window one by one. */
async function addEvents(
  index: AuditIndex,
  window: EventWindow,
  fields: readonly CountField[],
  sums: Sums,
): Promise<void> {
  for await (const event of readWindowEvents(index, window)) {
    if (isSelfTestEvent(event)) continue;
    const ms = Date.parse(event.timestamp);
    const { decision, action } = event;
    for (const field of fields)
      for (const value of listValues(field, event))
        addCount(sums, field, { value, decision, action, count: 1, first_ms: ms, last_ms: ms });
  }
}

function listValues(field: CountField, event: AuditEvent): readonly string[] {
  // As in the counts, an event of an approval request has a mark in every field and is left out.
  const isCounted = !listCountedValues('boundary', event).some((value) => value.startsWith(APPROVAL_MARK));
  if (!isCounted) return [];
  if (field === 'agent') return [event.agent_id];
  if (field === 'tenant') return [event.tenant_id];
  return isTallyField(field) ? listCountedValues(field, event) : [];
}

function isTallyField(field: CountField): field is TallyField {
  return (TALLY_FIELDS as readonly string[]).includes(field);
}

function addCount(
  sums: Sums,
  field: string,
  { value, decision, action, count, first_ms, last_ms }: WindowCount,
): void {
  const counts = sums.get(field)!;
  const key = `${value}\0${decision}\0${action}`;
  const sum = counts.get(key);
  if (sum === undefined) {
    counts.set(key, { value, decision, action, count, first_ms, last_ms });
    return;
  }
  sum.count += count;
  sum.first_ms = Math.min(sum.first_ms, first_ms);
  sum.last_ms = Math.max(sum.last_ms, last_ms);
}

function compareCounts(a: WindowCount, b: WindowCount): number {
  if (a.value !== b.value) return a.value < b.value ? -1 : 1;
  if (a.action !== b.action) return a.action < b.action ? -1 : 1;
  return a.decision < b.decision ? -1 : a.decision > b.decision ? 1 : 0;
}

/** Reads the events of a window, oldest first, a part at a time. */
export async function* readWindowEvents(
  index: AuditIndex,
  { since_ms, until_ms, tenants, agents }: EventWindow,
): AsyncGenerator<AuditEvent> {
  let after = { timestamp_ms: since_ms - 1, event_id: '' };
  for (;;) {
    let query = index.db
      .selectFrom('audit_events')
      .select(['timestamp_ms', 'event_id', 'event'])
      .where('timestamp_ms', '>=', Math.max(since_ms, after.timestamp_ms))
      .where('timestamp_ms', '<', until_ms)
      .where((eb) =>
        eb(eb.refTuple('timestamp_ms', 'event_id'), '>', eb.tuple(after.timestamp_ms, after.event_id)),
      );
    if (tenants !== '*') query = query.where('tenant_id', 'in', tenants);
    if (agents !== '*') query = query.where('agent_id', 'in', agents);
    const rows = await query.orderBy('timestamp_ms').orderBy('event_id').limit(READ_ROWS).execute();
    for (const { event } of rows) yield JSON.parse(event) as AuditEvent;
    const last = rows.at(-1);
    if (last === undefined || rows.length < READ_ROWS) return;
    after = last;
  }
}
