import { constants, existsSync } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import type { Terminal } from '../../operations/cli-kit/terminal.ts';
import type { AnyOperation, Operation } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import { getPackageVersion } from '../../platform/version.ts';
import { buildOperatorCaller } from '../../runtime/access/callers.ts';
import { getOsUserName } from '../../runtime/access/os-user.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { operationCatalogue } from '../../server/operations.ts';
import { buildNotRunningFailure, callOwner } from './call-owner.ts';
import { loadCliConfig } from './load-cli-config.ts';

/** Selects an operation by value, so that a missing one does not compile. */
export type OperationSelector<Input extends TSchema, Output extends TSchema> = (
  of: typeof operationCatalogue,
) => Operation<Input, Output>;

/** An operation's input, by its constant. */
export type Input<Name extends keyof typeof operationCatalogue> = Static<
  (typeof operationCatalogue)[Name]['input']
>;

/** An operation's answer, by its constant. */
export type Answer<Name extends keyof typeof operationCatalogue> = Static<
  (typeof operationCatalogue)[Name]['output']
>;

/**
 * Calls an operation as the user of the command line, through the same `callOperation` as every transport. An operation
 * that needs a policy or the journal runs in this process. One that needs a running service runs in that service. One
 * that needs the store, plug-ins or the owner of the state folder runs in the service, or in this process if none is running.
 * @returns the operation's output; expected errors are thrown
 */
export async function runSelectedOperation<Input extends TSchema, Output extends TSchema>(
  terminal: Terminal,
  configPath: string | undefined,
  select: OperationSelector<Input, Output>,
  input: Static<Input>,
): Promise<Static<Output>> {
  const { operationCatalogue } = await import('../../server/operations.ts');
  return runOperation(terminal, configPath, select(operationCatalogue), input);
}

/** Calls an operation that the caller already has. */
export async function runOperation<Input extends TSchema, Output extends TSchema>(
  terminal: Terminal,
  configPath: string | undefined,
  operation: Operation<Input, Output>,
  input: Static<Input>,
): Promise<Static<Output>> {
  if (operation.needs === 'live')
    return callService(await loadCliConfig(terminal, configPath, 'leave'), operation, input);
  if (operation.needs === 'owner') return callOwner(terminal, configPath, operation, input);
  const { callOperation } = await import('../../operations/call.ts');
  const caller = buildOperatorCaller(`cli:${getOsUserName()}`);
  if (operation.needs === 'nothing')
    return callOperation(operation, input, { runtime: NO_RUNTIME, caller, request_id: 'cli' });
  if (operation.needs === 'store' || operation.needs === 'plugins') {
    const { connectService } = await import('../../server/socket-client.ts');
    const config = await loadCliConfig(terminal, configPath, 'leave');
    const client = await connectService(config.state_dir);
    if (client !== null) return client.run(operation, input).finally(client.close);
    if (operation.needs === 'plugins')
      return callOperation(operation, input, {
        runtime: buildPluginRuntime(config),
        caller,
        request_id: 'cli',
      });
  }
  // Reading must not create a state folder, and an empty answer from the wrong folder would look like a quiet day.
  if (operation.needs === 'journal') await requireJournal(await loadCliConfig(terminal, configPath, 'leave'));
  // Reading past decisions decides nothing, so it needs no provider credentials.
  const config = await loadCliConfig(
    terminal,
    configPath,
    operation.needs === 'journal' ? 'leave' : 'decide',
  );
  const chosen = await chooseStateFolder(operation, config);
  const { openLocalRuntime } = await import('../../server/local.ts');
  const runtime = await openLocalRuntime(chosen.config, getPackageVersion());
  try {
    return await callOperation(operation, input, { runtime, caller, request_id: 'cli' });
  } finally {
    await runtime.close();
    await chosen.remove();
  }
}

/**
 * Returns the configuration with which an operation runs. If there is no state yet, an operation that only reads gets
 * an empty temporary state folder: its answer is empty, and it creates nothing in the real one.
 */
