import type { Log } from '../../../platform/log.ts';
import { describeStoreFault } from '../../../platform/store/lazy.ts';
import type { MaintenanceJob } from '../../../platform/store/maintenance.ts';
import type { Config } from '../../config/index.ts';
import { deleteOldRequests, expireRequests } from './expiry.ts';
import { deliverWebhooks } from './outbox.ts';
import { type ApprovalsEnvironment, buildApprovalsParts } from './parts.ts';

const END_MS = 5_000;
const FORGET_MS = 600_000;
const DELIVER_MS = 1_000;

type Ground = ApprovalsEnvironment & { readonly log: Pick<Log, 'error' | 'warn'> };

/** Builds the maintenance jobs of approvals: expire requests, and delete old ones. */
export function buildApprovalJobs(ground: Ground): readonly MaintenanceJob[] {
  const parts = buildApprovalsParts(ground, (what, fault) =>
    ground.log.error(what, fault === undefined ? {} : describeStoreFault(fault)),
  );
  return [
    { name: 'approvals: end what has run out', every_ms: END_MS, run: () => expireRequests(parts) },
    { name: 'approvals: forget what is old', every_ms: FORGET_MS, run: () => deleteOldRequests(parts) },
  ];
}

/**
 * Builds the jobs that deliver webhooks. They wait for another machine, so they run apart from all other jobs.
 */
export function buildApprovalDeliveryJobs(
  ground: Ground & { readonly config: Pick<Config, 'approvals'> },
): readonly MaintenanceJob[] {
  const { webhook } = ground.config.approvals;
  if (webhook === undefined) return [];
  const { store, ports, log } = ground;
  const run = () => deliverWebhooks({ store, now_ms: () => ports().now_ms(), webhook, log });
  return [{ name: 'approvals: tell the webhook', every_ms: DELIVER_MS, run }];
}
