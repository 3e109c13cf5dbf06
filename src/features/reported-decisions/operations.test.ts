import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callOperation } from '../../operations/call.ts';
import { interceptTool } from '../../operations/intercept.ts';
import { type Context, Refusal } from '../../operations/operation.ts';
import { createTestRuntime } from '../../operations/testing/runtime.ts';
import { buildAgentCaller, LOOPBACK_CALLER } from '../../runtime/access/callers.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { hashContext } from '../../runtime/audit/service-event.ts';
import { auditImport } from './operations.ts';
import { BATCH_EVENTS_MAX } from './shape.ts';

const EXAMPLE = auditImport.example.events[0]!;
const NAMES = ['audit:import'];
const BOT = buildAgentCaller('key:bot', NAMES, ['acme'], ['support-bot']);
/** Put together here, so that code hosts take the push. */
const SECRET = `sk-${'ABCDEF1234567890'}`;

interface Answer {
  readonly recorded: number;
  readonly duplicates: number;
  readonly refused: readonly { event_id: string; code: string; reason: string }[];
}

function open(caller: Caller = LOOPBACK_CALLER) {
  const { runtime, events } = createTestRuntime();
  const context: Context = { runtime, caller, request_id: 'req' };
  const report = (reported: readonly object[], as: Caller = caller) =>
    callOperation(auditImport, { events: reported }, { ...context, caller: as }) as Promise<Answer>;
  return { runtime, events, context, report };
}

const numbered = (number: number, fields: object = {}) => ({
  ...EXAMPLE,
  event_id: `evt_${String(number).padStart(32, '0')}`,
  ...fields,
});

test('a reported decision is recorded as one of a program, under the credential that reported it', async () => {
  const { events, runtime, report } = open(BOT);
  const timestamp = new Date(runtime.now_ms() - 60_000).toISOString();
  assert.deepEqual(await report([numbered(1, { timestamp })]), { recorded: 1, duplicates: 0, refused: [] });
  const [event] = events;
  assert.deepEqual(
    [event?.caller_id, event?.tenant_id, event?.agent_id, event?.timestamp, event?.reason],
    [
      'key:bot',
      'acme',
      'support-bot',
      timestamp,
      'A program decided this with a local guard and reported it.',
    ],
  );
  assert.equal(event?.metadata.reported_by, 'sdk');
  assert.equal(event?.metadata.reported_at, new Date(runtime.now_ms()).toISOString());
  assert.equal(event?.context_hash, hashContext(event!));
});

test('a reported decision names the person, whom the credential proves or not', async () => {
  const { events, report } = open();
  const stated = {
    claimed_user: 'ada',
    chain: ['lead', 'support-bot'],
    agent_tier: 'subagent',
    task_id: 'tsk_0123456789abcdef01234567',
    trace_id: 'ab'.repeat(16),
  };
  const plain = buildAgentCaller('key:plain', NAMES, '*', '*');
  const acting: Caller = { ...plain, may_act_for: ['ada'] };
  const narrow = buildAgentCaller('key:narrow', NAMES, '*', ['support-bot']);
  assert.equal((await report([numbered(1, stated)], plain)).recorded, 1);
  assert.equal((await report([numbered(2, stated)], acting)).recorded, 1);
  assert.equal((await report([numbered(3)], plain)).recorded, 1);
  const [claimed, proved, none] = events.map((event) =>
    [event.user_id, event.claimed_user, event.chain, event.agent_tier, event.task_id, event.trace_id].map(
      (each) => each ?? null,
    ),
  );
  const { chain, agent_tier, task_id, trace_id } = stated;
  assert.deepEqual(claimed, [null, 'ada', chain, agent_tier, task_id, trace_id]);
  assert.deepEqual(proved, ['ada', null, chain, agent_tier, task_id, trace_id]);
  assert.deepEqual(none, [null, null, null, null, null, null]);
  const { refused } = await report(
    [
      numbered(4, stated),
      numbered(5, { chain: ['support-bot', 'support-bot'] }),
      numbered(6, { claimed_user: SECRET }),
    ],
    narrow,
  );
  assert.deepEqual(
    refused.map(({ code }) => code),
    ['forbidden', 'invalid_request', 'invalid_request'],
  );
  assert.equal(events.length, 3);
});

test('a batch that is sent again adds nothing', async () => {
  const { events, report } = open();
  const batch = [numbered(1), numbered(2), numbered(2)];
  assert.deepEqual(await report(batch), { recorded: 2, duplicates: 1, refused: [] });
  assert.deepEqual(await report([...batch, numbered(3)]), { recorded: 1, duplicates: 3, refused: [] });
  assert.equal(events.length, 3);
});

test('the name of another agent, tenant or caller is refused, and the rest is recorded', async () => {
  const { events, report } = open(BOT);
  const { recorded, refused } = await report([
    numbered(1),
    numbered(2, { agent_id: 'finance-bot' }),
    numbered(3, { source_agent_id: 'finance-bot' }),
    numbered(4, { tenant_id: 'other' }),
  ]);
  assert.deepEqual([recorded, refused.map(({ code }) => code)], [1, ['forbidden', 'forbidden', 'forbidden']]);
  const other = buildAgentCaller('key:other', NAMES, '*', '*');
  const again = await report([numbered(1)], other);
  assert.deepEqual([again.recorded, again.refused[0]?.code], [0, 'conflict']);
  assert.equal(events.length, 1);
});

