import { StartFailure } from '../platform/failure.ts';
import type { StartedService } from './bring-up.ts';
import type { RunningDaemon, RunningService, ServiceOptions } from './service.ts';
import { forkWorker, killWorker } from './workers.ts';

export { StartFailure, type StartFailureCode } from '../platform/failure.ts';
export type { RunningService, ServiceOptions } from './service.ts';

/**
 * Starts the service in this process and its workers. Resolves when they listen. SIGTERM and SIGINT stop the
 * service, and SIGHUP reloads it.
 *
 * @throws StartFailure whose message says what to do
 */
export async function startService(
  options: ServiceOptions & { readonly worker_url: URL },
): Promise<RunningService> {
  // Files created from here on, also by libraries, are accessible to this user only.
  process.umask(0o077);
  const startedMs = Date.now();
  // The fork comes before everything else, because a worker takes the longest to load its program.
  const spare = forkWorker(options.worker_url);
  try {
    const { bringUpService } = await import('./bring-up.ts');
    const { url, ...service } = await limitTime(bringUpService(options, spare, startedMs));
    return { ...service, url: url! };
  } catch (failure) {
    await killWorker(spare);
    throw failure;
  }
}

/**
 * Starts the owner of a state folder that only answers hooks and the command line over its socket. It ends
 * after `idle_ms` without a question, or when a service needs the folder.
 *
 * @throws StartFailure, for example `state_in_use` if another process owns the folder
 */
export async function startDaemon(
  options: Omit<ServiceOptions, 'worker_url'> & { readonly idle_ms: number },
): Promise<RunningDaemon> {
  process.umask(0o077);
  const { bringUpService } = await import('./bring-up.ts');
  return limitTime(bringUpService({ ...options, worker_url: null }, null, Date.now()));
}

/**
 * The longest time for a start, in milliseconds. A start takes a second; a hanging store, plug-in or file
 * system must not block it forever.
 */
const START_MS_MAX = 120_000;

/** Rejects a start that takes too long, and stops the service if it starts later. */
async function limitTime(starting: Promise<StartedService>): Promise<StartedService> {
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
