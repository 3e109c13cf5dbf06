import { useAddressQuery } from './filter-chips.tsx';

const PERIODS = [
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const;

/** The period of a page whose address names none. */
export const PERIOD_DEFAULT = '24h';

/** Returns the period in the address, or the default. */
export function usePeriod(): string {
  const [query] = useAddressQuery();
  return query.last ?? PERIOD_DEFAULT;
}

/** Chooses the period of a page. */
export function PeriodSelect() {
  const [, change] = useAddressQuery();
  const period = usePeriod();
  const isKnown = PERIODS.some(([value]) => value === period);
  return (
    <select
      className="select"
      aria-label="Period"
      value={period}
      onChange={(event) => change({ last: event.currentTarget.value })}
    >
      {isKnown ? null : <option value={period}>Last {period}</option>}
      {PERIODS.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}
