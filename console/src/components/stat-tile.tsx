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
  if (before === now) return <span className="tile-change">as in the period before</span>;
  // A percentage of a few events says nothing, so the figure of the period before is shown instead.
  if (before < COMPARED_MIN)
    return <span className="tile-change">{formatCount(before)} in the period before</span>;
  const percent = Math.round(((now - before) / before) * 100);
  const tone = now > before === more_is_worse ? 'worse' : 'better';
  return (
    <span className={`tile-change ${tone}`}>
      {now > before ? '▲' : '▼'} {formatCount(Math.abs(percent))} %{' '}
      <span className="muted">from {formatCount(before)}</span>
    </span>
  );
}

/** The smallest figure from which a percentage is computed. */
export const COMPARED_MIN = 10;

const countFormat = new Intl.NumberFormat();
const compactFormat = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const usdFormat = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' });
const smallUsdFormat = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 2,
});

/** Returns a count with separators; from 100,000 on, a short form. */
export function formatCount(count: number): string {
  return count < 100_000 ? countFormat.format(count) : compactFormat.format(count);
}

/** Returns a part of a whole in percent, with one digit below ten. */
export function formatShare(share: number): string {
  const percent = share * 100;
  return `${percent > 0 && percent < 10 ? Math.max(0.1, Number(percent.toFixed(1))) : Math.round(percent)} %`;
}

/** Returns a count with the word that fits it. */
export function formatNumber(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Returns an amount in US dollars; small ones keep two digits. */
export function formatUsd(usd: number): string {
  return usd !== 0 && Math.abs(usd) < 0.1 ? smallUsdFormat.format(usd) : usdFormat.format(usd);
}
