import type { Static, TSchema } from 'typebox';
import { callOperation } from '../../../operations/call.ts';
import {
  type AnyOperation,
  type Operation,
  Refusal,
  type RunOperation,
} from '../../../operations/operation.ts';
import type { LocalRuntime } from '../../../operations/runtime.ts';
import { buildMcpCaller, buildOperatorCaller } from '../../../runtime/access/callers.ts';
import { getOsUserName } from '../../../runtime/access/os-user.ts';
import { isOperatorToken } from '../../../runtime/access/tokens.ts';
import type { Caller } from '../../../runtime/access/types.ts';
import type { Config } from '../../../runtime/config/index.ts';
import { OPERATOR_PERMISSIONS } from '../../../runtime/config/permissions.ts';
import { openLocalRuntime } from '../../../server/local.ts';
import { connectService, runWithContent } from '../../../server/socket-client.ts';

/** Access to the operations from a program on this machine, for as long as the program runs. */
export interface LocalOperations {
  readonly run: RunOperation;
  readonly close: () => Promise<void>;
}

export interface LocalOperationsOptions {
  /** The state folder of the service that is called if it is running. */
  readonly state_dir: string;
  /** Reads the current configuration; called if no service is running. Rejects if it is not valid. */
  readonly configuration: () => Promise<Config>;
  readonly version: string;
  /** The environment variable `SERVICE_OPERATOR_TOKEN`. */
  readonly operator_token: string | undefined;
}

/**
 * Maximum age in milliseconds of a policy that this process loaded, because without a service no process watches the
 * files.
 */
const LOCAL_MS_MAX = 2_000;

/**
 * Opens access to the operations: through the service that runs on the state folder, with its policy, sessions and
 * budgets, otherwise through a runtime of this process. The caller is an agent unless the operator token proves
 * otherwise.
 */
export function openLocalOperations(options: LocalOperationsOptions): LocalOperations {
  let local: { readonly runtime: Promise<LocalRuntime>; readonly until_ms: number } | null = null;
  let using = 0;

  async function close(): Promise<void> {
    const closing = local;
    local = null;
    await (await closing?.runtime.catch(() => null))?.close();
  }

  /** Calls `use` with a runtime of this process, which is loaded again if the previous one is too old. */
  async function withLocalRuntime<T>(use: (runtime: LocalRuntime) => Promise<T>): Promise<T> {
    if (local !== null && Date.now() > local.until_ms && using === 0) await close();
    local ??= {
      runtime: options.configuration().then((config) => openLocalRuntime(config, options.version)),
      until_ms: Date.now() + LOCAL_MS_MAX,
    };
    using += 1;
    try {
      return await use(await local.runtime);
    } finally {
      using -= 1;
    }
  }

  return {
    run: async (operation, input) => {
      const caller = getCaller(operation, options.state_dir, options.operator_token);
      const answered = await callRunningService(operation, input, caller, options);
      if (answered !== null) return answered.value;
      if (operation.needs === 'live' || operation.needs === 'owner')
        throw new Refusal(
          'unavailable',
          'No service runs on this machine: start one with `customshouse serve`, or name its configuration with `customshouse mcp --config`.',
        );
      return withLocalRuntime((runtime) =>
        callOperation(operation, input, { runtime, caller, request_id: 'mcp' }),
      );
    },
    close,
  };
}

/**
 * Calls an operation of the running service; `null` if none runs. Only a caller who has proved to be an operator uses the
 * socket of operators.
 */
async function callRunningService<Input extends TSchema, Output extends TSchema>(
  operation: Operation<Input, Output>,
  input: Static<Input>,
  caller: Caller,
  { state_dir, operator_token }: LocalOperationsOptions,
): Promise<{ readonly value: Static<Output> } | null> {
  if (caller.kind !== 'person') return runWithContent(state_dir, operation, input);
  const service = await connectService(state_dir, { token: operator_token!.trim(), user: null });
  return service === null ? null : { value: await service.run(operation, input) };
}

/** Returns the caller. Throws if the operation is only for people and the environment has no operator token. */
function getCaller(operation: AnyOperation, stateDir: string, token: string | undefined): Caller {
  const isOperator = token !== undefined && isOperatorToken(token.trim(), stateDir);
  if (isOperator) return buildOperatorCaller('operator');
  const { permission } = operation;
  if (permission === null || !OPERATOR_PERMISSIONS.includes(permission))
    return buildMcpCaller(getOsUserName(), getOsUserName());
  throw new Refusal('forbidden', token === undefined ? NO_TOKEN : WRONG_TOKEN);
}

const NO_TOKEN =
  'This needs an operator, and agents are not operators. An operator decides with `customshouse approvals` or on the page of the service; an MCP server of an operator has the operator token (`customshouse token show`) as `SERVICE_OPERATOR_TOKEN`.';
const WRONG_TOKEN =
  'This needs an operator: `SERVICE_OPERATOR_TOKEN` of this server is not the operator token of the service, which `customshouse token show` prints.';
