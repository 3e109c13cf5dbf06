import type { Registry } from 'prom-client';
import {
  DECISIONS,
  type Decision,
  type MonitoredRule,
  type Verdict,
  VIOLATION_TYPES,
} from '../../core/types/index.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import type { CountClassifierCall } from '../classifiers/types.ts';
import { type CallCounts, openCallCounts } from './call-counts.ts';
import { openClassifierCounts } from './classifier-counts.ts';
import type { Endpoint } from './endpoint.ts';
import {
  buildCounter,
  buildGauge,
  buildHistogram,
  type DurationCounts,
  type Metric,
  type MetricValue,
  openDurations,
} from './metric.ts';

/**
 * The counters of one process. Counting must cost almost nothing compared with a check. The library formats them on
 * demand.
 */
export interface Metrics {
  readonly count: (ruling: { readonly verdict: Verdict }, endpoint: Endpoint, scanSeconds: number) => void;
  /** Counts a reload that was rejected or failed. */
  readonly countFailedReload: () => void;
  /** Counts an event that the journal rejected. */
  readonly countJournalFailure: () => void;
  /** Calls to model providers, their tokens and their cost. */
  readonly calls: CallCounts;
  /** Counts a call to a classifier. */
  readonly countClassifierCall: CountClassifierCall;
  /** Returns all counts and the standard metrics of the process, as plain JSON that can be summed. */
  readonly snapshot: () => Promise<MetricsSnapshot>;
}

/** The metrics of one process in the library's JSON form. */
export type MetricsSnapshot = readonly Metric[];

/** Upper bounds in seconds: from a short clean text to the largest accepted one. */
const BUCKETS_SECONDS = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
] as const;

export interface MetricsOptions {
  readonly version: string;
  readonly mode: string;
  /** Labels that start with a count of zero. Others appear with their first check. */
  readonly endpoints?: readonly Endpoint[];
  /** Returns further metrics. Set it in one process only. */
  readonly listMore?: () => Promise<readonly Metric[]>;
}

/** Opens the counters of one process. `version` and `mode` become labels of `service_build_info`. */
export function openMetrics(about: MetricsOptions): Metrics {
  const requests = new Map<Endpoint, Record<Decision, number>>(
    (about.endpoints ?? []).map((endpoint) => [endpoint, { allow: 0, block: 0, modify: 0 }]),
  );
  const violations = new Map<string, number>(VIOLATION_TYPES.map((type) => [type, 0]));
  const monitored = new Map<string, { value: number; labels: MetricValue['labels'] }>();
  const scans = openDurations(BUCKETS_SECONDS);
  const calls = openCallCounts();
  const classifierCalls = openClassifierCounts();
  const failed = { reloads: 0, journal: 0 };
  const standard = createLazyValue(createStandardMetrics);

  return {
    count: ({ verdict }, endpoint, scanSeconds) => {
      const row = requests.get(endpoint) ?? { allow: 0, block: 0, modify: 0 };
      row[verdict.decision] += 1;
      requests.set(endpoint, row);
      for (const { type } of verdict.findings) violations.set(type, (violations.get(type) ?? 0) + 1);
      for (const { type } of verdict.violations) violations.set(type, (violations.get(type) ?? 0) + 1);
      for (const each of verdict.monitored) countMonitored(monitored, each);
      scans.add(scanSeconds);
    },
    countFailedReload: () => {
      failed.reloads += 1;
    },
    countJournalFailure: () => {
      failed.journal += 1;
    },
    calls: calls.counts,
    countClassifierCall: classifierCalls.count,
    snapshot: async () => {
      const [registry, more] = await Promise.all([standard.open(), about.listMore?.() ?? []]);
      return [
        buildRequestsMetric(requests),
        buildViolationsMetric(violations),
        buildCounter('service_monitored_total', MONITORED_HELP, [...monitored.values()]),
        buildDurationsMetric(scans),
        ...buildFailureMetrics(failed),
        ...calls.metrics(),
        ...classifierCalls.metrics(),
        ...more,
        buildMetric(about),
        ...(await registry.getMetricsAsJSON()).map((each) => ({ ...each, type: String(each.type) })),
      ];
    },
  };
}

