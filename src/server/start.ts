import { StartFailure } from '../platform/failure.ts';
import type { StartedService } from './bring-up.ts';
import type { RunningDaemon, RunningService, ServiceOptions } from './service.ts';
import { forkWorker, killWorker } from './workers.ts';

export { StartFailure, type StartFailureCode } from '../platform/failure.ts';
export type { RunningService, ServiceOptions } from './service.ts';

/**
 * Starts the service in this process and its workers: resolves when they listen. Takes SIGTERM and SIGINT as
 * the sign to stop, SIGHUP as the sign to reload.
 *
 * @throws StartFailure which says what to do
 */
export async function startService(
  options: ServiceOptions & { readonly worker_url: URL },
): Promise<RunningService> {
  // Files that anyone makes from here on, libraries too, are for this user alone.
  process.umask(0o077);
  const started_ms = Date.now();
  // Loading its program takes a worker longer than anything here, so that it begins before all else is loaded.
  const spare = forkWorker(options.worker_url);
  try {
    const { bringUpService } = await import('./bring-up.ts');
    const { url, ...service } = await inTime(bringUpService(options, spare, started_ms));
    return { ...service, url: url! };
  } catch (failure) {
    await killWorker(spare);
    throw failure;
  }
}

/**
 * Starts the owner of a state folder that answers hooks and the command line over its socket, and nothing else. It ends
 * by itself when nobody has asked it anything for `idle_ms`, and when a service wants the folder.
 *
 * @throws StartFailure `state_in_use` where somebody has the folder, and the like
 */
export async function startDaemon(
  options: Omit<ServiceOptions, 'worker_url'> & { readonly idle_ms: number },
): Promise<RunningDaemon> {
  process.umask(0o077);
  const { bringUpService } = await import('./bring-up.ts');
  return inTime(bringUpService({ ...options, worker_url: null }, null, Date.now()));
}

/** A start takes a second; a store, a plug-in or a file system that hangs must not look like one for ever. */
const START_MS_MAX = 120_000;

/** Gives up a start that takes too long, and stops what comes of it after all. */
async function inTime(starting: Promise<StartedService>): Promise<StartedService> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const sentence = `The service did not start within ${START_MS_MAX / 1_000} seconds. Check the state folder and the store.`;
    late.reject(new StartFailure('start_too_slow', sentence));
    starting.then((service) => service.stop()).catch(() => {});
  }, START_MS_MAX);
  try {
    return await Promise.race([starting, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
