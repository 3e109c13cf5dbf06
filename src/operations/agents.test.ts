import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOOPBACK_CALLER } from '../runtime/access/callers.ts';
import type { User } from '../runtime/access/types.ts';
import type { ActivityQuery } from '../runtime/audit/activity.ts';
import type { AuditEvent, AuditFilter } from '../runtime/audit/types.ts';
import { observeAgent, observeAgents, observeSession, observeSessions } from './agents.ts';
import { callOperation } from './call.ts';
import { testRuntime } from './testing/runtime.ts';

const USERS: readonly User[] = [
  { user_id: 'ann', role: 'auditor', tenants: ['acme', 'globex'] },
  { user_id: 'bill', role: 'billing', tenants: ['*'] },
];
const OBSERVING = [
  [observeAgents, {}],
  [observeAgent, { agent_id: 'a' }],
  [observeSessions, {}],
  [observeSession, { session_id: 's' }],
] as const;

test('a user sees what their tenants did, and of others nothing', async () => {
  const asked: ActivityQuery[] = [];
  const filters: AuditFilter[] = [];
  const { runtime } = testRuntime({
    users: USERS,
    instead: {
      activity: async (question) => {
        asked.push(question);
        return { active: [], partial: false };
      },
      queryAudit: async (filter) => {
        filters.push(filter);
        const event = {
          tenant_id: filter.tenant_id,
          agent_id: 'a',
          timestamp: filter.tenant_id,
        } as AuditEvent;
        return { events: [event], count: 1 };
      },
    },
  });
  const context = { runtime, caller: LOOPBACK_CALLER, request_id: 'test' };
  for (const [operation, input] of OBSERVING) {
    await callOperation(operation, input, { ...context, user_id: 'ann' });
    const abroad = { ...input, tenant_id: 'initech' };
    await assert.rejects(callOperation(operation, abroad, { ...context, user_id: 'ann' }), {
      code: 'forbidden',
    });
    await assert.rejects(callOperation(operation, input, { ...context, user_id: 'bill' }), {
      code: 'forbidden',
    });
    await assert.rejects(callOperation(operation, input, { ...context, user_id: null }), {
      code: 'unauthenticated',
    });
  }
  assert.deepEqual(
    asked.map(({ by, tenants }) => [by, tenants]),
    [
      ['agent_id', ['acme', 'globex']],
      ['session_id', ['acme', 'globex']],
    ],
  );
  assert.deepEqual(
    filters.map(({ tenant_id }) => tenant_id),
    ['acme', 'globex', 'acme', 'globex'],
  );
  const trace = (await callOperation(
    observeSession,
    { session_id: 's', limit: 1 },
    { ...context, user_id: 'ann' },
  )) as {
    events: AuditEvent[];
  };
  assert.deepEqual(
    trace.events.map(({ tenant_id }) => tenant_id),
    ['globex'],
    'the newest of both',
  );
});
