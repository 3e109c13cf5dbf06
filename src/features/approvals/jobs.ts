import type { Log } from '../../platform/log.ts';
import type { OutboxQueue } from '../../platform/outbox/deliver.ts';
import { describeStoreFault } from '../../platform/store/lazy.ts';
import type { MaintenanceJob } from '../../platform/store/maintenance.ts';
import type { Config } from '../../runtime/config/index.ts';
import { deleteOldRequests, expireRequests } from './expiry.ts';
import { deleteOldGrants } from './grants.ts';
import { buildApprovalQueue } from './outbox.ts';
import { type ApprovalsEnvironment, type ApprovalsParts, buildApprovalsParts } from './parts.ts';

const END_MS = 5_000;
const FORGET_MS = 600_000;

type Ground = ApprovalsEnvironment & { readonly log: Pick<Log, 'error' | 'warn'> };

/** Builds the maintenance jobs of approvals: expire requests, and delete old ones. */
export function buildApprovalJobs(ground: Ground): readonly MaintenanceJob[] {
  const parts = buildApprovalsParts(ground, (what, fault) =>
    ground.log.error(what, fault === undefined ? {} : describeStoreFault(fault)),
  );
  return [
    { name: 'approvals: end what has run out', every_ms: END_MS, run: () => expireRequests(parts) },
    { name: 'approvals: forget what is old', every_ms: FORGET_MS, run: () => deleteOld(parts) },
  ];
}

async function deleteOld(parts: ApprovalsParts): Promise<boolean> {
  const hasMoreGrants = await deleteOldGrants(parts);
  return (await deleteOldRequests(parts)) || hasMoreGrants;
}

/** Returns the queue of the outbox that sends to the webhook; none if no webhook is configured. */
export function buildApprovalQueues({
  config,
  ports,
}: Pick<Ground, 'ports'> & { readonly config: Pick<Config, 'approvals'> }): readonly OutboxQueue[] {
  const { webhook } = config.approvals;
  return webhook === undefined ? [] : [buildApprovalQueue(webhook, () => ports().now_ms())];
}
