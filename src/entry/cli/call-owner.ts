import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Static, TSchema } from 'typebox';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import type { Terminal } from '../../operations/cli-kit/terminal.ts';
import type { Operation } from '../../operations/operation.ts';
import { StartFailure } from '../../platform/failure.ts';
import { getPackageVersion } from '../../platform/version.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { RunningDaemon } from '../../server/service.ts';
import type { ServiceClient } from '../../server/socket-client.ts';
import { loadCliConfig } from './load-cli-config.ts';

const RETRY_MS = 100;
const PATIENCE_MS = 10_000;
const IDLE_MS = 60_000;

/**
 * Calls an operation in the service or daemon that owns the state folder. If none runs in a folder that was set up, this
 * process owns the folder for the time of the call, and the next hook or service finds the change there.
 *
 * @throws CommandFailure `not_running` without a configuration and a state folder, so that a wrong folder stays empty
 */
export async function callOwner<Input extends TSchema, Output extends TSchema>(
  terminal: Terminal,
  configPath: string | undefined,
  operation: Operation<Input, Output>,
  input: Static<Input>,
): Promise<Static<Output>> {
  const [{ connectService }, { readStateOwner }] = await Promise.all([
    import('../../server/socket-client.ts'),
    import('../../server/state-dir.ts'),
  ]);
  const config = await loadCliConfig(terminal, configPath, 'leave');
  const isSetUp = config.origin.file !== null || existsSync(config.state_dir);
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    const client = await connectService(config.state_dir);
    // Another command may end before this call reaches it.
    const owner = client === null ? null : readStateOwner(config.state_dir);
    if (client !== null && owner !== null && owner.is_own_call !== true)
      return client.run(operation, input).finally(client.close);
    client?.close();
    if (!isSetUp) throw buildNotRunningFailure(config);
    const daemon = await tryStart(terminal, configPath, waitedMs >= PATIENCE_MS);
    if (daemon === null) await sleep(RETRY_MS);
    else return callStarted(daemon, config, (client) => client.run(operation, input));
  }
}

async function callStarted<Answer>(
  daemon: RunningDaemon,
  { state_dir }: Config,
  call: (client: ServiceClient) => Promise<Answer>,
): Promise<Answer> {
  const { connectService } = await import('../../server/socket-client.ts');
  try {
    const client = await connectService(state_dir);
    return await call(client!).finally(client!.close);
  } finally {
    await daemon.stop();
  }
}

/** Starts a daemon in this process; `null` if another process has just taken the folder and may soon answer. */
async function tryStart(
  { env, cwd }: Terminal,
  configPath: string | undefined,
  isLast: boolean,
): Promise<RunningDaemon | null> {
  const [{ startDaemon }, { dispatch }] = await Promise.all([
    import('../../server/start.ts'),
    import('../hook/dispatch.ts'),
  ]);
  const overrides = { log_level: 'error' };
  const request = { path: configPath ?? null, env, cwd, secrets: 'decide', overrides } as const;
  try {
    return await startDaemon({
      request,
      dispatch,
      version: getPackageVersion(),
      idle_ms: IDLE_MS,
      is_own_call: true,
    });
  } catch (failure) {
    if (failure instanceof StartFailure && failure.code === 'state_in_use' && !isLast) return null;
    throw failure;
  }
}

/** Builds the failure of a command that needs a service. */
export function buildNotRunningFailure({ state_dir }: Config): CommandFailure {
  const sentence = `No service runs on the state folder \`${state_dir}\`.`;
  const hint = 'Start one with `customshouse serve`, or name its configuration with --config.';
  return new CommandFailure(EXIT.usage, 'not_running', sentence, { hint });
}
