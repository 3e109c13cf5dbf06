import { useMemo } from 'react';
import type { OperationInput } from '../api/client.ts';
import { type FilterField, useAddressQuery } from './filter-chips.tsx';
import { usePeriod } from './period-select.tsx';

/** Returns the filter of a page of events from its address. A start or an end takes the place of the period. */
export function useEventFilter(fields: readonly FilterField[]): OperationInput<'dashboardEventsQuery'> {
  const [query] = useAddressQuery();
  const last = usePeriod();
  return useMemo(() => {
    const named = fields
      .filter(({ name }) => query[name] !== undefined)
      .map(({ name }) => [name, query[name]]);
    const hasRange = query.since !== undefined || query.until !== undefined;
    return { ...Object.fromEntries(named), ...(hasRange ? {} : { last }) };
  }, [fields, query, last]);
}
