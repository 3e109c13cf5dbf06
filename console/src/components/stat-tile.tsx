import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface StatTileProps {
  readonly label: string;
  readonly value: ReactNode;
  /** The value of the period before, for the difference below. */
  readonly now?: number;
  readonly before?: number | null | undefined;
  /** True if a higher value is worse. */
  readonly more_is_worse?: boolean;
  readonly to?: string;
  readonly search?: Record<string, string>;
}

/** One figure with its label and the change since the previous period. */
export function StatTile({ label, value, now, before, more_is_worse = false, to, search }: StatTileProps) {
  const content = (
    <>
      <span className="tile-label">{label}</span>
      <span className="tile-value">{value}</span>
      <Change now={now} before={before} more_is_worse={more_is_worse} />
    </>
  );
  if (to === undefined) return <div className="tile">{content}</div>;
  return (
    <Link to={to} search={search ?? {}} className="tile">
      {content}
    </Link>
  );
}

function Change({
  now,
  before,
  more_is_worse,
}: {
  readonly now: number | undefined;
  readonly before: number | null | undefined;
  readonly more_is_worse: boolean;
}) {
  if (now === undefined || before === undefined || before === null) return null;
  if (before === 0)
    return <span className="tile-change">{now === 0 ? 'none before' : 'new in this period'}</span>;
  const percent = Math.round(((now - before) / before) * 100);
  if (percent === 0) return <span className="tile-change">as before</span>;
  const tone = percent > 0 === more_is_worse ? 'worse' : 'better';
  return (
    <span className={`tile-change ${tone}`}>
      {percent > 0 ? '▲' : '▼'} {Math.abs(percent)} % <span className="muted">since before</span>
    </span>
  );
}

const count_format = new Intl.NumberFormat();
const compact_format = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const usd_format = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' });
const small_usd_format = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 2,
});

/** Returns a count with separators; from 100,000 on, a short form. */
export function formatCount(count: number): string {
  return count < 100_000 ? count_format.format(count) : compact_format.format(count);
}

/** Returns an amount in US dollars; small ones keep two digits. */
export function formatUsd(usd: number): string {
  return usd !== 0 && Math.abs(usd) < 0.1 ? small_usd_format.format(usd) : usd_format.format(usd);
}
