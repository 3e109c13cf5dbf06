import assert from 'node:assert/strict';
import type { Store } from '../../platform/store/index.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { START_MS, sampleEvent } from '../../runtime/audit/testing/audit-log.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { AlertRuleInput } from './rule.ts';
import type { AlertSource } from './rule-schema.ts';
import { buildBlockedEvent, openTestAlerts } from './testing/open.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer than the interval at which conditions are read, in milliseconds. */
const PAUSE_MS = 60_000;

function buildRule(source: AlertSource, fields: Partial<AlertRuleInput> = {}): AlertRuleInput {
  return { rule_id: source, name: source, source, ...fields };
}

/** Returns an allowed event of a hook. Nothing in it is a violation. */
function buildHookEvent(at: number, ms: number, fields: Partial<AuditEvent> = {}): AuditEvent {
  return sampleEvent(at, { timestamp: new Date(ms).toISOString(), session_id: 'sess-1', ...fields });
}

async function pinTool(store: Store, tool: string, firstSeenMs: number, pinned: boolean): Promise<void> {
  const none = {
    pinned_definition: null,
    quarantined_sha256: null,
    quarantined_definition: null,
    quarantined_reason: null,
    approved_by: null,
    rejected_sha256: null,
    rejected_by: null,
  };
  const key = { tenant_id: 'default', server: 'files', user_id: '', tool };
  const seen = { first_seen_ms: firstSeenMs, changed_ms: firstSeenMs };
  await store.db
    .insertInto('mcp_pins')
    .values({ ...none, ...key, ...seen, pinned_sha256: pinned ? 'sha256:1' : null })
    .execute();
}

function buildWaitingRequest(
  requestId: string,
  requestedMs: number,
  fields: { readonly agent_id: string; readonly tenant_id?: string },
) {
  return {
    ...{
      request_id: requestId,
      requested_ms: requestedMs,
      status: 'pending' as const,
      tenant_id: 'default',
      tool_name: 'pay',
    },
    ...{
      boundary: 'action' as const,
      arguments_hash: 'sha256:1',
      arguments_masked: '{}',
      arguments_bytes: 2,
      rule_proposed: 0,
    },
    ...{ rule: 'ask', rules: '[]', reason: 'Approval is needed.', data_tags: '[]', policy_hash: 'sha256:1' },
    ...{
      require_second_factor: 0,
      min_approvals: 1,
      requested_by: 'loopback',
      expires_ms: START_MS + DAY_MS,
      ...fields,
    },
  };
}

