import { randomBytes } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Row } from '../store/define-table.ts';
import type { Store } from '../store/index.ts';
import type { clusterNodes } from './tables.ts';

type NodeRow = Row<typeof clusterNodes>;

/** The duration of a lease, in milliseconds. A node without a valid lease does not decide. */
export const LEASE_MS = 1_000;
/** The rows of nodes that have gone are kept this long, in milliseconds. */
const FORGET_MS = 86_400_000;

/** A node as it joins. */
export interface JoiningNode
  extends Pick<NodeRow, 'node_id' | 'version' | 'schema_step' | 'address' | 'key_digests'> {}

/** The state that a node publishes when it renews its lease. */
export type NodeReport = Pick<NodeRow, 'policy_revision' | 'policy_hash' | 'fence_count'>;

/** A node of the cluster, and whether its lease is valid now. */
export interface ListedNode extends NodeRow {
  readonly is_live: boolean;
  /** It is the process that asks. */
  readonly is_self: boolean;
  /** The time since its last renewal, in milliseconds, by the clock of the database. */
  readonly renewed_ago_ms: number;
}

/**
 * The lease of one node, and the jobs that the nodes share. All times are those of the database, so that clocks of nodes
 * need not agree. All methods reject with a StoreFailure if the database does not answer.
 */
export interface ClusterCoordinator {
  /** Takes the name of the node. Returns `false` while another process has it. */
  readonly join: () => Promise<boolean>;
  /** Renews the lease. Returns `false` if another process has taken the name since. */
  readonly renew: (report: NodeReport) => Promise<boolean>;
  /** Returns whether this node does the job now. A job changes its node only when the lease of that node has ended. */
  readonly takeJob: (job: string) => Promise<boolean>;
  readonly listNodes: () => Promise<readonly ListedNode[]>;
  /** Ends the lease, so that jobs and the name are free at once. */
  readonly leave: () => Promise<void>;
}

/** Opens the coordinator of one node on a store that all nodes share. */
export function openStoreCoordinator({ db, kind }: Store, node: JoiningNode): ClusterCoordinator {
  const { node_id } = node;
  const incarnation = randomBytes(12).toString('hex');
  const nowMs = NOW_MS[kind];
  const leaseUntilMs = sql<number>`${nowMs} + ${sql.lit(LEASE_MS)}`;
  const own = db
    .updateTable('cluster_nodes')
    .where('node_id', '=', node_id)
    .where('incarnation', '=', incarnation);
  return {
    join: async () => {
      const times = { started_ms: nowMs, renewed_ms: nowMs, lease_until_ms: leaseUntilMs };
      const state = { policy_revision: null, policy_hash: null, fence_count: 0 };
      const row = { ...node, incarnation, ...times, ...state };
      await db
        .deleteFrom('cluster_nodes')
        .where('lease_until_ms', '<', sql<number>`${nowMs} - ${sql.lit(FORGET_MS)}`)
        .execute();
      const { numInsertedOrUpdatedRows: count = 0n } = await db
        .insertInto('cluster_nodes')
        .values(row)
        .onConflict((conflict) =>
          conflict.column('node_id').doUpdateSet(row).where('cluster_nodes.lease_until_ms', '<=', nowMs),
        )
        .executeTakeFirst();
      return count > 0n;
    },
    renew: async (report) => {
      const changed = await own
        .set({ ...report, renewed_ms: nowMs, lease_until_ms: leaseUntilMs })
        .executeTakeFirst();
      return changed.numUpdatedRows === 1n;
    },
    takeJob: async (job) => {
      const taken = { node_id, incarnation, taken_ms: nowMs };
      const { numInsertedOrUpdatedRows: count = 0n } = await db
        .insertInto('cluster_jobs')
        .columns(['job', 'node_id', 'incarnation', 'taken_ms'])
        .expression((eb) =>
          // A node without a lease takes nothing.
          eb
            .selectFrom('cluster_nodes')
            .select([
              sql<string>`cast(${job} as text)`.as('job'),
              'cluster_nodes.node_id',
              'cluster_nodes.incarnation',
              nowMs.as('taken_ms'),
            ])
            .where('cluster_nodes.node_id', '=', node_id)
            .where('cluster_nodes.incarnation', '=', incarnation)
            .where('cluster_nodes.lease_until_ms', '>', nowMs),
        )
        .onConflict((conflict) =>
          conflict
            .column('job')
            .doUpdateSet(taken)
            .where((eb) =>
              eb.not(
                eb.exists(
                  eb
                    .selectFrom('cluster_nodes as holder')
                    .select('holder.node_id')
                    .whereRef('holder.node_id', '=', 'cluster_jobs.node_id')
                    .whereRef('holder.incarnation', '=', 'cluster_jobs.incarnation')
                    .where('holder.incarnation', '!=', incarnation)
                    .where('holder.lease_until_ms', '>', nowMs),
                ),
              ),
            ),
        )
        .executeTakeFirst();
      return count > 0n;
    },
    listNodes: async () => {
      const rows = await db
        .selectFrom('cluster_nodes')
        .selectAll()
        .select(nowMs.as('now_ms'))
        .orderBy('node_id')
        .execute();
      return rows.map(({ now_ms, ...row }) => ({
        ...row,
        is_live: row.lease_until_ms > now_ms,
        is_self: row.incarnation === incarnation,
        renewed_ago_ms: Math.max(0, now_ms - row.renewed_ms),
      }));
    },
    leave: async () => {
      await db
        .deleteFrom('cluster_nodes')
        .where('node_id', '=', node_id)
        .where('incarnation', '=', incarnation)
        .execute();
    },
  };
}

/** The clock of the database, in milliseconds since 1970. It runs on within a transaction. */
const NOW_MS: Readonly<Record<Store['kind'], RawBuilder<number>>> = {
  postgres: sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  sqlite: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
};
