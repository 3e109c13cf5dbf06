import { type Dispatch, FOLLOW_OPERATION, HOOK_OPERATION } from '../../server/socket-server.ts';
import type { HookRequest } from './hook-request.ts';

/**
 * Runs the operations that the socket of a state folder offers. The socket server loads this module on the first
 * request.
 */
export const dispatch: Dispatch = async (name, input, context) => {
  if (name === HOOK_OPERATION) {
    const { judgeChecks } = await import('./judge-checks.ts');
    return judgeChecks(input as HookRequest, context.runtime, context.caller);
  }
  if (name === FOLLOW_OPERATION) {
    const { parseFollowRequest } = await import('../../operations/audit.ts');
    return parseFollowRequest(input, context);
  }
  const { operations } = await import('../../server/operations.ts');
  const { callOperation } = await import('../../operations/call.ts');
  const { Refusal } = await import('../../operations/operation.ts');
  const operation = operations.find((one) => one.name === name);
  if (operation === undefined) {
    throw new Refusal(
      'not_found',
      'The running service has another version without this operation. Restart the service.',
    );
  }
  return callOperation(operation, input, context);
};
