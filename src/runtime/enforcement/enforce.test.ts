import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { NO_PRINCIPAL } from '../../core/types/index.ts';
import {
  buildExampleCrossing,
  buildExamplePorts,
  caller,
  SECRET,
  SSN,
} from '../../server/testing/examples.ts';
import type { AuditEvent } from '../audit/types.ts';
import { enforce } from './enforce.ts';
import type { CheckTask } from './task.ts';
import type { Ruling } from './types.ts';

test('a ruling is given when its event is durable, and not before', async () => {
  const events: AuditEvent[] = [];
  let makeDurable = (): void => {};
  const durable = new Promise<void>((resolve) => {
    makeDurable = resolve;
  });
  let given = false;
  const ruling = enforce(
    buildExampleCrossing('hello'),
    caller,
    'scan_input',
    buildExamplePorts(events, { record: () => durable }),
  ).then((each) => {
    given = true;
    return each;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(given, false);
  makeDurable();
  assert.equal((await ruling).verdict.decision, 'allow');
});

const rows = [
  { text: 'hello', decision: 'allow', rule: 'default.allow' },
  { text: `Use key ${SECRET}`, decision: 'block', rule: 'no-secrets' },
  { text: `My SSN is ${SSN}.`, decision: 'modify', rule: 'mask-personal' },
] as const;

test('the event says what the verdict says, under the id that the caller gets', async () => {
  for (const { text, decision, rule } of expectRows(3, rows)) {
    const events: AuditEvent[] = [];
    const ruling = await enforce(buildExampleCrossing(text), caller, 'scan_input', buildExamplePorts(events));
    assert.deepEqual([ruling.verdict.decision, ruling.verdict.rule], [decision, rule]);
    assert.equal(events.length, 1);
    const { event_id, policy_name, caller_id } = events[0]!;
    assert.deepEqual([event_id, policy_name, caller_id], [ruling.event_id, rule, 'loopback']);
    assert.equal(events[0]!.decision, decision);
    assert.ok(Number.isInteger(ruling.scan_duration_ms) && ruling.scan_duration_ms >= 0);
  }
});

test('a decision that cannot be recorded is blocked, and reveals nothing', async () => {
  const faults: unknown[] = [];
  const fault = new Error('no space');
  const failing = buildExamplePorts([], {
    record: () => Promise.reject(fault),
    onRecordFault: (each) => faults.push(each),
  });
  for (const { text } of expectRows(3, rows)) {
    const { verdict } = await enforce(buildExampleCrossing(text), caller, 'scan_input', failing);
    assert.deepEqual([verdict.decision, verdict.rule, verdict.fault], ['block', 'fault.audit', true]);
    assert.deepEqual([verdict.findings, verdict.data_tags, verdict.content], [[], [], null]);
  }
  assert.deepEqual(faults, [fault, fault, fault]);
});

test('a record that throws at once is a block too', async () => {
  const throwing = buildExamplePorts([], {
    record: () => {
      throw new Error('closed');
    },
  });
  const { verdict } = await enforce(buildExampleCrossing('hello'), caller, 'scan_input', throwing);
  assert.deepEqual([verdict.decision, verdict.rule], ['block', 'fault.audit']);
});

test('looks up the contract once per decision', async () => {
  for (const phase of ['request', 'response'] as const) {
    const ports = buildExamplePorts([]);
    let lookedUp = 0;
    const policy = {
      ...ports.policy,
      get undeclared_tools() {
        lookedUp += 1;
        return 'allow' as const;
      },
    };
    const crossing = buildExampleCrossing(`My SSN is ${SSN}.`, { boundary: 'action', phase, tool: 'notes' });
    const { verdict } = await enforce(crossing, caller, 'intercept_tool', { ...ports, policy });
    assert.equal(verdict.findings.length, 1);
    assert.equal(lookedUp, 1, phase);
  }
});

test('every ruling is observed with the time that judging took', async () => {
  const seen: { ruling: Ruling; endpoint: string; seconds: number }[] = [];
  const observed = buildExamplePorts([], {
    onRuling: (ruling, endpoint, seconds) => seen.push({ ruling, endpoint, seconds }),
  });
  const ruling = await enforce(buildExampleCrossing('hello'), caller, 'guard_output', observed);
  assert.equal(seen.length, 1);
  assert.equal(seen[0]!.ruling, ruling);
  assert.equal(seen[0]!.endpoint, 'guard_output');
  assert.ok(seen[0]!.seconds > 0 && seen[0]!.seconds < 10);
});

const TASK_CALL = buildExampleCrossing('hello', {
  boundary: 'action',
  phase: 'request',
  tool: 'notes',
  principal: { ...NO_PRINCIPAL, task_id: 'tsk_0123456789abcdef01234567' },
});
const TASK_RULE = { rule: 'task.calls', reason: 'The calls of the task are used up.' };

/** Returns a task that allows a call, refuses it, or is used up when the call is counted; and the number of counts. */
function openExampleTask(refusals: { readonly checked?: boolean; readonly counted?: boolean }) {
  const counts: string[] = [];
  const checkTask: CheckTask = async ({ tool, task_id }) => ({
    shown: { task_id, refusal: refusals.checked === true ? TASK_RULE : null },
    count: async () => {
      counts.push(tool);
      return refusals.counted === true ? TASK_RULE : null;
    },
  });
  return { checkTask, counts };
}

test('a call is counted for its task when it is allowed', async () => {
  const events: AuditEvent[] = [];
  const check = async (refusals: Parameters<typeof openExampleTask>[0], call = TASK_CALL) => {
    const { checkTask, counts } = openExampleTask(refusals);
    const ports = buildExamplePorts(events, { checkTask });
    const { verdict } = await enforce(call, caller, 'intercept_tool', ports);
    return [verdict.rule, verdict.violations.map(({ type }) => type), counts.length];
  };
  assert.deepEqual(await check({}), ['default.allow', [], 1]);
  assert.deepEqual(await check({ checked: true }), ['task.calls', ['flow_violation'], 0]);
  assert.deepEqual(await check({ counted: true }), ['task.calls', ['flow_violation'], 1]);
  const blocked = { ...TASK_CALL, content: { kind: 'text', text: `Use key ${SECRET}` } } as const;
  assert.equal((await check({}, blocked)).at(-1), 0);
  assert.deepEqual(new Set(events.map(({ task_id }) => task_id)), new Set([TASK_CALL.principal?.task_id]));
});

test('a task that cannot be checked or counted blocks the call', async () => {
  const failing = async () => Promise.reject(new Error('broken'));
  const ruleWith = async (checkTask?: CheckTask) => {
    const { verdict } = await enforce(
      TASK_CALL,
      caller,
      'intercept_tool',
      buildExamplePorts([], { checkTask }),
    );
    return verdict.rule;
  };
  assert.equal(await ruleWith(), 'task.unknown');
  assert.equal(await ruleWith(failing), 'fault.internal');
  const uncounted: CheckTask = async () => ({ shown: { task_id: null, refusal: null }, count: failing });
  assert.equal(await ruleWith(uncounted), 'fault.store');
});
