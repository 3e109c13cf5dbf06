import { Type } from '../core/schema.ts';
import { type ClusterActivation, NODE_STATES, type NodeStatus } from '../runtime/cluster/types.ts';
import { type Context, defineOperation } from './operation.ts';

const nodeShape = Type.Object({
  node_id: Type.String(),
  is_self: Type.Boolean({ description: 'The node that answers.' }),
  state: Type.Enum(NODE_STATES, {
    description:
      '`live`: it decides. `fenced`: its lease has ended, or the node has, and it does not decide.',
  }),
  version: Type.String(),
  schema_step: Type.Integer({
    description: 'The number of migrations of the tables that its version knows.',
  }),
  address: Type.Nullable(Type.String({ description: '`cluster.address`; `null` if it is not set.' })),
  started_at: Type.String(),
  renewed_seconds_ago: Type.Number({ description: 'Since it renewed its lease.' }),
  policy_revision: Type.Nullable(
    Type.Integer({ description: 'The revision that is active on it; `null` while it starts.' }),
  ),
  policy_hash: Type.Nullable(Type.String({ description: 'The compiled policy that is active on it.' })),
  fence_count: Type.Integer({ description: 'How often it was fenced since its start.' }),
});

export const clusterStatus = defineOperation({
  name: 'cluster_status',
  summary: 'Show the nodes of the cluster',
  description:
    'Lists the nodes on this store, with the revision and the policy that is active on each. A node that has gone without a word is listed for a day. Without `cluster.enabled` there are none.',
  http: { method: 'GET', path: '/v1/cluster' },
  cli: {
    verb: 'cluster status',
    columns: {
      rows: 'nodes',
      cells: {
        NODE: 'node_id',
        STATE: 'state',
        REVISION: 'policy_revision',
        POLICY: 'policy_hash',
        RENEWED: 'renewed_seconds_ago',
        FENCED: 'fence_count',
        VERSION: 'version',
        ADDRESS: 'address',
      },
      empty:
        'No node is known: `cluster.enabled` is not set, or the database does not answer (`customshouse health`).',
    },
    notices: ({ policies_differ, is_fenced, synced_at }) => [
      ...(is_fenced ? [`This node is fenced: it had the database at ${synced_at} for the last time.`] : []),
      ...(policies_differ ? [POLICIES_DIFFER] : []),
    ],
    examples: [['customshouse cluster status', 'the nodes, and whether all have the same policy']],
  },
  permission: 'dashboard:view',
  tenants: 'all',
  for_users: 'if_named',
  needs: 'live',
  input: Type.Object({}),
  output: Type.Object({
    enabled: Type.Boolean(),
    node_id: Type.Nullable(Type.String({ description: 'The node that answers.' })),
    is_fenced: Type.Boolean({ description: 'The node that answers has no lease.' }),
    synced_at: Type.Nullable(Type.String({ description: 'The last time at which it had the database.' })),
    policy_revision: Type.Nullable(Type.Integer({ description: 'The newest revision that it knows.' })),
    policies_differ: Type.Boolean({
      description: 'Live nodes at the same revision have different policies, so their configurations differ.',
    }),
    nodes: Type.Array(nodeShape),
  }),
  example: {},
  answer: {
    enabled: false,
    node_id: null,
    is_fenced: false,
    synced_at: null,
    policy_revision: null,
    policies_differ: false,
    nodes: [],
  },
  refusals: ['unavailable'],
  async run(_input, { runtime }) {
    const status = await runtime.clusterStatus();
    if (status === null) return { enabled: false, ...NO_CLUSTER, nodes: [] };
    return { enabled: true, ...status, nodes: status.nodes.map((node: NodeStatus) => ({ ...node })) };
  },
});

const POLICIES_DIFFER =
  'The nodes have different policies at the same revision. Compare their `service.yaml` and policy files (`customshouse policy show`).';

const NO_CLUSTER = {
  node_id: null,
  is_fenced: false,
  synced_at: null,
  policy_revision: null,
  policies_differ: false,
};

/** The member of an answer that says where a change is active. */
export const activationOutput = {
  cluster: Type.Optional(
    Type.Object(
      {
        policy_revision: Type.Integer({ description: 'The revision that contains the change.' }),
        nodes: Type.Integer({ description: 'Nodes that decide now.' }),
        active_nodes: Type.Integer({ description: 'The nodes of these on which it is active already.' }),
      },
      { description: 'Only in a cluster. The answer waits up to three seconds for all nodes.' },
    ),
  ),
} as const;

/** Waits until a change is active on all nodes, and returns where it is as a member of an answer; none without a cluster. */
export async function awaitActivation({
  runtime,
}: Pick<Context, 'runtime'>): Promise<{ readonly cluster?: ClusterActivation }> {
  const cluster = await runtime.awaitClusterActive();
  return cluster === null ? {} : { cluster };
}
