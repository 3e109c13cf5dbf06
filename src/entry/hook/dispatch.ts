import type { Dispatch } from '../../server/service.ts';
import type { HookRequest } from './hook-request.ts';

/** Answers the local sockets. Modules are loaded with the first request that needs them. */
export const dispatch: Dispatch = {
  judgeHook: async (request, { runtime, caller }) => {
    const { judgeChecks } = await import('./judge-checks.ts');
    return judgeChecks(request as HookRequest, runtime, caller);
  },
  parseFollowRequest: async (input, context) => {
    const { parseFollowRequest } = await import('../../operations/audit.ts');
    return parseFollowRequest(input, context);
  },
  callOperation: async (name, input, context) => {
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
  },
};
