/** Sessions in enforcement, with real stores, the real compiler and the real `enforce`. */
import assert from 'node:assert/strict';
import { buildTestPolicy } from '../../../core/testing/policies.ts';
import type { Crossing, Policy } from '../../../core/types/index.ts';
import { type Store, StoreFailure } from '../../../platform/store/index.ts';
import { withStores } from '../../../platform/store/testing/stores.ts';
import { buildExampleCrossing, buildExamplePorts, caller } from '../../../server/testing/examples.ts';
import type { AuditEvent } from '../../audit/types.ts';
import { enforce } from '../enforce.ts';
import type { EnforcementPorts } from '../types.ts';
import { openSessionClock } from './clock.ts';
import { LIMITS } from './testing/limits.ts';

const contract = (toolName: string, more: object = {}) => ({
  tool_name: toolName,
  accepts: {},
  emits: {},
  side_effects: { reversible: true, requires_approval: false },
  ...more,
});

const FLOW = buildTestPolicy({
  rules: [
    {
      name: 'no-way-out',
      boundary: 'action',
      data_tags: ['egress.tool'],
      action: 'block',
      condition: { session_tags: ['untrusted.web', 'personal'] },
    },
  ],
  documents: [
    {
      contracts: [
        contract('web.read', { emits: { tags: ['untrusted.web'] } }),
        contract('crm.find', { emits: { tags: ['personal.pii'] } }),
        contract('mail.send', {
          side_effects: { reversible: false, requires_approval: false, egress: true },
        }),
        contract('limited', { max_calls_per_minute: 3 }),
      ],
    },
  ],
});
const PLAIN = buildTestPolicy({
  documents: [{ contracts: [contract('limited', { max_calls_per_minute: 3 }), contract('web.read')] }],
});

interface Desk {
  readonly events: AuditEvent[];
  readonly ask: (
    tool: string,
    parts?: Partial<Crossing>,
  ) => Promise<{ decision: string; rule: string; fault: boolean }>;
}

function createDesk(
  store: () => Promise<Store>,
  policy: Policy = FLOW,
  more: Partial<EnforcementPorts> = {},
): Desk {
  const events: AuditEvent[] = [];
  const given = buildExamplePorts(events, {
    policy,
    sessions: { store, limits: LIMITS, timeOf: openSessionClock() },
    ...more,
  });
  return {
    events,
    ask: async (tool, parts = {}) => {
      const requested = buildExampleCrossing('', {
        boundary: 'action',
        phase: 'request',
        tool,
        session_id: 's',
        ...parts,
      });
      const { verdict } = await enforce(requested, caller, 'intercept_tool', given);
      return { decision: verdict.decision, rule: verdict.rule, fault: verdict.fault };
    },
  };
}

const gone = () => Promise.reject(new StoreFailure('store_unavailable', 'It is gone.', '57P01'));

