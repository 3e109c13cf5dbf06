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
 * Gathers what all processes have counted. No count goes backwards: a worker that does not answer in time stands
 * with what it said last, and so do the counts of one that has ended.
 *
 * @param serving - the workers that serve now
 * @param own - the parent's own; `null` with metrics off
 * @returns writes the sum in the Prometheus text format
 */
export function openMetricsSum(serving: () => readonly Worker[], own: Metrics | null): () => Promise<string> {
  const last = new Map<Worker, MetricsSnapshot>();
  let ended: MetricsSnapshot = [];

  async function ask(worker: Worker): Promise<void> {
    const snapshot = await worker.ask('metrics', null, GATHER_MS).catch(() => null);
    if (snapshot !== null) last.set(worker, snapshot);
  }

  /** Adds up those that have ended, so that what is kept does not grow with each. */
  function settle(): void {
    const alive = new Set(serving());
    for (const [worker, snapshot] of last) {
      if (alive.has(worker)) continue;
      last.delete(worker);
      ended = sumSnapshots(ended, keepCounters(snapshot));
    }
  }

  return async () => {
    const [snapshot = null] = await Promise.all([own?.snapshot() ?? null, ...serving().map(ask)]);
    settle();
    return formatMetrics([...last.values(), ...(snapshot === null ? [] : [snapshot]), ended]);
  };
}