/** Sums the snapshots of all processes in the Prometheus text format 0.0.4. */
export async function formatMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  const { AggregatorRegistry } = await loadLibrary();
  return AggregatorRegistry.aggregate(snapshots.map((each) => [...each])).metrics();
}

/** Returns the part of a snapshot that outlives its process: counters, and no gauges. */
export function keepCounters(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot.filter(({ type, aggregator }) => aggregator === 'sum' && type !== 'gauge');
}

/** Adds two snapshots, series by series. */
export function sumSnapshots(first: MetricsSnapshot, second: MetricsSnapshot): MetricsSnapshot {
  const metrics = new Map<string, Metric & { readonly values: MetricValue[] }>();
  for (const each of [...first, ...second]) {
    const known = metrics.get(each.name);
    metrics.set(each.name, { ...each, values: sumValues([...(known?.values ?? []), ...each.values]) });
  }
  return [...metrics.values()];
}

function sumValues(values: readonly MetricValue[]): MetricValue[] {
  const series = new Map<string, MetricValue>();
  for (const each of values) {
    const key = JSON.stringify([each.metricName, Object.entries(each.labels).sort()]);
    series.set(key, { ...each, value: each.value + (series.get(key)?.value ?? 0) });
  }
  return [...series.values()];
}

/** Loads the library with the first request for metrics, because neither the start nor a check needs it. */
async function loadLibrary(): Promise<typeof import('prom-client')> {
  const loaded = await import('prom-client');
  return loaded.default ?? loaded;
}

async function createStandardMetrics(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await loadLibrary();
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

function buildRequestsMetric(requests: ReadonlyMap<Endpoint, Readonly<Record<Decision, number>>>): Metric {
  const values = [...requests].flatMap(([endpoint, row]) =>
    DECISIONS.map((decision) => ({ value: row[decision], labels: { endpoint, decision } })),
  );
  return buildCounter(
    'service_requests_total',
    'Checks that were answered, by endpoint and decision.',
    values,
  );
}

const MONITORED_HELP = 'Actions that rules, contracts and identities in monitor mode would have taken.';
/** The maximum number of rules with a counter of their own; a policy has far fewer in monitor mode. */
const MONITORED_MAX = 1_000;

function countMonitored(
  monitored: Map<string, { value: number; labels: MetricValue['labels'] }>,
  { rule, action }: MonitoredRule,
): void {
  const key = `${action} ${rule}`;
  const known = monitored.get(key);
  if (known !== undefined) known.value += 1;
  else if (monitored.size < MONITORED_MAX) monitored.set(key, { value: 1, labels: { rule, action } });
}

function buildViolationsMetric(violations: ReadonlyMap<string, number>): Metric {
  const values = [...violations].map(([type, value]) => ({ value, labels: { type } }));
  return buildCounter('service_violations_total', 'Violations that checks found, by type.', values);
}

function buildDurationsMetric(scans: DurationCounts): Metric {
  const name = 'service_scan_duration_seconds';
  return buildHistogram(name, 'Duration of the scan of one text.', scans.values(name, {}));
}

function buildFailureMetrics({ reloads, journal }: { reloads: number; journal: number }): Metric[] {
  return [
    buildCounter('service_policy_reload_failures_total', 'Policy reloads that failed.', [
      { value: reloads, labels: {} },
    ]),
    buildCounter(
      'service_journal_write_failures_total',
      'Audit events that could not be written to the journal.',
      [{ value: journal, labels: {} }],
    ),
  ];
}

function buildMetric(about: Pick<MetricsOptions, 'version' | 'mode'>): Metric {
  const values = [{ value: 1, labels: { version: about.version, mode: about.mode } }];
  return buildGauge('service_build_info', 'Always 1; the labels say what runs.', values, 'first');
}
