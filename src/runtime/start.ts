import type { RunningResident, RunningService, ServiceOptions } from './serve/service.ts';
import { forkWorker, killWorker } from './serve/workers.ts';

export { StartFailure, type StartFailureCode } from './serve/failure.ts';
export type { RunningService, ServiceOptions } from './serve/service.ts';

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
    const { begin } = await import('./serve/begin.ts');
    const { url, ...service } = await begin(options, spare, started_ms);
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
export async function startResident(
  options: Omit<ServiceOptions, 'worker_url'> & { readonly idle_ms: number },
): Promise<RunningResident> {
  process.umask(0o077);
  const { begin } = await import('./serve/begin.ts');
  return begin({ ...options, worker_url: null }, null, Date.now());
}