test('a time that cannot be right is replaced and kept', async () => {
  const { events, runtime, report } = open();
  const now = new Date(runtime.now_ms()).toISOString();
  const ahead = new Date(runtime.now_ms() + 3_600_000).toISOString();
  const old = new Date(runtime.now_ms() - 8 * 24 * 3_600_000).toISOString();
  await report([numbered(1, { timestamp: old }), numbered(2, { timestamp: ahead })]);
  assert.deepEqual(
    events.map(({ timestamp, metadata }) => [timestamp, metadata.reported_timestamp]),
    [
      [now, old],
      [now, ahead],
    ],
  );
});

const metadata = (fields: object) => ({ metadata: { ...EXAMPLE.metadata, ...fields } });

/** Bodies that the shape refuses: each has a place for a text, or claims what only the service records. */
const MISSHAPEN: Readonly<Record<string, readonly object[]>> = {
  'no event': [],
  'too many events': Array.from({ length: BATCH_EVENTS_MAX + 1 }, (_, at) => numbered(at)),
  'a reason': [numbered(1, { reason: 'x' })],
  'a caller': [numbered(1, { caller_id: 'operator' })],
  'an id as the service makes it': [numbered(1, { event_id: 'evt_0123456789abcdef01234567' })],
  'a redacted text': [numbered(1, metadata({ redacted_text: 'x' }))],
  'places of findings': [numbered(1, metadata({ finding_places: ['a 0 0 1 -'] }))],
  'an approval': [numbered(1, metadata({ approval_request_id: 'apr_1' }))],
  'a self-test': [numbered(1, metadata({ self_test: true }))],
  'a phase of the service': [numbered(1, metadata({ phase: 'policy_reload' }))],
  'a text as a finding': [numbered(1, metadata({ found_tags: [`secret ${SECRET} 1`] }))],
  'a text as a detector': [numbered(1, metadata({ detectors: ['My password is hunter2'] }))],
  'a text as a violation': [numbered(1, metadata({ violations: ['my words'] }))],
  'a boundary of the service': [numbered(1, { boundary: 'memory' })],
  'no agent': [numbered(1, { agent_id: undefined })],
};

test('a body that could hold a text is refused as a whole', async () => {
  const { events, report } = open();
  let refused = 0;
  for (const [name, batch] of Object.entries(MISSHAPEN)) {
    await assert.rejects(report(JSON.parse(JSON.stringify(batch))), (error) => {
      assert.ok(error instanceof Refusal && error.code === 'invalid_request', `${name}: ${error}`);
      assert.ok(!error.message.includes(SECRET), name);
      return true;
    });
    refused += 1;
  }
  assert.deepEqual([refused, events.length], [15, 0]);
});

test('a batch of more bytes than allowed is refused', async () => {
  const { events, report } = open();
  const sessionTags = Array.from({ length: 1_000 }, (_, at) => `personal.${'x'.repeat(100)}${at}`);
  const batch = Array.from({ length: 20 }, (_, at) => numbered(at, metadata({ session_tags: sessionTags })));
  await assert.rejects(report(batch), { code: 'too_large' });
  assert.equal((await report(batch.slice(0, 5))).recorded, 5);
  assert.equal(events.length, 5);
});

test('a name that holds a secret is refused, and so is a rule name of the service', async () => {
  const { events, report } = open();
  const { recorded, refused } = await report([
    numbered(1),
    numbered(2, { tool_name: `mail ${SECRET}` }),
    numbered(3, { session_id: SECRET }),
    numbered(4, metadata({ monitored: [`${SECRET}:block`] })),
    numbered(5, { policy_name: 'service.policy_reload' }),
    numbered(6, { policy_name: 'agent.blocked' }),
    numbered(7, { policy_name: 'budget.exceeded' }),
    numbered(8, { policy_name: 'capability_token.unknown' }),
    numbered(9, { policy_name: 'memory.undeclared' }),
  ]);
  assert.deepEqual([recorded, refused.length], [1, 8]);
  assert.ok(refused.every(({ code }) => code === 'invalid_request'));
  assert.ok(!JSON.stringify([refused, events]).includes(SECRET));
});

test('a decision of the service cannot be reported again, whatever its agent', async () => {
  const { context, events, report } = open();
  const checking = { ...context, caller: LOOPBACK_CALLER };
  const { event_id } = (await callOperation(interceptTool, { tool: 't' }, checking)) as { event_id: string };
  await assert.rejects(report([numbered(1, { event_id })]), { code: 'invalid_request' });
  assert.equal(events.length, 1);
});

test('a caller without the permission is refused', async () => {
  const { report } = open(buildAgentCaller('key:none', ['check'], '*', '*'));
  await assert.rejects(report([numbered(1)]), { code: 'forbidden' });
});
