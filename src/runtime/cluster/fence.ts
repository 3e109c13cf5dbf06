import type { ClusterPolicy } from './types.ts';

/** The lease of the node, as its supervisor sends it to the workers. */
export interface NodeLease {
  /** The end of the lease by the clock of the machine (`readMachineMs`), which all its processes share. */
  readonly valid_until_ms: number;
  /** The last time at which the node read the database, in milliseconds since 1970. */
  readonly synced_ms: number;
  /** The revision that is active in all workers; `null` during the start. */
  readonly policy_revision: number | null;
  /** Live nodes at the same revision have different policies. */
  readonly policies_differ: boolean;
}

/** The state of a node that lost its lease. */
export interface FencedState {
  readonly synced_ms: number;
  /** Rules without shared state still decide (`cluster.on_partition: stateless`). */
  readonly is_stateless_allowed: boolean;
}

/** The membership of a node in its cluster, as one process knows it. */
export interface Fence {
  /** Returns the state of a fenced node; `null` while its lease is valid. A supervisor that is silent lets it end. */
  readonly findFenced: () => FencedState | null;
  readonly policyRevision: () => number | null;
  readonly getLease: () => NodeLease;
  readonly useLease: (lease: NodeLease) => void;
}

/** Returns the time since the machine started, in milliseconds. It is never set, and all processes read the same. */
export function readMachineMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

/** Opens the fence of one process with its first lease. */
export function openFence({ on_partition }: ClusterPolicy, first: NodeLease): Fence {
  let lease = first;
  const isStatelessAllowed = on_partition === 'stateless';
  return {
    findFenced: () =>
      readMachineMs() < lease.valid_until_ms
        ? null
        : { synced_ms: lease.synced_ms, is_stateless_allowed: isStatelessAllowed },
    policyRevision: () => lease.policy_revision,
    getLease: () => lease,
    useLease: (next) => {
      lease = next;
    },
  };
}
