import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../core/decision/judge.ts';
import { celEvaluator } from '../../core/policy/conditions/cel.ts';
import { explainDecision } from '../../core/review/explain.ts';
import { addDecision, createTally, replayDecision } from '../../core/review/replay.ts';
import { buildTestCrossing, buildTestPolicy } from '../../core/testing/policies.ts';
import { type Json, NO_PRINCIPAL, type Policy } from '../../core/types/index.ts';
import { caller } from '../../server/testing/examples.ts';
import type { AuditEvent } from '../audit/types.ts';
import { buildAuditEvent } from './audit-event.ts';

const WORD = 'quietly-unusual-word';
const rule = (name: string, action: string, when: string, more: object = {}) => ({
  ...{ name, boundary: 'action', action, ...more },
  condition: { tools: ['pay'], when },
});
const build = (rules: readonly object[], documents: readonly object[] = []) =>
  buildTestPolicy({ rules, documents });

/** A call's event, as the journal returns it. */
function record(value: Json, policy: Policy, scopes: readonly string[] | null = null): AuditEvent {
  const call = { boundary: 'action', phase: 'request', tool: 'pay' } as const;
  const user = { user_id: 'ada', user_email: null, groups: [], scopes };
  const principal = scopes === null ? null : { principal: { ...NO_PRINCIPAL, user } };
  const crossing = buildTestCrossing({ ...call, ...principal, content: { kind: 'json', value } });
  const verdict = judge(crossing, policy, null, celEvaluator);
  const event = buildAuditEvent({
    ...{ event_id: `evt_${'0'.repeat(24)}`, crossing, verdict, caller, endpoint: 'intercept_tool' },
    ...{ logged: { inputs: false, outputs: false }, typed_redaction: false },
  });
  return JSON.parse(JSON.stringify(event)) as AuditEvent;
}

const CAP = rule('cap', 'block', 'args.amount > 1000');
const NOTE = rule('note', 'flag', `args.note == "${WORD}"`);

test('an event holds results and names, never values', () => {
  const event = record({ amount: 1_234_567, note: WORD }, build([CAP, NOTE]));
  assert.deepEqual(event.metadata.condition_results, ['cap:true']);
  assert.deepEqual(event.metadata.condition_arguments, ['amount']);
  const both = record({ note: WORD }, build([NOTE, CAP]));
  assert.deepEqual(both.metadata.condition_results, ['note:true']);
  assert.ok(![event, both].some((each) => /1234567|unusual/.test(JSON.stringify(each))));
  assert.deepEqual(record({}, build([CAP])).metadata.condition_results, ['cap:none']);
  assert.equal('condition_results' in record({}, build([])).metadata, false);
});

test('an explanation uses the recorded result', () => {
  const policy = build([CAP]);
  for (const amount of [5, 5_000]) {
    const explained = explainDecision(record({ amount }, policy), 0, policy, celEvaluator);
    assert.ok(typeof explained !== 'string');
    assert.equal(explained.matches_record, true);
    const changes = explained.counterfactual?.changes.map(({ change }) => change) ?? [];
    assert.deepEqual(
      changes,
      amount === 5 ? [] : ['with another value of `amount`, or another tool than `pay`'],
    );
  }
});

test('a replay uses the result of the same text and counts others as unknown', () => {
  const was = build([CAP]);
  const rows: readonly (readonly [why: string, next: Policy, change: string])[] = [
    ['the same text', build([{ ...CAP, name: 'other', action: 'require_approval' }]), 'less_strict'],
    ['another text', build([rule('cap', 'block', 'args.amount > 2000')]), 'unknown'],
    ['no rule on arguments', build([]), 'less_strict'],
    ['a rule on facts', build([rule('cap', 'block', 'tool == "pay"')]), 'same'],
    [
      'other fields are sent',
      build([CAP], [{ contract: { tool_name: 'pay', accepts: { fields: ['amount'] } } }]),
      'unknown',
    ],
  ];
  const event = record({ amount: 5_000 }, was);
  const tally = createTally();
  for (const [why, next, change] of rows) {
    const replayed = replayDecision(event, 0, was, next, celEvaluator);
    assert.equal(replayed?.change, change, why);
    if (replayed !== null) addDecision(tally, event, replayed);
  }
  assert.equal(tally.unknown.get('arguments_not_recorded'), 2);
  // A rule that was not evaluated at the time has no result either.
  const shadowed = build([rule('first', 'flag', 'args.amount > 1'), CAP]);
  const flagged = record({ amount: 5_000 }, shadowed);
  const reordered = build([CAP, rule('first', 'flag', 'args.amount > 1')]);
  assert.deepEqual(replayDecision(flagged, 0, shadowed, reordered, celEvaluator), {
    change: 'unknown',
    reason: 'arguments_not_recorded',
  });
});

test('a replay knows required scopes by their result', () => {
  const requireScopes = (...scopes: readonly string[]) =>
    build([], [{ contracts: [{ tool_name: 'pay', required_scopes: scopes }] }]);
  const [open, one, both] = [build([]), requireScopes('pay'), requireScopes('pay', 'audit')];
  const passed = record({}, one, ['pay', 'audit']);
  const refused = record({}, one, ['audit']);
  assert.deepEqual([passed.decision, refused.decision], ['allow', 'block']);
  for (const event of [passed, refused]) {
    const explained = explainDecision(event, 0, one, celEvaluator);
    assert.ok(typeof explained !== 'string' && explained.matches_record);
  }
  const replay = (event: AuditEvent, was: Policy, next: Policy) =>
    replayDecision(event, 0, was, next, celEvaluator);
  assert.equal(replay(refused, one, open)?.change, 'less_strict');
  assert.equal(replay(refused, one, both)?.change, 'same');
  assert.equal(replay(record({}, both, ['pay', 'audit']), both, one)?.change, 'same');
  // The record does not name the scopes that the person had beyond those required.
  const unknown = { change: 'unknown', reason: 'contract_differs' };
  assert.deepEqual(replay(passed, one, both), unknown);
  assert.deepEqual(replay(record({}, both, ['pay']), both, one), unknown);
  assert.equal(replay(record({}, open), open, one)?.change, 'stricter', 'without a person');
});
