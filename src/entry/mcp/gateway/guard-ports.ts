import type { GuardPorts } from '../../../gateways/mcp/policy-guard.ts';
import type { RunOperation } from '../../../operations/operation.ts';

/** Builds the guard's ports over an operation runner. Features' operations are loaded with the first call. */
export function buildGuardPorts(run: RunOperation): GuardPorts {
  const load = () => import('../../../server/feature-operations.ts');
  return {
    run,
    checkTools: async (list) => run((await load()).mcpToolsCheck, list),
    waitForApproval: async (requestId) =>
      void (await run((await load()).approvalsShow, { request_id: requestId, wait: '30s' })),
    cancelApproval: async (requestId) =>
      void (await run((await load()).approvalsCancel, { request_id: requestId })),
  };
}