async function chooseStateFolder(
  { name, needs, http }: AnyOperation,
  config: Config,
): Promise<{ readonly config: Config; readonly remove: () => Promise<void> }> {
  const own = { config, remove: async () => {} };
  if (needs !== 'store' || http.method !== 'GET') return own;
  const { parseStoreSettings } = await import('../../platform/store/settings.ts');
  const settings = parseStoreSettings(config);
  // A wrong folder must not hide pending approval requests.
  if (settings.kind === 'sqlite' && name.startsWith('approvals_'))
    await requireReadable(settings.path, 'store');
  const lookedAt = settings.kind === 'sqlite' ? settings.path : config.state_dir;
  if (existsSync(lookedAt)) return own;
  const stateDir = await mkdtemp(join(tmpdir(), 'service-read-'));
  const storage = settings.kind === 'sqlite' ? {} : config.storage;
  const remove = (): Promise<void> => rm(stateDir, { recursive: true, force: true });
  return { config: { ...config, state_dir: stateDir, storage }, remove };
}

/** A runtime that answers several calls of one operation. */
export interface OperationSession {
  readonly run: (input: Readonly<Record<string, unknown>>) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** Opens a session for many calls of an operation that reads the journal. */
export async function openOperationSession(
  terminal: Terminal,
  configPath: string | undefined,
  name: string,
): Promise<OperationSession> {
  const { operations } = await import('../../server/operations.ts');
  const { callOperation } = await import('../../operations/call.ts');
  const operation = operations.find((one) => one.name === name)!;
  const config = await loadCliConfig(terminal, configPath, 'leave');
  await requireJournal(config);
  const { openLocalRuntime } = await import('../../server/local.ts');
  const runtime = await openLocalRuntime(config, getPackageVersion());
  const caller = buildOperatorCaller(`cli:${getOsUserName()}`);
  return {
    run: (input) => callOperation(operation, input, { runtime, caller, request_id: 'cli' }),
    close: runtime.close,
  };
}

/** Requires a journal that this user can read. @throws CommandFailure */
export async function requireJournal({ state_dir }: Config): Promise<void> {
  const { buildStatePaths } = await import('../../server/state-dir.ts');
  await requireReadable(buildStatePaths(state_dir).journal, 'journal');
}

/** Requires that this user can read a part of the state. @throws CommandFailure if it is missing or not readable */
async function requireReadable(path: string, what: 'journal' | 'store'): Promise<void> {
  const code = await access(path, constants.R_OK).then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code,
  );
  if (code === null) return;
  const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
  const sentence = isMissing
    ? `There is no ${what} at \`${path}\`: no service has run here.`
    : `The ${what} at \`${path}\` may not be read by this user (${code}).`;
  throw new CommandFailure(EXIT.usage, isMissing ? 'not_found' : 'forbidden_file', sentence, {
    hint: isMissing
      ? 'Go to the folder of its configuration, or name that with --config.'
      : 'Run the command as the user of the service.',
  });
}

/** A runtime for operations that need nothing. Any access to it throws. */
const NO_RUNTIME = new Proxy({} as Runtime, {
  get(_nothing, property) {
    throw new Error(`the operation says that it needs nothing, and asks for \`${String(property)}\``);
  },
});

/** Returns a runtime for operations that only need the plug-ins. */
function buildPluginRuntime(config: Config): Runtime {
  const plugins = async () => (await import('../../runtime/policies/index.ts')).loadConfiguredPlugins(config);
  return Object.create(NO_RUNTIME, { plugins: { value: plugins } }) as Runtime;
}

async function callService<Input extends TSchema, Output extends TSchema>(
  config: Config,
  operation: Operation<Input, Output>,
  input: Static<Input>,
): Promise<Static<Output>> {
  const { connectService } = await import('../../server/socket-client.ts');
  const client = await connectService(config.state_dir);
  if (client === null) throw buildNotRunningFailure(config);
  try {
    return await client.run(operation, input);
  } finally {
    client.close();
  }
}
