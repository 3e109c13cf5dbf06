import { useSyncExternalStore } from 'react';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const full_format = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const clock_format = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const date_format = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const day_format = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

type TimeForm = 'relative' | 'clock' | 'date' | 'time';

interface TimeProps {
  readonly at: string | null | undefined;
  /** `relative`: "5 min ago"; `clock`: 14:03:59, with the day if it is not today; `date`: always with the day and year; `time`: without the day. */
  readonly form?: TimeForm;
}

/** Shows a moment in the zone of the viewer. The title has the whole date. */
export function Time({ at, form = 'relative' }: TimeProps) {
  const now_ms = useNow();
  const at_ms = at === null || at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(at_ms)) return <span className="muted">–</span>;
  return (
    <time dateTime={new Date(at_ms).toISOString()} title={full_format.format(at_ms)}>
      {formatTime(form, at_ms, now_ms)}
    </time>
  );
}

/** Shows how long it is until a moment, in seconds below one hour. */
export function TimeLeft({ until }: { readonly until: string }) {
  const left_ms = Date.parse(until) - useNow(SECOND_MS);
  if (Number.isNaN(left_ms)) return <span className="muted">–</span>;
  const label = left_ms <= 0 ? 'expired' : `${formatDuration(left_ms)} left`;
  return (
    <time
      dateTime={until}
      title={full_format.format(Date.parse(until))}
      className={left_ms < 5 * MINUTE_MS ? 'time-left soon' : 'time-left'}
    >
      {label}
    </time>
  );
}

function formatTime(form: TimeForm, at_ms: number, now_ms: number): string {
  if (form === 'time') return clock_format.format(at_ms);
  if (form === 'date') return date_format.format(at_ms);
  return form === 'clock' ? formatClockTime(at_ms, now_ms) : formatRelativeTime(at_ms, now_ms);
}

function formatRelativeTime(at_ms: number, now_ms: number): string {
  const ago_ms = now_ms - at_ms;
  // The clock of the page moves in steps, and the clock of the service may be a little ahead.
  if (ago_ms < 10 * SECOND_MS && ago_ms > -MINUTE_MS) return 'just now';
  const text = formatDuration(Math.abs(ago_ms), true);
  return ago_ms < 0 ? `in ${text}` : `${text} ago`;
}

function formatClockTime(at_ms: number, now_ms: number): string {
  const is_today = new Date(at_ms).toDateString() === new Date(now_ms).toDateString();
  const clock = clock_format.format(at_ms);
  return is_today ? clock : `${day_format.format(at_ms)} ${clock}`;
}

/** Returns a length of time: `4 min 5 s`, or only its first part. */
export function formatDuration(length_ms: number, is_short = false): string {
  const parts = [
    [Math.floor(length_ms / DAY_MS), 'd'],
    [Math.floor((length_ms % DAY_MS) / HOUR_MS), 'h'],
    [Math.floor((length_ms % HOUR_MS) / MINUTE_MS), 'min'],
    [Math.floor((length_ms % MINUTE_MS) / SECOND_MS), 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return length_ms < SECOND_MS ? `${Math.round(length_ms)} ms` : '0 s';
  return parts
    .slice(first, is_short ? first + 1 : first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** Returns the present time. It changes every second while a component uses it, or every 15 seconds. */
export function useNow(step_ms = 15 * SECOND_MS): number {
  return useSyncExternalStore(subscribeToClock, () => Math.floor(clock.now_ms / step_ms) * step_ms);
}

const clock = { now_ms: Date.now(), timer: 0, listeners: new Set<() => void>() };

function subscribeToClock(listener: () => void): () => void {
  clock.listeners.add(listener);
  if (clock.listeners.size === 1) {
    clock.now_ms = Date.now();
    clock.timer = window.setInterval(() => {
      clock.now_ms = Date.now();
      for (const each of clock.listeners) each();
    }, SECOND_MS);
  }
  return () => {
    clock.listeners.delete(listener);
    if (clock.listeners.size === 0) window.clearInterval(clock.timer);
  };
}
