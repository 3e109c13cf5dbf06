import type { ListedNode } from '../../platform/cluster/coordinator.ts';
import type { Fence } from '../../runtime/cluster/fence.ts';
import type { ClusterStatus, NodeStatus } from '../../runtime/cluster/types.ts';

/** Builds the status of a cluster from the rows of its nodes. */
export function buildClusterStatus({
  node_id,
  fence,
  newest_revision,
  nodes,
}: {
  readonly node_id: string;
  readonly fence: Fence;
  readonly newest_revision: number;
  readonly nodes: readonly ListedNode[];
}): ClusterStatus {
  return {
    node_id,
    is_fenced: fence.findFenced() !== null,
    synced_at: new Date(fence.getLease().synced_ms).toISOString(),
    policy_revision: newest_revision,
    policies_differ: havePoliciesThatDiffer(nodes),
    nodes: nodes.map(describeNode),
  };
}

/** Compares the policies of live nodes at the same revision. While a change spreads, revisions differ, which is no mistake. */
export function havePoliciesThatDiffer(nodes: readonly ListedNode[]): boolean {
  const live = nodes.filter(({ is_live, policy_revision }) => is_live && policy_revision !== null);
  const byRevision = Map.groupBy(live, ({ policy_revision }) => policy_revision);
  return [...byRevision.values()].some(
    (same) => new Set(same.map(({ policy_hash }) => policy_hash)).size > 1,
  );
}

function describeNode(node: ListedNode): NodeStatus {
  const { node_id, is_self, is_live, version, schema_step, address, policy_revision, policy_hash } = node;
  return {
    ...{ node_id, is_self, version, schema_step, address, policy_revision, policy_hash },
    state: is_live ? 'live' : 'fenced',
    started_at: new Date(node.started_ms).toISOString(),
    renewed_seconds_ago: Math.round(node.renewed_ago_ms / 100) / 10,
    fence_count: node.fence_count,
  };
}
