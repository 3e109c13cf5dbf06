import type { ReloadReport } from '../runtime/policies/reload-report.ts';
import type { ParentMethods } from './rpc-methods.ts';
import type { Coordinator } from './runtime.ts';

/** Returns the methods of the supervisor that a worker can call over RPC. */
export function buildParentMethods(
  coordinator: Coordinator,
  reload: (callerId: string) => Promise<ReloadReport>,
  events: ParentMethods['events'],
): ParentMethods {
  return {
    events,
    ready: coordinator.ready,
    reload_failure: coordinator.reloadFailure,
    activate_keys: async () => {
      await coordinator.activateKeys();
      return { activated: true };
    },
    metrics: coordinator.metrics,
    agents: coordinator.agents,
    processes: coordinator.processes,
    plugins: coordinator.plugins,
    cluster: coordinator.cluster,
    await_active: coordinator.awaitActive,
    publish: async (hint) => {
      await coordinator.publish(hint);
      return { published: true };
    },
    reload: ({ caller_id }) => reload(caller_id),
    erase_actions: coordinator.eraseActions,
    sync_index: async () => {
      await coordinator.syncIndex();
      return { synced: true };
    },
  };
}
