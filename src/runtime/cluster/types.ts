/** The settings of a cluster that every process needs. */
export interface ClusterPolicy {
  readonly on_partition: 'block' | 'stateless';
}

/** One node, as operators see it. */
export interface NodeStatus {
  readonly node_id: string;
  readonly is_self: boolean;
  /** `live`: its lease is valid. `fenced`: it is not, and the node does not decide, or has ended without a word. */
  readonly state: (typeof NODE_STATES)[number];
  readonly version: string;
  readonly schema_step: number;
  readonly address: string | null;
  /** ISO 8601. */
  readonly started_at: string;
  readonly renewed_seconds_ago: number;
  /** `null` while the node starts. */
  readonly policy_revision: number | null;
  readonly policy_hash: string | null;
  readonly fence_count: number;
}

export const NODE_STATES = ['live', 'fenced'] as const;

/** The cluster, as one node sees it. */
export interface ClusterStatus {
  readonly node_id: string;
  readonly is_fenced: boolean;
  /** The last time at which this node read the database. ISO 8601. */
  readonly synced_at: string;
  /** The newest revision in the database; the last one that was read if it does not answer. */
  readonly policy_revision: number;
  /** Live nodes at the newest revision have different policies: their configurations differ. */
  readonly policies_differ: boolean;
  /** Empty if the database does not answer. */
  readonly nodes: readonly NodeStatus[];
}

/** The nodes on which a change is active. */
export interface ClusterActivation {
  /** The revision that contains the change. */
  readonly policy_revision: number;
  /** Live nodes. A node whose lease has ended does not decide, so it does not count. */
  readonly nodes: number;
  /** The nodes of these on which the revision is active. */
  readonly active_nodes: number;
}
