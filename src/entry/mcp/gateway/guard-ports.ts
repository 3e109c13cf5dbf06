import type { GuardPorts } from '../../../gateways/mcp/policy-guard.ts';
import type { RunOperation } from '../../../operations/operation.ts';

/** Builds the guard's ports over an operation runner. Features' operations are loaded with the first call. */
export function buildGuardPorts(run: RunOperation): GuardPorts {
  const load = () => import('../../../server/feature-operations.ts');
  return {
    run,
    checkTools: async (list) => run((await load()).mcpToolsCheck, list),
    waitForApproval: async (request_id) =>
      void (await run((await load()).approvalsShow, { request_id, wait: '30s' })),
    cancelApproval: async (request_id) => void (await run((await load()).approvalsCancel, { request_id })),
  };
}
