import { type ComponentProps, lazy, Suspense } from 'react';

const LoadedChart = lazy(async () => ({ default: (await import('./time-chart.tsx')).TimeChart }));

/** Draws a chart over time as `TimeChart` does. Its code is loaded after the page, which shows its figures meanwhile. */
export function LazyTimeChart(props: ComponentProps<typeof LoadedChart>) {
  return (
    <Suspense fallback={<div className="skeleton chart" role="status" aria-label="Loading the chart" />}>
      <LoadedChart {...props} />
    </Suspense>
  );
}
