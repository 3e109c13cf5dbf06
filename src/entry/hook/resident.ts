import { startDaemon } from '../../server/start.ts';
import { dispatch } from './door.ts';

/** A resident process that nobody has asked anything for so long ends. */
const IDLE_MS = 1_800_000;

/**
 * Runs this process as the owner of a state folder that answers hooks and the command line, without HTTP. Resolves when
 * it has ended: by a signal, for want of questions, or because a service wants the folder.
 *
 * @param path - the configuration; `null` looks for it as every command does
 * @throws StartFailure `state_in_use` where the folder has an owner already, and the like
 */
export async function runResident(path: string | null, version: string): Promise<void> {
  const request = { path, env: process.env, cwd: process.cwd(), secrets: 'decide' } as const;
  const service = await startDaemon({ request, dispatch, version, idle_ms: IDLE_MS });
  await service.ended;
}
