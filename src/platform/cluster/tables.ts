import { Type } from '../../core/schema.ts';
import { count, integer, json, nullable, text, time } from '../store/columns.ts';
import { createTables, defineTable, type Rows } from '../store/define-table.ts';

declare module '../store/tables.ts' {
  interface StoreTables extends Rows<typeof clusterTables> {}
}

/** The nodes of the cluster. Times are those of the database. */
export const clusterNodes = defineTable('cluster_nodes', {
  node_id: text({ key: true, example: 'node-a' }),
  /** Names one start of the node, so that an older process with the same `node_id` cannot renew. */
  incarnation: text({ shown: false }),
  version: text({ example: '0.1.0' }),
  schema_step: integer({
    description: 'The number of migrations of the tables that its version knows.',
    example: 30,
  }),
  address: nullable(text({ description: '`cluster.address`; `null` if it is not set.' })),
  started_ms: time(),
  renewed_ms: time({ description: 'The last time at which the node had the database.' }),
  lease_until_ms: time({ shown: false }),
  policy_revision: nullable(
    count({ description: 'The revision that is active on this node; `null` while it starts.' }),
    7,
  ),
  policy_hash: nullable(text({ description: 'The compiled policy that is active on this node.' })),
  fence_count: integer({ description: 'How often it was fenced since its start.' }),
  /** Digests of the keys that all nodes share, by the names of the keys. */
  key_digests: json(Type.Record(Type.String(), Type.String()), { shown: false, example: {} }),
});

/** The nodes that do the jobs of the whole cluster. A job belongs to its node for as long as the lease of that node. */
const clusterJobs = defineTable('cluster_jobs', {
  job: text({ key: true }),
  node_id: text(),
  incarnation: text(),
  taken_ms: time(),
});

const clusterTables = [clusterJobs, clusterNodes] as const;

export const clusterMigrations = createTables('cluster', clusterTables);
