import type { Log } from '../platform/log.ts';
import type { Worker } from './workers.ts';

/** An active policy and its generation number, which counts the policies since the start. */
export interface Generation {
  readonly generation: number;
  readonly hash: string;
}

/** The result of a change: the policy is active in all workers or in none. */
export type GenerationChange =
  | { readonly changed: true }
  | { readonly changed: false; readonly reason: string };

const PREPARE_MS = 20_000;
const COMMIT_MS = 5_000;

/**
 * Activates a policy in all workers or in none. First, each worker loads and checks the policy. After all have
 * done so, each activates it. `settle` runs between the two phases; if it fails, nothing changes. After
 * `settle`, the new policy is active, also in workers that restart. Resolves when no process answers with the
 * previous policy.
 */
export async function changeGeneration(options: {
  readonly next: Generation;
  readonly workers: readonly Worker[];
  readonly settle: () => Promise<void>;
  readonly log: Log;
}): Promise<GenerationChange> {
  const { next, workers, settle, log } = options;
  const prepared = await Promise.allSettled(
    workers.map((worker) => worker.call('prepare', next, PREPARE_MS)),
  );
  const refused = prepared.findIndex(({ status }) => status === 'rejected');
  if (refused >= 0) {
    await abandonGeneration(workers, next);
    const { reason } = prepared[refused] as PromiseRejectedResult;
    return {
      changed: false,
      reason: `${workers[refused]!.name} could not load it: ${(reason as Error).message}`,
    };
  }
  try {
    await settle();
  } catch (fault) {
    await abandonGeneration(workers, next);
    throw fault;
  }
  await Promise.all(workers.map((worker) => commitGeneration(worker, next, log)));
  return { changed: true };
}

async function abandonGeneration(workers: readonly Worker[], { generation }: Generation): Promise<void> {
  await Promise.allSettled(workers.map((worker) => worker.call('abandon', { generation }, COMMIT_MS)));
}

/**
 * A worker that fails to commit must not answer with the previous policy. It is killed, and its successor loads
 * the new one.
 */
async function commitGeneration(worker: Worker, { generation }: Generation, log: Log): Promise<void> {
  try {
    await worker.call('commit', { generation }, COMMIT_MS);
  } catch {
    log.error(`${worker.name} did not take the new policy, and is ended`, { generation });
    await worker.kill();
  }
}
