import type { AlertRuleSettings, Weekday } from './rule-schema.ts';

type Schedule = NonNullable<AlertRuleSettings['schedule']>;

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
const WEEK: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
/** Quiet hours never cover a whole week, and a change of the clock moves their end by hours at most. */
const STEPS_MAX = 8 * DAY_MINUTES;

/** Returns the end of the quiet hours that a time is in, to the minute; the time itself if it is in none. */
export function findQuietEnd(schedule: Schedule | undefined, nowMs: number): number {
  if (schedule === undefined) return nowMs;
  const format = buildLocalFormat(schedule.time_zone);
  if (!isQuiet(schedule, format, nowMs)) return nowMs;
  let at = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  for (let step = 0; step < STEPS_MAX && isQuiet(schedule, format, at); step += 1) at += MINUTE_MS;
  return at;
}

function isQuiet(schedule: Schedule, format: Intl.DateTimeFormat, timeMs: number): boolean {
  const { day, minute } = readLocalTime(format, timeMs);
  const yesterday = WEEK[(WEEK.indexOf(day) + 6) % 7]!;
  return schedule.quiet_hours.some(({ days = WEEK, from, to }) => {
    const [begin, end] = [readMinute(from), readMinute(to)];
    if (begin < end) return days.includes(day) && minute >= begin && minute < end;
    return (days.includes(day) && minute >= begin) || (days.includes(yesterday) && minute < end);
  });
}

function readMinute(clock: string): number {
  return Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));
}

function buildLocalFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
}

function readLocalTime(format: Intl.DateTimeFormat, timeMs: number): { day: Weekday; minute: number } {
  const parts = Object.fromEntries(format.formatToParts(timeMs).map(({ type, value }) => [type, value]));
  return {
    day: parts.weekday!.toLowerCase() as Weekday,
    minute: Number(parts.hour) * 60 + Number(parts.minute),
  };
}
