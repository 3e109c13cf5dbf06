import { buildCounter, type Metric } from '../../runtime/observability/metric.ts';
import type { AlertSeverity } from './types.ts';

/** Counts alerts. */
export interface AlertMetrics {
  readonly countFired: (severity: AlertSeverity) => void;
  readonly list: () => readonly Metric[];
}

/** Opens the counters. The process that evaluates rules opens them. */
export function openAlertMetrics(): AlertMetrics {
  const fired = new Map<AlertSeverity, number>();
  return {
    countFired: (severity) => void fired.set(severity, (fired.get(severity) ?? 0) + 1),
    list: () => [
      buildCounter(
        'service_alerts_fired_total',
        'Alerts that fired, by severity.',
        [...fired].map(([severity, value]) => ({ value, labels: { severity } })),
      ),
    ],
  };
}
