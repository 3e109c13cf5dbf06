/**
 * Evaluates decisions again from their audit events alone. Events contain no text, but all facts that rules
 * use.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judge } from '../../core/decision/judge.ts';
import { celEvaluator } from '../../core/policy/conditions/cel.ts';
import { replayUnder } from '../../core/review/evaluate-record.ts';
import { explainDecision } from '../../core/review/explain.ts';
import { readRecordedDecision } from '../../core/review/recorded-decision.ts';
import { buildGeneratedPolicy, crossingArbitrary, policyParts } from '../../core/testing/generated.ts';
import { buildTestCrossing, buildTestPolicy } from '../../core/testing/policies.ts';
import type { Crossing, Policy, Verdict } from '../../core/types/index.ts';
import { caller } from '../../server/testing/examples.ts';
import type { AuditEvent } from '../audit/types.ts';
import { buildAuditEvent } from './audit-event.ts';

const RUNS = process.env.NIGHTLY === undefined ? 25 : 200;

function recordDecision(crossing: Crossing, policy: Policy): { event: AuditEvent; verdict: Verdict } {
  const verdict = judge(crossing, policy, null, celEvaluator);
  const event = buildAuditEvent({
    event_id: `evt_${'0'.repeat(24)}`,
    crossing,
    verdict,
    caller,
    endpoint: 'intercept_tool',
    logged: { inputs: false, outputs: false },
    typed_redaction: false,
  });
  // The event as the journal returns it.
  return { verdict, event: JSON.parse(JSON.stringify(event)) };
}

test('an explanation results in the recorded verdict, and its counterfactual in an allowed one', () => {
  const ran = { all: 0, blocked: 0, modified: 0 };
  fc.assert(
    fc.property(policyParts, crossingArbitrary, (parts, crossing) => {
      const policy = buildGeneratedPolicy(parts);
      const { event, verdict } = recordDecision(crossing, policy);
      const reported = explainDecision(event, crossing.now_ms, policy, celEvaluator);
      assert.ok(typeof reported !== 'string', String(reported));
      const { decision, action, rule } = verdict;
      assert.deepEqual(reported.replayed, { decision, action, rule });
      assert.equal(reported.matches_record, true);
      assert.deepEqual(reported.monitored, verdict.monitored);
      assert.deepEqual(reported.enforced_result, verdict.enforced_result);
      assert.equal(reported.evaluations.some(({ decisive }) => decisive) || rule === 'default.allow', true);
      ran.all += 1;
      if (decision === 'allow') assert.equal(reported.counterfactual, null);
      else {
        ran[decision === 'block' ? 'blocked' : 'modified'] += 1;
        const { changes, result } = reported.counterfactual!;
        assert.notEqual(result.decision, decision);
        assert.ok(changes.length > 0);
      }
    }),
    { numRuns: 4 * RUNS },
  );
  assert.ok(ran.all >= 4 * RUNS && ran.blocked > RUNS / 2 && ran.modified > RUNS / 20, JSON.stringify(ran));
});

test('fields that a contract in monitor mode would remove keep their recorded result', () => {
  const key = ['sk-', 'ABCDEF1234567890'].join('');
  const policy = buildTestPolicy({
    documents: [
      {
        contract: {
          tool_name: 'mail.send',
          accepts: { tags: [], fields: ['to'] },
          emits: {},
          enforcement: 'monitor',
          side_effects: { reversible: true, requires_approval: false },
        },
      },
    ],
    settings: { default_action: 'allow', builtin_rules: false },
  });
  const call = { boundary: 'action', phase: 'request', tool: 'mail.send', agent_id: 'bot' } as const;
  const rows = [
    // The secret is in a field that the contract would remove.
    { value: { to: 'x', command: key }, rule: 'contract.accepts.fields' },
    // The secret stays.
    { value: { to: key, command: 'x' }, rule: 'contract.accepts.tags' },
  ];
  for (const { value, rule } of rows) {
    const { event, verdict } = recordDecision(
      buildTestCrossing({ ...call, content: { kind: 'json', value } }),
      policy,
    );
    const reported = explainDecision(event, 0, policy, celEvaluator);
    assert.ok(typeof reported !== 'string');
    assert.equal(verdict.enforced_result?.rule, rule);
    assert.deepEqual(reported.enforced_result, verdict.enforced_result);
  }
});

test('a replay under another policy equals its decision on the text itself', () => {
  const ran = { told: 0, changed: 0, untold: 0 };
  fc.assert(
    fc.property(policyParts, policyParts, crossingArbitrary, (parts, other, crossing) => {
      const [was, next] = [buildGeneratedPolicy(parts), buildGeneratedPolicy(other)];
      const { event } = recordDecision(crossing, was);
      const record = readRecordedDecision(event, 0, celEvaluator);
      assert.ok(typeof record !== 'string');
      const reported = replayUnder(record, was, next);
      if (typeof reported === 'string') {
        ran.untold += 1;
        return;
      }
      const { decision, action } = judge(crossing, next, null, celEvaluator);
      assert.deepEqual([reported.decision, reported.action], [decision, action]);
      ran.told += 1;
      if (action !== event.action) ran.changed += 1;
    }),
    { numRuns: 5 * RUNS },
  );
  assert.ok(ran.told > 3 * RUNS && ran.changed > RUNS && ran.untold > RUNS / 20, JSON.stringify(ran));
});

test('the same policy changes nothing', () => {
  let ran = 0;
  fc.assert(
    fc.property(policyParts, crossingArbitrary, (parts, crossing) => {
      const [was, again] = [buildGeneratedPolicy(parts), buildGeneratedPolicy(parts)];
      const { event } = recordDecision(crossing, was);
      const record = readRecordedDecision(event, 0, celEvaluator);
      assert.ok(typeof record !== 'string');
      const reported = replayUnder(record, was, again);
      assert.deepEqual(reported, { decision: event.decision, action: event.action, rule: event.policy_name });
      ran += 1;
    }),
    { numRuns: 2 * RUNS },
  );
  assert.ok(ran >= 2 * RUNS);
});

test('what a record does not hold is not made up', () => {
  const policy = buildTestPolicy();
  const { event } = recordDecision(
    buildTestCrossing({ content: { kind: 'text', text: 'anna.holm@acme-mail.io' } }),
    policy,
  );
  assert.ok(typeof readRecordedDecision(event, 0, celEvaluator) !== 'string');
  const rows: [Partial<AuditEvent>, string][] = [
    [{ metadata: { ...event.metadata, fault: true } }, 'fault'],
    [{ metadata: { ...event.metadata, found_tags: [] } }, 'incomplete'],
    [{ metadata: { ...event.metadata, found_tags: ['personal.pii.email high 7'] } }, 'incomplete'],
    [{ metadata: { ...event.metadata, found_tags: ['personal.pii.email worst 1'] } }, 'incomplete'],
    [{ metadata: { ...event.metadata, found_tags: ['personal.pii.email high 999999999'] } }, 'incomplete'],
    [{ data_tags: [...event.data_tags, 'own.lost'] }, 'incomplete'],
    [{ boundary: 'memory' }, 'no_decision'],
    [{ metadata: { phase: 'policy_reload' } }, 'no_decision'],
  ];
  for (const [fields, why] of rows) assert.equal(readRecordedDecision({ ...event, ...fields }, 0), why);
  assert.equal(rows.length, 8);
});
