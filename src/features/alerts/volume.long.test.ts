/** Compares the evaluator with a plain evaluation of the same events, which shares no code with it. */
import assert from 'node:assert/strict';
import { withStores } from '../../platform/store/testing/stores.ts';
import { START_MS } from '../../runtime/audit/testing/audit-log.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { AlertRuleInput } from './rule.ts';
import { buildBlockedEvent, openTestAlerts } from './testing/open.ts';

const EVENTS = process.env.NIGHTLY === undefined ? 2_000 : 10_000;
const BURSTS = 10;
const RULES = 50;

/** A small generator of numbers, the same in every run. */
function openNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const TAGS = ['secret.credential.api_key', 'secret.token', 'personal.pii.email', 'personal', 'secretary'];
const ACTIONS = ['block', 'allow', 'redact', 'require_approval', 'flag'] as const;

/** A minute's events, with bursts and pauses, slightly disordered as from several workers. */
function makeEvents(): AuditEvent[] {
  const next = openNumbers(42);
  return Array.from({ length: EVENTS }, (_, at) => {
    const burst = EVENTS / BURSTS;
    const burstMs = Math.floor(at / burst) * 6_000 + ((at % burst) / burst) * 3_000;
    const action = ACTIONS[next(20) < 16 ? 1 : next(5)]!;
    return buildBlockedEvent(at, Math.max(0, Math.round(burstMs + next(5) - 2)) / 1_000, {
      action,
      decision: action === 'allow' || action === 'flag' ? 'allow' : action === 'redact' ? 'modify' : 'block',
      agent_id: `bot-${next(40)}`,
      tenant_id: `tenant-${next(5)}`,
      tool_name: next(3) === 0 ? `tool-${next(10)}` : null,
      data_tags: [TAGS[next(TAGS.length)]!],
      policy_name: `rule-${next(8)}`,
    });
  });
}

interface PlainRule {
  readonly threshold: number;
  readonly window_ms: number;
  readonly cooldown_ms: number;
  readonly wants: (event: AuditEvent) => boolean;
  readonly group: (event: AuditEvent) => string;
}

const violates = ({ action }: AuditEvent) => ['block', 'redact', 'require_approval'].includes(action);

/** 50 rules, each for the evaluator and as plain functions. */
function makeRules(): readonly (readonly [AlertRuleInput, PlainRule])[] {
  const next = openNumbers(7);
  return Array.from({ length: RULES }, (_, at) => {
    const ruleId = `rule-${at}`;
    const threshold = [1, 2, 5, 20, 100][next(5)]!;
    const windowS = [10, 20, 30, 60][next(4)]!;
    const cooldownS = [0, 15, 60][next(3)]!;
    const base = {
      rule_id: ruleId,
      name: ruleId,
      threshold,
      window: `${windowS}s`,
      cooldown: `${cooldownS}s`,
    };
    const plain = { threshold, window_ms: windowS * 1_000, cooldown_ms: cooldownS * 1_000 };
    const bot = `bot-${next(40)}`;
    const tenant = `tenant-${next(5)}`;
    const kinds: readonly (readonly [AlertRuleInput, Pick<PlainRule, 'wants' | 'group'>])[] = [
      [
        { ...base, filters: { tags: ['secret'] }, group_by: ['agent'] },
        {
          wants: (event) => violates(event) && event.data_tags.some((tag) => /^secret(\.|$)/.test(tag)),
          group: ({ agent_id }) => agent_id,
        },
      ],
      [
        { ...base, filters: { agents: [bot.toUpperCase()], actions: ['block'] } },
        { wants: (event) => event.agent_id === bot && event.action === 'block', group: () => '' },
      ],
      [
        { ...base, source: 'decisions', tenant_id: tenant, group_by: ['tenant', 'policy'] },
        {
          wants: ({ tenant_id }) => tenant_id === tenant,
          group: ({ tenant_id, policy_name }) => `${tenant_id} ${policy_name}`,
        },
      ],
      [
        { ...base, filters: { tools: ['tool-*'], severities: ['medium'] }, group_by: ['tool'] },
        {
          wants: (event) => event.tool_name !== null && ['redact', 'require_approval'].includes(event.action),
          group: ({ tool_name }) => tool_name!,
        },
      ],
      [
        {
          ...base,
          filters: { tenants: [tenant], policies: ['rule-1', 'rule-2'] },
          group_by: ['policy', 'action'],
        },
        {
          wants: (event) =>
            violates(event) && event.tenant_id === tenant && /^rule-[12]$/.test(event.policy_name),
          group: ({ policy_name, action }) => `${policy_name} ${action}`,
        },
      ],
    ];
    const [rule, how] = kinds[at % kinds.length]!;
    return [rule, { ...plain, ...how }] as const;
  });
}

