import type { Log } from '../../../platform/log.ts';
import type { Chore } from '../../../platform/store/housekeeping.ts';
import { storeFields } from '../../../platform/store/lazy.ts';
import type { Config } from '../../config/index.ts';
import { deliver } from './outbox.ts';
import { approvalsParts, type Surroundings } from './parts.ts';
import { forgetOld, runOut } from './upkeep.ts';

const END_MS = 5_000;
const FORGET_MS = 600_000;
const DELIVER_MS = 1_000;

type Ground = Surroundings & { readonly log: Pick<Log, 'error' | 'warn'> };

/** What is done for approvals from time to time: ending what has run out, and forgetting what is old. */
export function approvalChores(ground: Ground): readonly Chore[] {
  const parts = approvalsParts(ground, (what, fault) =>
    ground.log.error(what, fault === undefined ? {} : storeFields(fault)),
  );
  return [
    { name: 'approvals: end what has run out', every_ms: END_MS, run: () => runOut(parts) },
    { name: 'approvals: forget what is old', every_ms: FORGET_MS, run: () => forgetOld(parts) },
  ];
}

/** Telling approvers, which waits for another machine and so keeps no other chore waiting. */
export function approvalDeliveries(
  ground: Ground & { readonly config: Pick<Config, 'approvals'> },
): readonly Chore[] {
  const { webhook } = ground.config.approvals;
  if (webhook === undefined) return [];
  const { store, ports, log } = ground;
  const run = () => deliver({ store, now_ms: () => ports().now_ms(), webhook, log });
  return [{ name: 'approvals: tell the webhook', every_ms: DELIVER_MS, run }];
}
