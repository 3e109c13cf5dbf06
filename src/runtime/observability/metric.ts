/** One metric in the JSON form of the library, whose own types are incomplete. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** The function that combines the values of several processes. */
  readonly aggregator: string;
  readonly values: readonly MetricValue[];
}
export interface MetricValue {
  readonly value: number;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly metricName?: string;
}

/** Builds a counter. The values of several processes are added. */
export function buildCounter(name: string, help: string, values: readonly MetricValue[]): Metric {
  return { name, help, type: 'counter', values, aggregator: 'sum' };
}

/** Builds a gauge. With `max`, the highest value of several processes counts. */
export function buildGauge(
  name: string,
  help: string,
  values: readonly MetricValue[],
  aggregator: 'first' | 'max',
): Metric {
  return { name, help, type: 'gauge', values, aggregator };
}

/** The bucket counts of a histogram. Adding a value costs one pass over the bounds. */
export interface DurationCounts {
  readonly add: (seconds: number) => void;
  readonly values: (name: string, labels: MetricValue['labels']) => MetricValue[];
}

/** Opens the counts of a histogram with these upper bounds, in seconds. */
export function openDurations(bounds: readonly number[]): DurationCounts {
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  let count = 0;
  return {
    add: (seconds) => {
      let at = 0;
      while (at < bounds.length && seconds > bounds[at]!) at += 1;
      counts[at]! += 1;
      sum += seconds;
      count += 1;
    },
    values: (name, labels) => {
      let below = 0;
      const buckets = [...bounds, '+Inf'].map((le, at) => {
        below += counts[at]!;
        return { value: below, labels: { le, ...labels }, metricName: `${name}_bucket` };
      });
      return [
        ...buckets,
        { value: sum, labels, metricName: `${name}_sum` },
        { value: count, labels, metricName: `${name}_count` },
      ];
    },
  };
}

/** Builds a histogram from the values of `DurationCounts`. The values of several processes are added. */
export function buildHistogram(name: string, help: string, values: readonly MetricValue[]): Metric {
  return { name, help, type: 'histogram', values, aggregator: 'sum' };
}
