import { buildCounter, buildGauge, type Metric } from '../../runtime/observability/metric.ts';

/** The state of one node, for its metrics. */
export interface ClusterFigures {
  /** `null` if the database does not answer. */
  readonly live_nodes: number | null;
  readonly lease_age_ms: number;
  readonly revision_lag: number;
  readonly staleness_ms: number;
  readonly is_fenced: boolean;
  readonly fence_count: number;
}

/** Builds the metrics `service_cluster_*` of one node. */
export function buildClusterMetrics(figures: ClusterFigures): readonly Metric[] {
  const gauge = (name: string, help: string, value: number) =>
    buildGauge(`service_cluster_${name}`, help, [{ value, labels: {} }], 'max');
  const { live_nodes } = figures;
  return [
    ...(live_nodes === null ? [] : [gauge('nodes', 'Nodes with a valid lease.', live_nodes)]),
    gauge(
      'lease_age_seconds',
      'Time since this node renewed its lease.',
      Math.max(0, figures.lease_age_ms) / 1_000,
    ),
    gauge(
      'revision_lag',
      'Changes of policy, keys and blocked agents that are not active on this node yet.',
      figures.revision_lag,
    ),
    gauge(
      'staleness_seconds',
      'Time since this node last knew that it had the newest revision.',
      Math.max(0, figures.staleness_ms) / 1_000,
    ),
    gauge('fenced', '1 while this node has no lease.', figures.is_fenced ? 1 : 0),
    buildCounter('service_cluster_fences_total', 'How often this node was fenced since its start.', [
      { value: figures.fence_count, labels: {} },
    ]),
  ];
}
