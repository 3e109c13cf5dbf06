import type { Store } from '../../platform/store/index.ts';
import type { Config } from '../../runtime/config/index.ts';
import { checkReceivers } from '../../runtime/observability/driver-checks.ts';
import type { DriverState } from '../../runtime/observability/service-state.ts';
import { APPROVAL_QUEUE } from './outbox.ts';

/** Reports on the webhook, if there is one. */
export async function listApprovalDrivers(
  { approvals: { webhook } }: Pick<Config, 'approvals'>,
  store: () => Promise<Store>,
): Promise<readonly DriverState[]> {
  if (webhook === undefined) return [];
  const about = { kind: 'approval_webhook', name: 'approvals.webhook', driver: 'webhook' } as const;
  return checkReceivers(store, [{ queue: APPROVAL_QUEUE, about }]);
}
