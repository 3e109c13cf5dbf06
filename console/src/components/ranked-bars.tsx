import { Link } from '@tanstack/react-router';
import { SafeText } from './safe-text.tsx';
import { COMPARED_MIN } from './stat-tile.tsx';

/** One row of a ranked list. */
export interface RankedRow {
  readonly name: string;
  readonly value: number;
  /** The part of the value that was stopped. */
  readonly stopped?: number;
  readonly before?: number;
}

interface RankedBarsProps {
  readonly label: string;
  readonly rows: readonly RankedRow[];
  readonly format: (value: number) => string;
  /** Where a row leads, with its name as a filter. */
  readonly link?: (name: string) => { readonly to: string; readonly search: Record<string, string> };
  readonly empty: string;
}

/** A ranked list with a bar for each row. The part that was stopped is marked on the bar, and in words for screen readers. */
export function RankedBars({ label, rows, format, link, empty }: RankedBarsProps) {
  if (rows.length === 0) return <p className="muted">{empty}</p>;
  const max = Math.max(...rows.map(({ value }) => value), Number.EPSILON);
  return (
    <ol className="ranked" aria-label={label}>
      {rows.map((row) => {
        const target = link?.(row.name);
        return (
          <li key={row.name}>
            <span className="ranked-name">
              {target === undefined ? (
                <SafeText text={row.name} />
              ) : (
                <Link to={target.to} search={target.search}>
                  <SafeText text={row.name} />
                </Link>
              )}
            </span>
            <span className="ranked-value">
              {format(row.value)}
              {row.stopped === undefined || row.stopped === 0 ? null : (
                <span className="ranked-stopped"> {format(row.stopped)} stopped</span>
              )}
              <Difference now={row.value} before={row.before} />
            </span>
            <span className="ranked-track" aria-hidden="true">
              <span style={{ width: `${((row.value - (row.stopped ?? 0)) / max) * 100}%` }} />
              <span className="stopped" style={{ width: `${((row.stopped ?? 0) / max) * 100}%` }} />
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function Difference({ now, before }: { readonly now: number; readonly before: number | undefined }) {
  if (before === undefined || now === before) return null;
  if (before < COMPARED_MIN) return null;
  const percent = Math.round(((now - before) / before) * 100);
  if (percent === 0) return null;
  return <span className="ranked-change">{percent > 0 ? ` +${percent} %` : ` −${-percent} %`}</span>;
}
