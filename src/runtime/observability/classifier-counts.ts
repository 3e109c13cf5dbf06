import type { CountClassifierCall } from '../classifiers/types.ts';
import { buildCounter, buildHistogram, type DurationCounts, type Metric, openDurations } from './metric.ts';

/** The counts of the calls to classifiers, and their metrics. */
export interface ClassifierCounts {
  readonly count: CountClassifierCall;
  /** Empty until a classifier is called. */
  readonly metrics: () => Metric[];
}

/** Upper bounds in seconds: from a rule-based scorer to a model on a busy machine. */
const BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

interface ClassifierCalls {
  readonly outcomes: Map<string, number>;
  readonly durations: DurationCounts;
}

/** Opens the counts of one process. The names come from the configuration, so their number is limited. */
export function openClassifierCounts(): ClassifierCounts {
  const called = new Map<string, ClassifierCalls>();
  return {
    count: (classifier, outcome, seconds) => {
      const calls = called.get(classifier) ?? {
        outcomes: new Map(),
        durations: openDurations(BOUNDS_SECONDS),
      };
      called.set(classifier, calls);
      calls.outcomes.set(outcome, (calls.outcomes.get(outcome) ?? 0) + 1);
      calls.durations.add(seconds);
    },
    metrics: () => (called.size === 0 ? [] : buildMetrics(called)),
  };
}

const CALLS = 'service_classifier_calls_total';
const DURATION = 'service_classifier_duration_seconds';

function buildMetrics(called: ReadonlyMap<string, ClassifierCalls>): Metric[] {
  const calls = [...called];
  return [
    buildCounter(
      CALLS,
      'Calls to classifiers, by outcome: `answered`, or the kind of failure.',
      calls.flatMap(([classifier, { outcomes }]) =>
        [...outcomes].map(([outcome, value]) => ({ value, labels: { classifier, outcome } })),
      ),
    ),
    buildHistogram(
      DURATION,
      'Duration of a call to a classifier, failed calls included.',
      calls.flatMap(([classifier, { durations }]) => durations.values(DURATION, { classifier })),
    ),
  ];
}