withStores('sessions in enforcement', (law) => {
  law('a call that one worker allowed restricts the next call at another', async ({ store, another }) => {
    const one = createDesk(async () => store);
    const second = await another();
    const two = createDesk(async () => second);
    assert.equal((await one.ask('mail.send')).decision, 'allow');
    assert.equal((await one.ask('web.read')).decision, 'allow');
    assert.equal((await two.ask('mail.send')).decision, 'allow');
    assert.equal((await two.ask('crm.find')).decision, 'allow');
    assert.deepEqual(await one.ask('mail.send'), { decision: 'block', rule: 'no-way-out', fault: false });
    assert.deepEqual(await two.ask('mail.send'), { decision: 'block', rule: 'no-way-out', fault: false });
    // Another session has no tags.
    assert.equal((await two.ask('mail.send', { session_id: 's2' })).decision, 'allow');
    const { metadata } = one.events.at(-1)!;
    assert.deepEqual(metadata.session_tags, ['personal.pii', 'untrusted.web']);
    assert.deepEqual(metadata.violations, ['flow_violation:no-way-out']);
  });

  law('who gets a message has read what its sender had read', async ({ store }) => {
    const { ask } = createDesk(async () => store);
    for (const tool of ['web.read', 'crm.find']) await ask(tool);
    assert.equal((await ask('mail.send', { agent_id: 'agent-2' })).decision, 'allow');
    await ask('agent_to_agent', {
      phase: 'message',
      content: { kind: 'text', text: 'Go on.' },
      source_agent_id: 'agent-1',
      destination_agent_id: 'agent-2',
    });
    assert.equal((await ask('mail.send', { agent_id: 'agent-2' })).decision, 'block');
    assert.equal((await ask('mail.send', { agent_id: 'agent-3' })).decision, 'allow');
  });

  law('what is blocked has not been read', async ({ store }) => {
    const { ask } = createDesk(async () => store);
    await ask('web.read', { content: { kind: 'json', value: { q: ['sk-', 'ABCDEF1234567890'].join('') } } });
    await ask('crm.find');
    assert.equal((await ask('mail.send')).decision, 'allow');
    await ask('web.read');
    assert.equal((await ask('mail.send')).decision, 'block');
  });

  law('a store that is gone blocks what depends on it, and nothing else', async ({ store }) => {
    const reported: unknown[] = [];
    const more = { onSessionFault: (fault: unknown) => void reported.push(fault) };
    const { ask, events } = createDesk(gone, FLOW, more);
    const stopped = { decision: 'block', rule: 'fault.store', fault: true };
    assert.deepEqual(await ask('web.read'), stopped);
    assert.deepEqual(await ask('anything', { phase: 'response' }), stopped);
    assert.equal(events.length, 2);
    assert.ok(reported.every((fault) => fault instanceof StoreFailure));
    // Without a rule on sessions, the store is not used. Calls are counted if a contract limits them.
    const plain = createDesk(gone, PLAIN);
    assert.equal((await plain.ask('web.read')).decision, 'allow');
    assert.deepEqual(await plain.ask('limited'), stopped);
    assert.equal((await plain.ask('limited', { phase: 'response' })).decision, 'allow');
    // Decisions succeed again as soon as the store is back.
    assert.equal((await createDesk(async () => store, FLOW).ask('web.read')).decision, 'allow');
  });

  law('a change that cannot be kept is no answer', async ({ store }) => {
    const failing: Store = { ...store, db: store.db, transaction: gone };
    const { ask } = createDesk(async () => failing);
    assert.equal((await ask('mail.send')).decision, 'allow');
    assert.deepEqual(await ask('web.read'), { decision: 'block', rule: 'fault.store', fault: true });
  });

  law('where nothing keeps sessions, nothing goes through that depends on them', async () => {
    const events: AuditEvent[] = [];
    const requested = buildExampleCrossing('', {
      boundary: 'action',
      phase: 'request',
      tool: 'x',
      session_id: 's',
    });
    const { verdict } = await enforce(
      requested,
      caller,
      'intercept_tool',
      buildExamplePorts(events, { policy: FLOW }),
    );
    assert.deepEqual([verdict.decision, verdict.rule], ['block', 'fault.store']);
  });

  law(
    'calls over the limit are blocked as a broken contract, and go on a minute later',
    async ({ store }) => {
      const { ask, events } = createDesk(async () => store, PLAIN);
      const nowMs = Date.UTC(2026, 10, 21, 12);
      for (let call = 1; call <= 3; call++)
        assert.equal((await ask('limited', { now_ms: nowMs })).decision, 'allow');
      assert.deepEqual(await ask('limited', { now_ms: nowMs }), {
        decision: 'block',
        rule: 'contract.max_calls_per_minute',
        fault: false,
      });
      assert.deepEqual(events.at(-1)?.metadata.violations, ['contract_violation:max_calls_per_minute']);
      assert.equal((await ask('limited', { now_ms: nowMs, agent_id: 'agent-2' })).decision, 'allow');
      assert.equal((await ask('limited', { now_ms: nowMs + 60_000 })).decision, 'allow');
    },
  );

  law('one of the calls that race for the last place is allowed', async ({ store }) => {
    const { ask } = createDesk(async () => store, PLAIN);
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask('limited')));
    assert.equal(answers.filter(({ decision }) => decision === 'allow').length, 3);
    assert.ok(answers.every(({ decision, rule }) => decision === 'allow' || rule.startsWith('contract.')));
  });

  law('a call that is blocked for another reason is not counted', async ({ store }) => {
    const { ask } = createDesk(async () => store, PLAIN);
    const secret = { kind: 'text', text: ['sk-', 'ABCDEF1234567890'].join('') } as const;
    for (let call = 0; call < 5; call++)
      assert.equal((await ask('limited', { content: secret })).decision, 'block');
    assert.equal((await ask('limited')).decision, 'allow');
  });
});
