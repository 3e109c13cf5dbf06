import assert from 'node:assert/strict';
import { claimMessages } from '../../platform/outbox/deliver.ts';
import { createDeliveryId, enqueueMessages, QUEUE_MESSAGES_MAX } from '../../platform/outbox/messages.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { START_MS } from '../../runtime/audit/testing/audit-log.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { completeAlertRule } from './rule.ts';
import { saveAlertRule } from './rule-store.ts';
import { buildBlockedEvent, openTestAlerts } from './testing/open.ts';

const SECRETS = {
  rule_id: 'secrets',
  name: 'Secrets',
  threshold: 3,
  window: '1m',
  filters: { tags: ['secret'] },
};
const blocks = (seconds: readonly number[], from = 1, fields: Partial<AuditEvent> = {}) =>
  seconds.map((second, at) => buildBlockedEvent(from + at, second, fields));
const statuses = (alerts: readonly { readonly status: string; readonly event_count: number }[]) =>
  alerts.map(({ status, event_count }) => [status, event_count]);

withStores('alerts', (law) => {
  law('a rule fires at its threshold, once, and resolves when its window is empty', async ({ store }, t) => {
    const at = await openTestAlerts(t, store, [{ ...SECRETS, channels: ['file', 'chat'] }]);
    await at.append(blocks([1, 2]));
    assert.deepEqual(await at.alerts(), [], 'two of three');
    await at.append(blocks([3, 4, 5], 3));
    const [alert] = await at.alerts();
    assert.deepEqual(statuses(await at.alerts()), [['firing', 5]]);
    assert.equal(JSON.parse(alert!.sample_event_ids).length, 5);
    assert.equal(alert!.tenant_ids, '["default"]');
    assert.deepEqual(
      (await at.deliveries()).map(({ queue, kind }) => [queue, kind]),
      [
        ['alerts/file', 'trigger'],
        ['alerts/chat', 'trigger'],
      ],
    );
    at.clock.now_ms = START_MS + 64_000;
    await at.evaluate();
    assert.deepEqual(statuses(await at.alerts()), [['firing', 5]], 'the window is not empty yet');
    at.clock.now_ms = START_MS + 65_000;
    await at.evaluate();
    assert.deepEqual(statuses(await at.alerts()), [['resolved', 5]]);
    const kinds = (await at.deliveries()).map(({ kind }) => kind);
    assert.deepEqual(kinds.toSorted(), ['resolve', 'resolve', 'trigger', 'trigger']);
    // Outside the window, and of another tag.
    await at.append([
      ...blocks([200, 230, 270], 10),
      buildBlockedEvent(20, 271, { data_tags: ['personal'] }),
    ]);
    assert.equal((await at.alerts()).length, 1);
  });

  law('the first message shows the newest call', async ({ store }, t) => {
    const at = await openTestAlerts(t, store, [{ ...SECRETS, threshold: 2 }]);
    const text = 'Bash {"command":"git push --force # [REDACTED]"}';
    await at.append([
      ...blocks([1], 1, { action_shown: 'Bash {}', action_marks: [] }),
      ...blocks([2], 2, { action_shown: text, action_marks: [[17, 33]] }),
    ]);
    at.clock.now_ms = START_MS + 120_000;
    await at.evaluate();
    const sent = (await at.deliveries()).map(({ body }) => JSON.parse(body));
    assert.deepEqual(
      sent.map(({ kind, action_shown, action_marks }) => [kind, action_shown, action_marks]),
      [
        ['trigger', text, [[17, 33]]],
        ['resolve', null, []],
      ],
    );
    // Negative control: events without a call.
    await at.append(blocks([300, 301], 3));
    const [last] = (await at.deliveries()).toReversed();
    assert.equal(JSON.parse(last!.body).action_shown, null);
  });

  law('a flood of names hides no declared agent and no later alert', async ({ store }, t) => {
    const byAgent = {
      ...SECRETS,
      rule_id: 'agents',
      threshold: 1,
      window: '10m',
      group_by: ['agent'] as const,
    };
    const at = await openTestAlerts(t, store, [byAgent], { declared: ['payments'] });
    const flood = Array.from({ length: 1_100 }, (_, n) =>
      buildBlockedEvent(n + 1, 1, { agent_id: `invented-${n}` }),
    );
    for (let from = 0; from < flood.length; from += 110) await at.append(flood.slice(from, from + 110));
    await at.append([
      ...blocks([5], 2_000, { agent_id: 'Payments' }),
      ...blocks([30, 100, 130, 170], 2_001, { agent_id: 'later' }),
    ]);
    const groups = (await at.alerts()).map(({ group_values }) => JSON.parse(group_values).agent as string);
    assert.equal(groups.filter((agent) => agent.startsWith('invented-')).length, 1_000);
    assert.deepEqual(groups.slice(1_000), ['(other)', 'Payments', '(other)', '(other)']);
    // Negative control: an undeclared agent has no alert of its own.
    assert.ok(!groups.includes('later'));
  });

  law('urgent messages pass a flood, and a full queue gives up others for them', async ({ store }, t) => {
    const low = { ...SECRETS, rule_id: 'low', threshold: 1, severity: 'low', group_by: ['agent'] } as const;
    const critical = {
      ...low,
      rule_id: 'critical',
      severity: 'critical',
      filters: { tags: ['personal'] },
    } as const;
    const at = await openTestAlerts(t, store, [low, critical]);
    await at.append([
      ...['a', 'b', 'c'].flatMap((agentId, n) => blocks([1], n, { agent_id: agentId })),
      ...blocks([2], 9, { data_tags: ['personal'] }),
    ]);
    const parts = { store: async () => store, now_ms: () => at.clock.now_ms, log: { warn: () => {} } };
    const queue = {
      ...{ name: 'alerts/file', timeout_ms: 1_000, attempts_max: 1, concurrency: 4, per_minute_max: 120 },
      send: async () => ({ sent: true }) as const,
    };
    const read = async (first: 'urgent' | 'oldest') => {
      const { claimed } = await claimMessages(parts, queue, 1, first);
      return claimed.map(({ body }) => JSON.parse(body).rule_id as string);
    };
    assert.deepEqual(await read('urgent'), ['critical']);
    assert.deepEqual(await read('oldest'), ['low']);
    const pending = (await at.deliveries()).length;
    const row = {
      queue: queue.name,
      subject_id: 's',
      kind: 'test',
      order_key: null,
      body: '{}',
      not_before_ms: 0,
    };
    const fill = (count: number, urgency: number) =>
      enqueueMessages(
        store.db,
        Array.from({ length: count }, () => ({
          ...row,
          urgency,
          delivery_id: createDeliveryId(at.clock.now_ms),
        })),
        at.clock.now_ms,
      );
    assert.equal(await fill(QUEUE_MESSAGES_MAX - pending, 0), 0);
    assert.equal(await fill(1, 3), 1);
    const all = await at.deliveries();
    assert.deepEqual(
      all.filter(({ status }) => status === 'dead').map(({ urgency }) => urgency),
      [0],
    );
    assert.equal(await fill(1, 0), 1);
    const dead = (await at.deliveries()).filter(({ status }) => status === 'dead');
    assert.deepEqual(
      dead.map(({ urgency }) => urgency),
      [0, 0],
    );
  });

  law('a flood that is too much for one transaction is evaluated in parts', async ({ store }, t) => {
    const CHANGES_MAX = 100;
    const count = async (db: typeof store.db) =>
      (await db.selectFrom('alerts').select('alert_id').execute()).length;
    const transaction: typeof store.transaction = (work) =>
      store.transaction(async (trx) => {
        const before = await count(trx);
        const result = await work(trx);
        if ((await count(trx)) - before > CHANGES_MAX) throw new Error('a change took too long');
        return result;
      });
    const byAgent = { ...SECRETS, threshold: 1, window: '10m', group_by: ['agent'] as const };
    const at = await openTestAlerts(t, { ...store, transaction }, [byAgent]);
    const flood = Array.from({ length: 250 }, (_, n) =>
      buildBlockedEvent(n + 1, 1, { agent_id: `bot-${n}` }),
    );
    await assert.rejects(at.append(flood), /took too long/);
    for (let tries = 0; tries < 4; tries += 1) await at.evaluate().catch(() => {});
    assert.equal((await at.alerts()).length, 250);
  });

  law('a restart neither loses nor repeats an alert', async ({ store }, t) => {
    const at = await openTestAlerts(t, store, [SECRETS]);
    await at.append(blocks([1, 2]));
    at.restart();
    await at.append(blocks([3], 3));
    assert.deepEqual(statuses(await at.alerts()), [['firing', 3]]);
    at.restart();
    await at.evaluate();
    at.restart();
    await at.append(blocks([4], 4));
    assert.deepEqual(statuses(await at.alerts()), [['firing', 4]]);
    assert.equal((await at.deliveries()).length, 1);
  });

  law('the cooldown and groups', async ({ store }, t) => {
    const at = await openTestAlerts(t, store, [
      { ...SECRETS, rule_id: 'cool', threshold: 1, window: '10s', cooldown: '1m' },
      { ...SECRETS, rule_id: 'grouped', threshold: 2, group_by: ['agent', 'tool'], window: '10m' },
    ]);
    at.clock.now_ms = START_MS + 10_000;
    await at.append(blocks([1, 20, 40, 62], 1));
    const cool = (await at.alerts()).filter(({ rule_id }) => rule_id === 'cool');
    assert.deepEqual(statuses(cool), [
      ['resolved', 1],
      ['firing', 1],
    ]);
    assert.equal(cool[1]!.first_ms, START_MS + 62_000, 'those at 20 s and 40 s are within the cooldown');
    const other = { agent_id: 'other', tool_name: 'mail' };
    await at.append([...blocks([63], 10, other), ...blocks([64], 11, { agent_id: 'other' })]);
    await at.append(blocks([65], 12, other));
    const grouped = (await at.alerts()).filter(({ rule_id }) => rule_id === 'grouped');
    assert.deepEqual(
      grouped.map(({ group_values, event_count }) => [JSON.parse(group_values), event_count]),
      [
        [{ agent: 'agent-1', tool: '(none)' }, 4],
        [{ agent: 'other', tool: 'mail' }, 2],
      ],
    );
  });

  law('a rule of a tenant counts events of this tenant only', async ({ store }, t) => {
    const at = await openTestAlerts(t, store, [
      { ...SECRETS, rule_id: 'acme', tenant_id: 'acme' },
      { ...SECRETS, rule_id: 'all' },
    ]);
    await at.append([
      ...blocks([1, 2], 1, { tenant_id: 'acme' }),
      ...blocks([3], 3, { tenant_id: 'globex' }),
    ]);
    assert.deepEqual(
      (await at.alerts()).map(({ rule_id, tenant_ids }) => [rule_id, JSON.parse(tenant_ids)]),
      [['all', ['acme', 'globex']]],
    );
    await at.append(blocks([4], 4, { tenant_id: 'acme' }));
    assert.deepEqual(
      (await at.alerts()).map(({ rule_id, tenant_ids }) => [rule_id, JSON.parse(tenant_ids)]),
      [
        ['all', ['acme', 'globex']],
        ['acme', ['acme']],
      ],
    );
  });

  law(
    'a silenced alert is recorded and sent when it still counts after the silence',
    async ({ store }, t) => {
      const at = await openTestAlerts(t, store, [{ ...SECRETS, threshold: 1 }]);
      const silence = {
        silence_id: 'sil_1',
        tenant_id: '',
        reason: 'test',
        created_by: 'ann',
        created_ms: START_MS,
      };
      const matcher = JSON.stringify({ rule_id: 'secrets' });
      await store.db
        .insertInto('alert_silences')
        .values({ ...silence, matcher, expires_ms: START_MS + 10_000 })
        .execute();
      await at.append(blocks([1]));
      assert.deepEqual(statuses(await at.alerts()), [['silenced', 1]]);
      assert.deepEqual(await at.deliveries(), []);
      at.clock.now_ms = START_MS + 11_000;
      await at.append(blocks([11], 2));
      assert.deepEqual(statuses(await at.alerts()), [['firing', 2]]);
      assert.deepEqual(
        (await at.deliveries()).map(({ kind }) => kind),
        ['trigger'],
      );
    },
  );

  law(
    'messages wait for the end of quiet hours, and are cancelled if the alert ends before',
    async ({ store }, t) => {
      // The test begins on a Saturday at 12:00 UTC, which is 13:00 in Berlin.
      const schedule = {
        time_zone: 'Europe/Berlin',
        quiet_hours: [{ days: ['sat' as const], from: '12:00', to: '14:00' }],
      };
      const at = await openTestAlerts(t, store, [
        { ...SECRETS, threshold: 1, schedule, group_by: ['agent'] },
      ]);
      await at.append(blocks([1]));
      const [waiting] = await at.deliveries();
      assert.equal(Number(waiting!.next_attempt_ms), START_MS + 3_600_000);
      at.clock.now_ms = START_MS + 61_000;
      await at.evaluate();
      const kinds = async () => (await at.deliveries()).map(({ kind, status }) => `${kind} ${status}`);
      assert.deepEqual(statuses(await at.alerts()), [['resolved', 1]]);
      assert.deepEqual(await kinds(), ['trigger cancelled']);
      at.clock.now_ms = START_MS + 3_590_000;
      await at.append(blocks([3_590], 2, { agent_id: 'late' }));
      assert.equal(Number((await at.deliveries())[1]!.next_attempt_ms), START_MS + 3_600_000);
      at.clock.now_ms = START_MS + 3_650_000;
      await at.evaluate();
      // The quiet hours have passed, so that the first message is due, and the end of the alert follows it.
      assert.deepEqual(await kinds(), ['trigger cancelled', 'trigger pending', 'resolve pending']);
    },
  );

  law('a rule that cannot be used does not affect the others, and is reported once', async ({ store }, t) => {
    const at = await openTestAlerts(t, store, [{ ...SECRETS, threshold: 1 }]);
    const by = { caller_id: 'ann', now_ms: START_MS };
    await saveAlertRule(store.db, completeAlertRule({ ...SECRETS, rule_id: 'gone', channels: ['gone'] }), by);
    await store.db
      .insertInto('alert_rules')
      .values({
        rule_id: 'torn',
        tenant_id: '',
        rule: '{',
        created_by: 'a',
        created_ms: 0,
        changed_by: 'a',
        changed_ms: 0,
      })
      .execute();
    await at.append(blocks([1]));
    await at.append(blocks([2], 2));
    assert.deepEqual(
      (await at.alerts()).map(({ rule_id }) => rule_id),
      ['secrets'],
    );
    assert.equal(at.warnings.length, 1);
    assert.match(JSON.stringify(at.warnings), /gone.*name of no channel/);
  });

  law('two services on one store count together', async ({ store, another }, t) => {
    const one = await openTestAlerts(t, store, [SECRETS]);
    await one.append(blocks([1, 2]));
    // Another state folder: another journal, another stream.
    const two = await openTestAlerts(t, await another(), [SECRETS], { stream_id: 'other' });
    await two.append(blocks([3], 100));
    assert.deepEqual(statuses(await one.alerts()), [['firing', 3]]);
  });
});
