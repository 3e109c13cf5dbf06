import {
  formatMetrics,
  keepCounters,
  type Metrics,
  type MetricsSnapshot,
  sumSnapshots,
} from '../runtime/observability/metrics.ts';
import type { Worker } from './workers.ts';

const GATHER_MS = 2_000;

/**
 * Opens a function that sums the metrics of all processes. No counter decreases: a worker that misses the
 * deadline counts with its last answer, and so does a worker that has ended.
 *
 * @param serving - the workers that serve now
 * @param own - the metrics of the parent; `null` if metrics are disabled
 * @returns a function that writes the sum in the Prometheus text format
 */
export function openMetricsSum(serving: () => readonly Worker[], own: Metrics | null): () => Promise<string> {
  const last = new Map<Worker, MetricsSnapshot>();
  let ended: MetricsSnapshot = [];

  async function readWorkerMetrics(worker: Worker): Promise<void> {
    const snapshot = await worker.call('metrics', null, GATHER_MS).catch(() => null);
    if (snapshot !== null) last.set(worker, snapshot);
  }

  /** Adds up the workers that have ended, so that memory does not grow with each. */
  function settle(): void {
    const alive = new Set(serving());
    for (const [worker, snapshot] of last) {
      if (alive.has(worker)) continue;
      last.delete(worker);
      ended = sumSnapshots(ended, keepCounters(snapshot));
    }
  }

  return async () => {
    const [snapshot = null] = await Promise.all([
      own?.snapshot() ?? null,
      ...serving().map(readWorkerMetrics),
    ]);
    settle();
    return formatMetrics([...last.values(), ...(snapshot === null ? [] : [snapshot]), ended]);
  };
}
