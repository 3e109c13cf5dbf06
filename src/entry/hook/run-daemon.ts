import { startDaemon } from '../../server/start.ts';
import { dispatch } from './dispatch.ts';

/** The time without a request after which the daemon ends. */
const IDLE_MS = 1_800_000;

/**
 * Runs this process as the daemon: it owns a state folder and answers hooks and the command line, without HTTP.
 * Resolves when it has ended: by a signal, after the idle time, or because a service takes over the folder.
 *
 * @param path - the configuration; `null` searches for it as every command does
 * @throws StartFailure `state_in_use` if the folder has an owner already, or if the daemon cannot start for another
 * reason
 */
export async function runDaemon(path: string | null, version: string): Promise<void> {
  const request = { path, env: process.env, cwd: process.cwd(), secrets: 'decide' } as const;
  const service = await startDaemon({ request, dispatch, version, idle_ms: IDLE_MS });
  await service.ended;
}
