import { setTimeout as sleep } from 'node:timers/promises';
import { StartFailure } from '../platform/failure.ts';
import type { DaemonHandlers } from './service.ts';
import { connectService } from './socket-client.ts';
import { type Ownership, takeOwnership } from './state-dir.ts';

/** Ends a daemon that is idle or must give up its state folder. */
export interface IdleWatch {
  readonly handlers: DaemonHandlers;
  /** Starts the idle timer. Calls `end` at most once. */
  readonly begin: (end: () => void) => void;
}

/**
 * Opens a watch that ends the daemon after `idle_ms` without a question, or when another process wants the
 * state folder.
 */
export function openIdleWatch(idle_ms: number): IdleWatch {
  let end: (() => void) | null = null;
  let is_wanted = false;
  let timer: NodeJS.Timeout | null = null;
  const leave = (): void => {
    is_wanted = true;
    if (timer !== null) clearTimeout(timer);
    // The delay lets the daemon answer the question that asked it to leave.
    if (end !== null) setTimeout(end, REPLY_TIMEOUT_MS);
    end = null;
  };
  return {
    handlers: { onRequest: () => void timer?.refresh(), onLeave: leave },
    begin: (ending) => {
      end = ending;
      if (is_wanted) leave();
      // The open socket keeps the process alive. Without the socket, there is nothing to wait for.
      else timer = setTimeout(leave, idle_ms).unref();
    },
  };
}

const REPLY_TIMEOUT_MS = 50;
const PATIENCE_MS = 15_000;
const AGAIN_MS = 50;

/**
 * Makes this process the owner of a state folder. Asks a daemon that owns the folder to leave, and waits until
 * it does.
 *
 * @throws StartFailure `state_in_use` if a service owns the folder
 */
export async function takeFromDaemon(state_dir: string): Promise<Ownership> {
  let is_leaving = false;
  for (let waited_ms = 0; ; waited_ms += AGAIN_MS) {
    try {
      return takeOwnership(state_dir);
    } catch (failure) {
      if (!(failure instanceof StartFailure) || failure.code !== 'state_in_use') throw failure;
      is_leaving ||= await requestShutdown(state_dir);
      if (!is_leaving || waited_ms >= PATIENCE_MS) throw failure;
      await sleep(AGAIN_MS);
    }
  }
}

async function requestShutdown(state_dir: string): Promise<boolean> {
  const handlers = await connectService(state_dir);
  if (handlers === null) return false;
  return handlers
    .leave()
    .catch(() => false)
    .finally(handlers.close);
}