withStores('conditions of alerts', (law) => {
  law('a broken audit chain fires once, and resolves when it is whole', async ({ store }, t) => {
    const at = await openTestAlerts(t, store, [buildRule('chain_breaks'), buildRule('hooks_silent')]);
    await at.evaluate();
    assert.deepEqual(await at.alerts(), [], 'all chains are whole');
    at.shortened.push({ writer: 'worker-1', remembered_seq: 9, last_seq: 4 });
    for (let look = 0; look < 3; look += 1) {
      at.clock.now_ms += PAUSE_MS;
      await at.evaluate();
    }
    const [alert, ...more] = await at.alerts();
    assert.deepEqual(more, []);
    assert.deepEqual([alert!.rule_id, alert!.status, alert!.event_count], ['chain_breaks', 'firing', 1]);
    at.shortened.push({ writer: 'worker-2', remembered_seq: 2, last_seq: null });
    at.clock.now_ms += PAUSE_MS;
    await at.evaluate();
    assert.deepEqual(
      (await at.alerts()).map(({ event_count }) => event_count),
      [2],
      'the second chain',
    );
    at.shortened.length = 0;
    at.clock.now_ms += PAUSE_MS;
    await at.evaluate();
    assert.deepEqual(
      (await at.alerts()).map(({ status }) => status),
      ['resolved'],
    );
  });

  law(
    'a silent hook fires by agent after its time, and resolves with its next event',
    async ({ store }, t) => {
      const at = await openTestAlerts(t, store, [buildRule('hooks_silent', { after: '2h' })]);
      await at.append([
        buildHookEvent(1, START_MS, { agent_id: 'quiet' }),
        buildHookEvent(2, START_MS + HOUR_MS, { agent_id: 'busy', session_id: 'sess-2' }),
        buildHookEvent(3, START_MS, { agent_id: 'no-session', session_id: null }),
      ]);
      at.clock.now_ms = START_MS + 2 * HOUR_MS - 1;
      await at.evaluate();
      assert.deepEqual(await at.alerts(), [], 'a millisecond too early');
      at.clock.now_ms = START_MS + 2 * HOUR_MS + PAUSE_MS;
      await at.evaluate();
      const groups = async () =>
        (await at.alerts()).map(({ group_values, status }) => [JSON.parse(group_values).agent, status]);
      assert.deepEqual(await groups(), [['quiet', 'firing']]);
      await at.append([buildHookEvent(4, at.clock.now_ms, { agent_id: 'quiet' })]);
      at.clock.now_ms += PAUSE_MS;
      await at.evaluate();
      assert.deepEqual(await groups(), [['quiet', 'resolved']]);
      at.clock.now_ms += 3 * HOUR_MS;
      await at.evaluate();
      assert.deepEqual(
        (await groups()).filter(([, status]) => status === 'firing').toSorted(),
        [
          ['busy', 'firing'],
          ['quiet', 'firing'],
        ],
        'both are silent now',
      );
      at.clock.now_ms += 28 * DAY_MS;
      await at.evaluate();
      assert.deepEqual(
        (await groups()).filter(([, status]) => status === 'firing'),
        [],
        'both are gone',
      );
    },
  );

  law('a flood of approvals hides no declared agent or other tenant', async ({ store }, t) => {
    const rule = buildRule('approvals_waiting', { after: '1m', channels: [] });
    const at = await openTestAlerts(t, store, [rule], { declared: ['payments'] });
    const flood = Array.from({ length: 1_050 }, (_none, index) =>
      buildWaitingRequest(`flood-${index}`, START_MS, { agent_id: `a-${index}` }),
    );
    const victims = [
      buildWaitingRequest('declared', START_MS + 1, { agent_id: 'Payments' }),
      buildWaitingRequest('elsewhere', START_MS + 1, { tenant_id: 'acme', agent_id: 'bot' }),
    ];
    const requests = [...flood, ...victims];
    for (let from = 0; from < requests.length; from += 500)
      await store.db
        .insertInto('approval_requests')
        .values(requests.slice(from, from + 500))
        .execute();
    at.clock.now_ms = START_MS + 10 * PAUSE_MS;
    await at.evaluate();
    const firing = async () => {
      const alerts = (await at.alerts()).filter(({ status }) => status === 'firing');
      return alerts.map(({ group_values }) => JSON.parse(group_values).request as string);
    };
    const first = await firing();
    assert.equal(first.length, 1_000);
    for (const { request_id } of victims) assert.ok(first.includes(request_id), request_id);
    at.clock.now_ms += PAUSE_MS;
    await at.evaluate();
    const all = await at.alerts();
    assert.equal(
      all.reduce((sum, { event_count }) => sum + event_count, 0),
      requests.length,
      'each request counts once',
    );
    assert.ok((await firing()).includes('(other)'));
    await store.db.updateTable('approval_requests').set({ status: 'denied' }).execute();
    at.clock.now_ms += PAUSE_MS;
    await at.evaluate();
    assert.deepEqual(await firing(), []);
  });

  law('a flood of silent agents hides no declared agent or other tenant', async ({ store }, t) => {
    const rule = buildRule('hooks_silent', { after: '2h', channels: [] });
    const at = await openTestAlerts(t, store, [rule], { declared: ['payments'] });
    const agents = [
      'payments',
      'elsewhere',
      ...Array.from({ length: 1_050 }, (_none, index) => `a-${index}`),
    ];
    await at.append(
      agents.map((agentId, index) => {
        const tenantId = agentId === 'elsewhere' ? 'acme' : 'default';
        return buildHookEvent(index + 1, START_MS + index, {
          agent_id: agentId,
          tenant_id: tenantId,
          session_id: `s-${index}`,
        });
      }),
    );
    at.clock.now_ms = START_MS + 3 * HOUR_MS;
    await at.evaluate();
    const groups = new Set((await at.alerts()).map(({ group_values }) => JSON.parse(group_values).agent));
    assert.equal(groups.size, 1_000);
    const expected = {
      payments: true,
      elsewhere: true,
      'a-1049': true,
      'a-52': true,
      'a-51': false,
      'a-0': false,
    };
    for (const [agent, fires] of Object.entries(expected)) assert.equal(groups.has(agent), fires, agent);
    at.clock.now_ms += PAUSE_MS;
    await at.evaluate();
    const counted = (await at.alerts()).reduce((sum, { event_count }) => sum + event_count, 0);
    assert.equal(counted, agents.length, 'each agent counts once');
  });

  law('a new tool fires when it is pinned, and an old or unpinned one does not', async ({ store }, t) => {
    const at = await openTestAlerts(t, store, [buildRule('tools_changed', { group_by: ['tool'] })]);
    await pinTool(store, 'before-start', START_MS - 1, true);
    await pinTool(store, 'waiting', START_MS + 1_000, false);
    await pinTool(store, 'read_file', START_MS + 1_000, true);
    at.clock.now_ms = START_MS + PAUSE_MS;
    await at.evaluate();
    const tools = async () => (await at.alerts()).map(({ group_values }) => JSON.parse(group_values).tool);
    assert.deepEqual(await tools(), ['read_file']);
    at.restart();
    at.clock.now_ms += PAUSE_MS;
    await at.evaluate();
    assert.deepEqual(
      (await at.alerts()).map(({ event_count }) => event_count),
      [1],
      'counted once',
    );
    await pinTool(store, 'hours-later', START_MS + 2_000, true);
    at.clock.now_ms = START_MS + 2 * HOUR_MS;
    await at.evaluate();
    assert.deepEqual(await tools(), ['read_file'], 'a tool of two hours ago is not new');
  });

  law('changed tools, budgets and failures are counted from their events alone', async ({ store }, t) => {
    const sources = ['tools_changed', 'budgets', 'failures', 'violations', 'service'] as const;
    const at = await openTestAlerts(
      t,
      store,
      sources.map((source) => buildRule(source)),
    );
    const counts = async () =>
      Object.fromEntries((await at.alerts()).map(({ rule_id, event_count }) => [rule_id, event_count]));
    const allowed = { decision: 'allow', action: 'allow', data_tags: [] } as const;
    await at.append([
      buildBlockedEvent(1, 1, {
        policy_name: 'service.mcp_tools',
        metadata: { phase: 'mcp_tool_quarantined' },
      }),
      buildBlockedEvent(2, 1, {
        ...allowed,
        policy_name: 'service.policy',
        metadata: { phase: 'policy_reload' },
      }),
    ]);
    assert.deepEqual(await counts(), { tools_changed: 1, service: 2 });
    await at.append([buildBlockedEvent(3, 2, { policy_name: 'budget.acme' })]);
    assert.deepEqual(await counts(), { tools_changed: 1, service: 2, budgets: 1 });
    await at.append([
      buildBlockedEvent(4, 3, { policy_name: 'service.policy', metadata: { phase: 'policy_reload' } }),
      buildBlockedEvent(5, 3, { policy_name: 'fault.core' }),
    ]);
    assert.deepEqual(await counts(), {
      tools_changed: 1,
      service: 3,
      budgets: 1,
      failures: 2,
      violations: 1,
    });
  });

  law('a rule has 1,000 groups at most, and counts the rest together', async ({ store }, t) => {
    const at = await openTestAlerts(t, store, [
      buildRule('violations', { group_by: ['agent'], window: '1h', channels: [] }),
    ]);
    await at.append(
      Array.from({ length: 1_010 }, (_none, index) =>
        buildBlockedEvent(index + 1, 1, { agent_id: `a-${index}` }),
      ),
    );
    const alerts = await at.alerts();
    const rest = alerts.filter(({ event_count }) => event_count > 1);
    assert.equal(alerts.length, 1_001);
    assert.deepEqual(
      rest.map(({ event_count }) => event_count),
      [10],
    );
  });
});
