import type { ServiceProcesses } from '../runtime/observability/service-state.ts';
import type { Generation } from './generations.ts';
import type { Worker } from './workers.ts';

const ANSWER_MS = 1_000;

/** Lists the processes of a service. Must run in the supervisor. */
export async function listProcesses(
  { hash, generation }: Generation,
  startedMs: number,
  workers: readonly Worker[],
): Promise<ServiceProcesses> {
  return {
    policy_hash: hash,
    generation,
    supervisor: { name: 'supervisor', pid: process.pid, started_ms: startedMs, generation },
    workers: await Promise.all(
      workers.map(async (worker) => ({
        name: worker.name,
        pid: worker.pid,
        started_ms: worker.started_ms,
        generation: await worker.call('generation', null, ANSWER_MS).catch(() => null),
      })),
    ),
  };
}
