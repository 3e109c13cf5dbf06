import type { AlertRule } from './rule.ts';
import type { Signal } from './signal.ts';
import type { AlertStatus } from './types.ts';

/** The count of one group of a rule. */
export interface GroupCount {
  /** The times of the newest signals in the window, at most `threshold`. */
  times: number[];
  /** The newest signals with their times, twenty at most. */
  samples: [id: string, time_ms: number][];
  /** The tenants with the times of their newest signals. */
  tenants: [tenant_id: string, time_ms: number][];
  max_ms: number;
  last_fired_ms: number | null;
}

/** The part of an open alert that changes while it counts. */
export interface OpenAlert {
  status: AlertStatus;
  event_count: number;
  first_ms: number;
  last_ms: number;
  sample_event_ids: string[];
  tenant_ids: string[];
}

/** One group with its open alert. */
export interface CountedGroup<Alert extends OpenAlert = OpenAlert> {
  count: GroupCount;
  open: Alert | null;
  /** It counts many groups together. A new alert follows the open one while it grows. */
  readonly is_others?: boolean;
}

/** The effect of a signal. A signal after an empty window ends the alert before it is counted. */
export interface CountingStep<Alert extends OpenAlert = OpenAlert> {
  readonly ended: Alert | null;
  /** The values of a new alert. */
  readonly fired: OpenAlert | null;
}

export const SAMPLES_MAX = 20;
const TENANTS_MAX = 100;
/** Stands for more tenants than an alert lists. No caller has a tenant of this name. */
export const MORE_TENANTS = '*';

/** Returns the state of a group before its first signal. */
export function startCount(): GroupCount {
  return { times: [], samples: [], tenants: [], max_ms: 0, last_fired_ms: null };
}

/** Forgets what was counted. The time of the last alert remains, because the cooldown depends on it. */
export function resetCount({ last_fired_ms }: Pick<GroupCount, 'last_fired_ms'>): GroupCount {
  return { ...startCount(), last_fired_ms };
}

type CountingRule = Pick<AlertRule, 'window_ms' | 'threshold' | 'cooldown_ms' | 'is_condition'>;

/**
 * Counts one signal, and changes the group. Fires if no alert is open, the window has reached the threshold, and the
 * cooldown since the last alert is over. All times are those of the signals.
 */
export function countSignal<Alert extends OpenAlert>(
  rule: CountingRule,
  group: CountedGroup<Alert>,
  signal: Signal,
): CountingStep<Alert> {
  const ended = endEmpty(rule, group, signal.time_ms);
  addToCount(rule, group.count, signal);
  if (group.open !== null) {
    addToAlert(group.open, signal);
    return { ended, fired: null };
  }
  const { count } = group;
  const isCool = count.last_fired_ms === null || count.max_ms - count.last_fired_ms >= rule.cooldown_ms;
  if (count.times.length < rule.threshold || !isCool) return { ended, fired: null };
  count.last_fired_ms = count.max_ms;
  return {
    ended,
    fired: {
      status: 'firing',
      event_count: count.times.length,
      first_ms: count.times.reduce((one, other) => Math.min(one, other)),
      last_ms: count.max_ms,
      sample_event_ids: count.samples.map(([id]) => id),
      tenant_ids: count.tenants.map(([tenantId]) => tenantId).toSorted(),
    },
  };
}

/** The shortest time between two alerts of the group that counts many together. */
const OTHERS_MS_MIN = 10_000;

/** Ends the open alert if its window was empty when the signal came, or if the next one of many groups is due. */
function endEmpty<Alert extends OpenAlert>(
  { window_ms, cooldown_ms, is_condition }: CountingRule,
  group: CountedGroup<Alert>,
  timeMs: number,
): Alert | null {
  const { open } = group;
  if (open === null || is_condition) return null;
  const repeatMs = group.is_others ? Math.max(cooldown_ms, OTHERS_MS_MIN) : Number.POSITIVE_INFINITY;
  const isRepeated = timeMs - (group.count.last_fired_ms ?? 0) >= repeatMs;
  if (timeMs - open.last_ms < window_ms && !isRepeated) return null;
  group.open = null;
  group.count = resetCount(group.count);
  return open;
}

function addToCount(
  { window_ms, threshold }: Pick<AlertRule, 'window_ms' | 'threshold'>,
  count: GroupCount,
  { id, time_ms, tenant_id, is_event }: Signal,
): void {
  count.max_ms = Math.max(count.max_ms, time_ms);
  const sinceMs = count.max_ms - window_ms;
  if (time_ms > sinceMs) {
    insertTime(count.times, time_ms);
    if (is_event) count.samples.push([id, time_ms]);
  }
  let old = 0;
  while (old < count.times.length && count.times[old]! <= sinceMs) old += 1;
  old = Math.max(old, count.times.length - threshold);
  if (old > 0) count.times.splice(0, old);
  count.samples = count.samples.filter((each) => each[1] > sinceMs).slice(-SAMPLES_MAX);
  if (tenant_id !== null) {
    const others = count.tenants.filter(([name, at]) => name !== tenant_id && at > sinceMs);
    const isFull = others.length >= TENANTS_MAX;
    count.tenants = [
      ...(isFull ? others.slice(0, TENANTS_MAX - 1) : others),
      [tenant_id, time_ms],
      ...(isFull && !others.some(([name]) => name === MORE_TENANTS)
        ? [[MORE_TENANTS, time_ms] as [string, number]]
        : []),
    ];
  }
}

/** Inserts a time in order. Events of several workers arrive nearly in order. */
function insertTime(times: number[], timeMs: number): void {
  let at = times.length;
  while (at > 0 && times[at - 1]! > timeMs) at -= 1;
  times.splice(at, 0, timeMs);
}

function addToAlert(alert: OpenAlert, { id, time_ms, tenant_id, is_event }: Signal): void {
  alert.event_count += 1;
  alert.last_ms = Math.max(alert.last_ms, time_ms);
  if (is_event && alert.sample_event_ids.length < SAMPLES_MAX) alert.sample_event_ids.push(id);
  if (tenant_id === null || alert.tenant_ids.includes(tenant_id)) return;
  if (alert.tenant_ids.length < TENANTS_MAX) alert.tenant_ids.push(tenant_id);
  else if (!alert.tenant_ids.includes(MORE_TENANTS)) alert.tenant_ids.push(MORE_TENANTS);
}

/** Writes a count as short JSON: each time as the difference to the one before. */
export function writeCount({ times, ...count }: GroupCount): string {
  return JSON.stringify({
    ...count,
    times: times.map((time, at) => (at === 0 ? time : time - times[at - 1]!)),
  });
}

/** Reads a count. One that cannot be read begins again, so that it does not stop the evaluation. */
export function readCount(text: string): GroupCount {
  try {
    const read = JSON.parse(text) as GroupCount;
    let sum = 0;
    return { ...startCount(), ...read, times: read.times.map((step) => (sum += step)) };
  } catch {
    return startCount();
  }
}
