/** A range of UTC days, both inclusive, and its name in responses. */
export interface Period {
  readonly name: string;
  readonly since: string;
  readonly until: string;
}

const DAY_MS = 86_400_000;
const WORD = /^(?:last_)?([1-9][0-9]{0,3})([dw])$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
/** A day before any spending. */
const EVER = '1970-01-01';

/**
 * Parses a period: `last_30d`, `7d`, `4w` (today and the days before it), `today`, `this_month`, `all`, a day such as
 * `2026-01-31` (from then on), or `2026-01-01/2026-01-31`. Returns `null` for anything else.
 */
export function parsePeriod(written: string, nowMs: number): Period | null {
  const today = getDay(nowMs);
  if (written === 'today') return { name: written, since: today, until: today };
  if (written === 'this_month') return { name: written, since: `${today.slice(0, 8)}01`, until: today };
  if (written === 'all') return { name: written, since: EVER, until: today };
  const [, count, unit] = WORD.exec(written) ?? [];
  if (count !== undefined) {
    const days = Number(count) * (unit === 'w' ? 7 : 1);
    return { name: `last_${count}${unit}`, since: getDay(nowMs - (days - 1) * DAY_MS), until: today };
  }
  const [since = '', until = today, ...more] = written.split('/');
  if (more.length > 0 || !isDay(since) || !isDay(until) || since > until) return null;
  return { name: `${since}/${until}`, since, until };
}

function isDay(written: string): boolean {
  const atMs = DAY.test(written) ? Date.parse(`${written}T00:00:00Z`) : Number.NaN;
  // `Date` reads the 31st of February as a day in March, so the day is formatted again and compared.
  return !Number.isNaN(atMs) && getDay(atMs) === written;
}

function getDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
