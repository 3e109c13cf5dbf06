import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Context } from '../../../operations/operation.ts';
import { createTestRuntime, type TestOptions } from '../../../operations/testing/runtime.ts';
import { LOOPBACK_CALLER } from '../../../runtime/access/callers.ts';
import type { User } from '../../../runtime/access/types.ts';
import { countEventsBy } from '../../../runtime/audit/event-counts.ts';
import { openIndex, openIndexer, queryIndex } from '../../../runtime/audit/index.ts';
import { listAuditSessions } from '../../../runtime/audit/session-list.ts';
import { makeAuditLog, START_MS, sampleEvent } from '../../../runtime/audit/testing/audit-log.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';

/** The time of the tests: one hour after the first event. */
export const TEST_NOW_MS = START_MS + 3_600_000;

/** The users of the tests: one of two tenants, one of one, one of all, and one who may not read events. */
export const TEST_USERS: readonly User[] = [
  { user_id: 'ann', role: 'auditor', tenants: ['acme', 'globex'] },
  { user_id: 'bob', role: 'auditor', tenants: ['globex'] },
  { user_id: 'eve', role: 'admin', tenants: ['*'] },
  { user_id: 'bill', role: 'billing', tenants: ['*'] },
];

/** Opens a runtime whose audit queries run on a real index of these events. */
export async function openIndexedRuntime(
  test: TestContext,
  events: readonly Partial<AuditEvent>[],
  options: TestOptions = {},
) {
  const trail = await makeAuditLog(test);
  const index = await openIndex({ path: join(trail.state, 'index.db') });
  test.after(() => index.close());
  const journal = await trail.open();
  for (const [at, fields] of events.entries()) await journal.append(sampleEvent(at, fields));
  await openIndexer({ index, dir: trail.dir }).sync();
  const nowMs = () => TEST_NOW_MS;
  const { runtime } = createTestRuntime({
    users: TEST_USERS,
    ...options,
    instead: {
      now_ms: nowMs,
      queryAudit: (filter) => queryIndex(index, filter, { now_ms: nowMs }),
      countEvents: (request) => countEventsBy(index, request),
      listAuditSessions: (request) => listAuditSessions(index, request),
      ...options.instead,
    },
  });
  const as = (userId: string): Context => ({
    runtime,
    caller: LOOPBACK_CALLER,
    request_id: 'test',
    user_id: userId,
  });
  return { runtime, index, as };
}