/** Evaluates one rule in the plainest way: all times of a group are kept, and counted again for each event. */
function evaluatePlainly(rule: PlainRule, events: readonly AuditEvent[]): string[] {
  const groups = new Map<
    string,
    {
      times: number[];
      max: number;
      fired: number;
      open: null | { first: number; last: number; count: number };
    }
  >();
  const alerts: { readonly name: string; readonly alert: { first: number; last: number; count: number } }[] =
    [];
  for (const event of events) {
    if (!rule.wants(event)) continue;
    const name = rule.group(event);
    const group = groups.get(name) ?? { times: [], max: 0, fired: Number.NEGATIVE_INFINITY, open: null };
    groups.set(name, group);
    const time = Date.parse(event.timestamp);
    if (group.open !== null && time - group.open.last >= rule.window_ms) {
      group.open = null;
      group.times = [];
      group.max = 0;
    }
    group.times.push(time);
    const now = Math.max(group.max, time);
    group.max = now;
    if (group.open !== null) {
      group.open.count += 1;
      group.open.last = Math.max(group.open.last, time);
      continue;
    }
    const recent = group.times.filter((each) => each > now - rule.window_ms).toSorted((a, b) => a - b);
    const counted = recent.slice(-rule.threshold);
    if (counted.length < rule.threshold || now - group.fired < rule.cooldown_ms) continue;
    group.fired = now;
    group.open = { first: counted[0]!, last: now, count: counted.length };
    alerts.push({ name, alert: group.open });
  }
  return alerts.map(
    ({ name, alert }) => `${name} ${alert.first - START_MS} ${alert.last - START_MS} ${alert.count}`,
  );
}

withStores('alerts of many events', (law) => {
  law('50 rules on many events raise each alert once, also across restarts', async ({ store }, t) => {
    const events = makeEvents();
    const rules = makeRules();
    const at = await openTestAlerts(
      t,
      store,
      rules.map(([rule]) => rule),
    );
    for (let from = 0; from < EVENTS; from += EVENTS / 4) {
      await at.append(events.slice(from, from + EVENTS / 4));
      at.restart();
    }
    const found = Map.groupBy(await at.alerts(), ({ rule_id }) => rule_id);
    let alerts = 0;
    for (const [{ rule_id }, plain] of rules) {
      const expected = evaluatePlainly(plain, events);
      const raised = (found.get(rule_id) ?? []).map(
        ({ group_values, first_ms, last_ms, event_count }) =>
          `${Object.values(JSON.parse(group_values)).join(' ')} ${first_ms - START_MS} ${last_ms - START_MS} ${event_count}`,
      );
      assert.deepEqual(raised.toSorted(), expected.toSorted(), rule_id);
      alerts += expected.length;
    }
    assert.ok(alerts > EVENTS / 25, `${alerts} alerts`);
    const triggers = (await at.deliveries()).filter(({ kind }) => kind === 'trigger');
    assert.equal(triggers.length, alerts);
    assert.equal(new Set(triggers.map(({ subject_id }) => subject_id)).size, alerts);
    t.diagnostic(`${alerts} alerts of ${rules.length} rules on ${events.length} events`);
  });
});
