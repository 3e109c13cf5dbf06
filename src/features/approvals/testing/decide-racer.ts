/** A racer that decides on requests, or uses the approvals that others give. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Racer } from '../../../platform/store/testing/races.ts';
import { buildOperatorCaller } from '../../../runtime/access/callers.ts';
import { ALL, openTestApprovals } from './open.ts';

/** The requests that one process changed, by the change. */
export interface Done {
  readonly approved: readonly string[];
  readonly denied: readonly string[];
  readonly cancelled: readonly string[];
  readonly consumed: readonly string[];
  /** The events that it recorded: `approval_approved apr_…`. */
  readonly events: readonly string[];
}

/** Each request and the session of the call that it is for. */
export type Requests = readonly (readonly [request_id: string, session_id: string])[];

/** The role of each process: one of each, and two that approve; three that approve and three that consume in the nightly round. */
export const ROLES: readonly ('approve' | 'deny' | 'cancel' | 'consume')[] =
  process.env.NIGHTLY === undefined
    ? ['approve', 'approve', 'deny', 'cancel', 'consume']
    : ['approve', 'approve', 'approve', 'deny', 'cancel', 'consume', 'consume', 'consume'];

/** A process that decided leaves the others a turn. Else the first process could decide on all before another gets the lock. */
const TURN_MS = 2;

/** Races in the role of the process's number. */
export default async function decide({ store, number, input }: Racer<Requests>): Promise<Done> {
  const approvalsTest = openTestApprovals(store);
  const done = {
    approved: [] as string[],
    denied: [] as string[],
    cancelled: [] as string[],
    consumed: [] as string[],
  };
  const role = ROLES[number % ROLES.length]!;
  const caller = buildOperatorCaller(`cli:racer-${number}`);
  // Each process starts at a different request, so that each of them is first sometimes.
  const begin = Math.floor((number / ROLES.length) * input.length);
  let left = [...input.slice(begin), ...input.slice(0, begin)];
  while (left.length > 0) {
    const again: (typeof left)[number][] = [];
    for (const one of left) {
      const [requestId, sessionId] = one;
      if (role === 'consume') {
        const { verdict, approval } = await approvalsTest.check({ session_id: sessionId }, requestId);
        if (verdict.decision === 'allow') done.consumed.push(requestId);
        else if (approval?.status === 'pending') again.push(one);
      } else if (role === 'cancel') {
        const { moved } = await approvalsTest.approvals.cancel(requestId, caller, ALL);
        if (!moved) continue;
        done.cancelled.push(requestId);
        await sleep(TURN_MS);
      } else {
        const stated = { request_id: requestId, vote: role, caller, approver: null, comment: null } as const;
        const { moved } = await approvalsTest.approvals.vote(stated, ALL);
        if (!moved) continue;
        (role === 'deny' ? done.denied : done.approved).push(requestId);
        await sleep(TURN_MS);
      }
    }
    left = again;
    if (left.length > 0) await sleep(20);
  }
  const events = approvalsTest.events.map(
    ({ metadata }) => `${metadata.phase} ${metadata.approval_request_id}`,
  );
  return { ...done, events };
}
