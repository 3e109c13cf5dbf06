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
 * Opens a watch that ends the daemon after `idleMs` without a question, or when another process wants the
 * state folder.
 */
export function openIdleWatch(idleMs: number): IdleWatch {
  let end: (() => void) | null = null;
  let isWanted = false;
  let timer: NodeJS.Timeout | null = null;
  const leave = (): void => {
    isWanted = true;
    if (timer !== null) clearTimeout(timer);
    // The delay lets the daemon answer the question that asked it to leave.
    if (end !== null) setTimeout(end, REPLY_TIMEOUT_MS);
    end = null;
  };
  return {
    handlers: { onRequest: () => void timer?.refresh(), onLeave: leave },
    begin: (ending) => {
      end = ending;
      if (isWanted) leave();
      // The open socket keeps the process alive. Without the socket, there is nothing to wait for.
      else timer = setTimeout(leave, idleMs).unref();
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
export async function takeFromDaemon(stateDir: string): Promise<Ownership> {
  let isLeaving = false;
  for (let waitedMs = 0; ; waitedMs += AGAIN_MS) {
    try {
      return takeOwnership(stateDir);
    } catch (failure) {
      if (!(failure instanceof StartFailure) || failure.code !== 'state_in_use') throw failure;
      isLeaving ||= await requestShutdown(stateDir);
      if (!isLeaving || waitedMs >= PATIENCE_MS) throw failure;
      await sleep(AGAIN_MS);
    }
  }
}

async function requestShutdown(stateDir: string): Promise<boolean> {
  const handlers = await connectService(stateDir);
  if (handlers === null) return false;
  return handlers
    .leave()
    .catch(() => false)
    .finally(handlers.close);
}
