import type { WireUsage } from '../../core/wire/wire-format.ts';
import { limitNames } from './labels.ts';
import {
  buildCounter,
  buildGauge,
  buildHistogram,
  type DurationCounts,
  type Metric,
  type MetricValue,
  openDurations,
} from './metric.ts';

/** Counts calls to providers, for Prometheus. Its methods never throw and never block. */
export interface CallCounts {
  /** Counts an attempt that received response headers, or none (`null`), after this many seconds. */
  readonly tried: (provider: string, status: number | null, seconds: number) => void;
  /** Counts a finished call. The seconds include failed attempts. */
  readonly finished: (provider: string, seconds: number) => void;
  /** Counts a further attempt after a failed one. */
  readonly retried: (provider: string) => void;
  readonly breaker: (provider: string, state: BreakerState) => void;
  /** Counts the usage and cost that were charged for a call. */
  readonly spent: (provider: string, model: string, usage: WireUsage, microUsd: number) => void;
  /** Counts a budget that passed its warning threshold, or rejected a call. */
  readonly budget: (name: string, event: 'warning' | 'refusal') => void;
}

export type BreakerState = 'closed' | 'half_open' | 'open';

/** The counts, and their metrics. */
export interface OpenCallCounts {
  readonly counts: CallCounts;
  readonly metrics: () => Metric[];
}

/** Upper bounds in seconds: from a local provider to a long response. */
const BOUNDS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const PROVIDERS_MAX = 100;
const MODELS_MAX = 200;
const BUDGETS_MAX = 200;
const BREAKER_STATES: Readonly<Record<BreakerState, number>> = { closed: 0, half_open: 1, open: 2 };
const MICRO = 1_000_000;

/** Opens the counts of one process. Names beyond the limits are counted together as `other`. */
export function openCallCounts(): OpenCallCounts {
  const providerLabel = limitNames(PROVIDERS_MAX);
  const modelLabel = limitNames(MODELS_MAX);
  const budgetLabel = limitNames(BUDGETS_MAX);
  const requests = createSeries();
  const retries = createSeries();
  const tokens = createSeries();
  const cost = createSeries();
  const budgets = createSeries();
  const breakers = createSeries();
  const firstByte = new Map<string, DurationCounts>();
  const whole = new Map<string, DurationCounts>();
  return {
    counts: {
      tried: (name, status, seconds) => {
        const provider = providerLabel(name);
        requests.add({ provider, status: getStatusClass(status) }, 1);
        if (status !== null) getTimes(firstByte, provider).add(seconds);
      },
      finished: (name, seconds) => getTimes(whole, providerLabel(name)).add(seconds),
      retried: (name) => retries.add({ provider: providerLabel(name) }, 1),
      breaker: (name, state) => breakers.set({ provider: providerLabel(name) }, BREAKER_STATES[state]),
      spent: (name, modelName, usage, microUsd) => {
        const of = { provider: providerLabel(name), model: modelLabel(modelName) };
        for (const [kind, count] of Object.entries(getKinds(usage))) tokens.add({ ...of, kind }, count);
        cost.add(of, microUsd / MICRO);
      },
      budget: (name, event) => budgets.add({ budget: budgetLabel(name), event }, 1),
    },
    metrics: () => [
      buildCounter(
        'service_upstream_requests_total',
        'Tries at providers, by the class of status.',
        requests.values(),
      ),
      buildTimesMetric(
        'service_upstream_first_byte_seconds',
        'From a try to the headers of its answer.',
        firstByte,
      ),
      buildTimesMetric(
        'service_upstream_duration_seconds',
        'From sending a call to the end of its answer, failed tries included.',
        whole,
      ),
      buildCounter('service_upstream_retries_total', 'Tries after one that failed.', retries.values()),
      buildGauge('service_upstream_breaker_state', BREAKER_HELP, breakers.values(), 'max'),
      buildCounter('service_tokens_total', TOKENS_HELP, tokens.values()),
      buildCounter(
        'service_cost_usd_total',
        'Cost of calls to model providers, in US dollars.',
        cost.values(),
      ),
      buildCounter('service_budget_events_total', 'Budgets that warned or refused.', budgets.values()),
    ],
  };
}

const BREAKER_HELP =
  'State of the circuit breaker of a provider: 0 closed, 1 half-open, 2 open. Of several processes the worst.';
const TOKENS_HELP =
  'Tokens of calls to providers. Each is of one kind: `input` has none of those from or for the cache.';

/** Returns the class of a status: `2xx`, `4xx`, `429`, `5xx`; `none` without a response. */
function getStatusClass(status: number | null): string {
  if (status === null) return 'none';
  return status === TOO_MANY ? String(status) : `${Math.trunc(status / 100)}xx`;
}

/** Counted separately, because it calls for a higher quota and not for a different request. */
const TOO_MANY = 429;

function getKinds(usage: WireUsage): Readonly<Record<string, number>> {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = usage;
  return {
    input: Math.max(0, input_tokens - cache_read_tokens - cache_write_tokens),
    output: output_tokens,
    cache_read: cache_read_tokens,
    cache_write: cache_write_tokens,
  };
}

interface Series {
  readonly add: (labels: MetricValue['labels'], value: number) => void;
  readonly set: (labels: MetricValue['labels'], value: number) => void;
  readonly values: () => MetricValue[];
}

function createSeries(): Series {
  const known = new Map<string, { value: number; labels: MetricValue['labels'] }>();
  const at = (labels: MetricValue['labels']): { value: number } => {
    const key = Object.values(labels).join(' ');
    const one = known.get(key) ?? { value: 0, labels };
    known.set(key, one);
    return one;
  };
  return {
    add: (labels, value) => {
      at(labels).value += value;
    },
    set: (labels, value) => {
      at(labels).value = value;
    },
    values: () => [...known.values()].map((one) => ({ ...one })),
  };
}

function getTimes(known: Map<string, DurationCounts>, provider: string): DurationCounts {
  const times = known.get(provider) ?? openDurations(BOUNDS_SECONDS);
  known.set(provider, times);
  return times;
}

function buildTimesMetric(name: string, help: string, known: ReadonlyMap<string, DurationCounts>): Metric {
  return buildHistogram(
    name,
    help,
    [...known].flatMap(([provider, times]) => times.values(name, { provider })),
  );
}
