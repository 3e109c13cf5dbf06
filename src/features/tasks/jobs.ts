import type { Store } from '../../platform/store/index.ts';
import type { MaintenanceJob } from '../../platform/store/maintenance.ts';

const EVERY_MS = 60_000;
/** The time for which an expired task can still be listed. */
export const EXPIRED_TASK_KEPT_MS = 7 * 86_400_000;
const BATCH_MAX = 1_000;

interface Parts {
  readonly store: () => Promise<Store>;
  readonly ports: () => { readonly now_ms: () => number };
}

/** Builds the job that deletes old expired tasks. */
export function buildTaskJobs({ store, ports }: Parts): readonly MaintenanceJob[] {
  return [
    {
      name: 'tasks: forget tasks that have expired',
      every_ms: EVERY_MS,
      run: async () => (await deleteExpiredTasks(await store(), ports().now_ms())) === BATCH_MAX,
    },
  ];
}

/** Deletes a batch of old expired tasks and returns their number. A task never outlives its parent. */
export async function deleteExpiredTasks({ db }: Store, nowMs: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('tasks')
    .where(
      'task_id',
      'in',
      db
        .selectFrom('tasks')
        .select('task_id')
        .where('expires_ms', '<', nowMs - EXPIRED_TASK_KEPT_MS)
        .limit(BATCH_MAX),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
