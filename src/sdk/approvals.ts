import type { GuardBackend } from './backend.ts';
import { ApprovalRequiredError, BlockedError } from './errors.ts';
import type { GuardVerdict } from './types.ts';

/** One question to the service waits this long at most, in seconds. */
const WAIT_SECONDS_MAX = 20;
const PAUSE_MS = 200;

const NO_APPROVALS = 'A local guard cannot ask for an approval; a service can (`createClientGuard`).';

/** Returns the error of a verdict that blocks: `ApprovalRequiredError` if an approver can still agree. */
export function buildBlockError(
  verdict: GuardVerdict,
  backend: Pick<GuardBackend, 'findApproval' | 'kind'>,
  timeoutSeconds: number,
): BlockedError {
  const { approval, reason } = verdict;
  if (backend.kind === 'local' && verdict.action === 'require_approval')
    return new BlockedError({ ...verdict, reason: `${reason} ${NO_APPROVALS}` });
  if (approval === null || approval.status !== 'pending') return new BlockedError(verdict);
  const { request_id } = approval;
  return new ApprovalRequiredError(verdict, request_id, (seconds = timeoutSeconds) =>
    waitForApproval(verdict, request_id, backend, seconds),
  );
}

/** Resolves with the request's id when it is approved. The service alone decides what has expired. */
async function waitForApproval(
  verdict: GuardVerdict,
  requestId: string,
  { findApproval }: Pick<GuardBackend, 'findApproval'>,
  timeoutSeconds: number,
): Promise<string> {
  // A monotonic clock, because the clock of the machine may be changed meanwhile.
  const untilMs = performance.now() + timeoutSeconds * 1_000;
  for (;;) {
    const leftMs = Math.max(0, untilMs - performance.now());
    const seconds = Math.min(WAIT_SECONDS_MAX, Math.floor(leftMs / 1_000));
    const { status } = await findApproval(requestId, seconds).catch((error: Error) => {
      throw new BlockedError({ ...verdict, reason: error.message, rule: 'sdk.unavailable' });
    });
    if (status === 'approved') return requestId;
    if (status !== 'pending')
      throw new BlockedError({ ...verdict, reason: `The approval request ${requestId} is ${status}.` });
    if (performance.now() >= untilMs)
      throw new BlockedError({
        ...verdict,
        reason: `The approval request ${requestId} was not decided within ${timeoutSeconds} seconds.`,
      });
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
