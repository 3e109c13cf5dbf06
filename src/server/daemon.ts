import { setTimeout as sleep } from 'node:timers/promises';
import { StartFailure } from '../platform/failure.ts';
import { connectService } from './socket-client.ts';
import type { DaemonHandlers } from './socket-server.ts';
import { type Ownership, takeOwnership } from './state-dir.ts';

/** What ends a resident process that is of no use any more. */
export interface IdleWatch {
  readonly handlers: DaemonHandlers;
  /** From here on it is watched; `end` is called once, or not at all. */
  readonly begin: (end: () => void) => void;
}

/** Watches for a process that nobody has asked anything for `idle_ms`, and for those who want its place. */
export function openIdleWatch(idle_ms: number): IdleWatch {
  let end: (() => void) | null = null;
  let is_wanted = false;
  let timer: NodeJS.Timeout | null = null;
  const leave = (): void => {
    is_wanted = true;
    if (timer !== null) clearTimeout(timer);
    // The question that said so is answered first.
    if (end !== null) setTimeout(end, ANSWER_MS);
    end = null;
  };
  return {
    handlers: { onQuestion: () => void timer?.refresh(), onLeave: leave },
    begin: (ending) => {
      end = ending;
      if (is_wanted) leave();
      // The socket keeps the process; without it there is nothing to wait for.
      else timer = setTimeout(leave, idle_ms).unref();
    },
  };
}

const ANSWER_MS = 50;
const PATIENCE_MS = 15_000;
const AGAIN_MS = 50;

/**
 * Makes this process the owner of a state folder; a resident process that has it is asked to leave, and waited for.
 *
 * @throws StartFailure `state_in_use` where a service has it
 */
export async function takeFromDaemon(state_dir: string): Promise<Ownership> {
  let is_leaving = false;
  for (let waited_ms = 0; ; waited_ms += AGAIN_MS) {
    try {
      return takeOwnership(state_dir);
    } catch (failure) {
      if (!(failure instanceof StartFailure) || failure.code !== 'state_in_use') throw failure;
      is_leaving ||= await askToLeave(state_dir);
      if (!is_leaving || waited_ms >= PATIENCE_MS) throw failure;
      await sleep(AGAIN_MS);
    }
  }
}

async function askToLeave(state_dir: string): Promise<boolean> {
  const handlers = await connectService(state_dir);
  if (handlers === null) return false;
  return handlers
    .leave()
    .catch(() => false)
    .finally(handlers.close);
}
