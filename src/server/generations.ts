import type { Log } from '../platform/log.ts';
import type { Worker } from './workers.ts';

/** A policy in force, and how many came before it since the start. */
export interface Generation {
  readonly generation: number;
  readonly hash: string;
}

/** What became of a change: in force everywhere, or nowhere. */
export type GenerationChange =
  | { readonly changed: true }
  | { readonly changed: false; readonly reason: string };

const PREPARE_MS = 20_000;
const COMMIT_MS = 5_000;

/**
 * Puts a policy in force in all workers or in none. First each loads and checks it; only when all have it, each
 * is told to use it. `settle` runs between the two, and nothing changes when it fails; once it has run the new
 * one counts, also for a worker that is started again. Resolves when no process answers by the old policy any more.
 */
export async function changeGeneration(options: {
  readonly next: Generation;
  readonly workers: readonly Worker[];
  readonly settle: () => Promise<void>;
  readonly log: Log;
}): Promise<GenerationChange> {
  const { next, workers, settle, log } = options;
  const prepared = await Promise.allSettled(workers.map((worker) => worker.ask('prepare', next, PREPARE_MS)));
  const refused = prepared.findIndex(({ status }) => status === 'rejected');
  if (refused >= 0) {
    await abandon(workers, next);
    const { reason } = prepared[refused] as PromiseRejectedResult;
    return {
      changed: false,
      reason: `${workers[refused]!.name} could not load it: ${(reason as Error).message}`,
    };
  }
  try {
    await settle();
  } catch (fault) {
    await abandon(workers, next);
    throw fault;
  }
  await Promise.all(workers.map((worker) => commit(worker, next, log)));
  return { changed: true };
}

async function abandon(workers: readonly Worker[], { generation }: Generation): Promise<void> {
  await Promise.allSettled(workers.map((worker) => worker.ask('abandon', { generation }, COMMIT_MS)));
}

/** A worker that does not follow must not go on by the old policy: it is ended, and its successor has the new one. */
async function commit(worker: Worker, { generation }: Generation, log: Log): Promise<void> {
  try {
    await worker.ask('commit', { generation }, COMMIT_MS);
  } catch {
    log.error(`${worker.name} did not take the new policy, and is ended`, { generation });
    await worker.kill();
  }
}
