import { useSyncExternalStore } from 'react';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const fullFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const clockFormat = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const dateFormat = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

type TimeForm = 'relative' | 'clock' | 'date' | 'time';

interface TimeProps {
  readonly at: string | null | undefined;
  /** `relative`: "5 min ago"; `clock`: 14:03:59, with the day if it is not today; `date`: always with the day and year; `time`: without the day. */
  readonly form?: TimeForm;
}

/** Shows a moment in the zone of the viewer. The title has the whole date. */
export function Time({ at, form = 'relative' }: TimeProps) {
  const nowMs = useNow();
  const atMs = at === null || at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(atMs)) return <span className="muted">–</span>;
  return (
    <time dateTime={new Date(atMs).toISOString()} title={fullFormat.format(atMs)}>
      {formatTime(form, atMs, nowMs)}
    </time>
  );
}

/** Shows how long it is until a moment, in seconds below one hour. */
export function TimeLeft({ until }: { readonly until: string }) {
  const leftMs = Date.parse(until) - useNow(SECOND_MS);
  if (Number.isNaN(leftMs)) return <span className="muted">–</span>;
  const label = leftMs <= 0 ? 'expired' : `${formatDuration(leftMs)} left`;
  return (
    <time
      dateTime={until}
      title={fullFormat.format(Date.parse(until))}
      className={leftMs < 5 * MINUTE_MS ? 'time-left soon' : 'time-left'}
    >
      {label}
    </time>
  );
}

function formatTime(form: TimeForm, atMs: number, nowMs: number): string {
  if (form === 'time') return clockFormat.format(atMs);
  if (form === 'date') return dateFormat.format(atMs);
  return form === 'clock' ? formatClockTime(atMs, nowMs) : formatRelativeTime(atMs, nowMs);
}

function formatRelativeTime(atMs: number, nowMs: number): string {
  const agoMs = nowMs - atMs;
  // The clock of the page moves in steps, and the clock of the service may be a little ahead.
  if (agoMs < 10 * SECOND_MS && agoMs > -MINUTE_MS) return 'just now';
  const text = formatDuration(Math.abs(agoMs), true);
  return agoMs < 0 ? `in ${text}` : `${text} ago`;
}

function formatClockTime(atMs: number, nowMs: number): string {
  const isToday = new Date(atMs).toDateString() === new Date(nowMs).toDateString();
  const clock = clockFormat.format(atMs);
  return isToday ? clock : `${dayFormat.format(atMs)} ${clock}`;
}

/** Returns a length of time: `4 min 5 s`, or only its first part. */
export function formatDuration(lengthMs: number, isShort = false): string {
  const parts = [
    [Math.floor(lengthMs / DAY_MS), 'd'],
    [Math.floor((lengthMs % DAY_MS) / HOUR_MS), 'h'],
    [Math.floor((lengthMs % HOUR_MS) / MINUTE_MS), 'min'],
    [Math.floor((lengthMs % MINUTE_MS) / SECOND_MS), 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return lengthMs < SECOND_MS ? `${Math.round(lengthMs)} ms` : '0 s';
  return parts
    .slice(first, isShort ? first + 1 : first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** Returns the present time. It changes every second while a component uses it, or every 15 seconds. */
export function useNow(stepMs = 15 * SECOND_MS): number {
  return useSyncExternalStore(subscribeToClock, () => Math.floor(clock.now_ms / stepMs) * stepMs);
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
