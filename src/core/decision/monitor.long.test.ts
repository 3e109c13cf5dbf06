import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { celEvaluator } from '../policy/conditions/cel.ts';
import { isFactTag } from '../tags.ts';
import {
  buildGeneratedPolicy,
  crossingArbitrary,
  type GeneratedParts,
  policyParts,
} from '../testing/generated.ts';
import { buildTestCrossing, buildTestPolicy } from '../testing/policies.ts';
import type { Verdict } from '../types/index.ts';
import { judge } from './judge.ts';

/** Returns the policy without its parts in monitor mode. */
function removeMonitored(parts: GeneratedParts): GeneratedParts {
  const { rules, contracts, identities } = parts;
  const listEnforced = <T extends { readonly enforcement: string }>(list: readonly T[]) =>
    list.filter(({ enforcement }) => enforcement === 'enforce');
  return {
    ...parts,
    rules: listEnforced(rules) as GeneratedParts['rules'],
    // A tool or agent whose document is in monitor mode still counts as declared. Here its document has no terms.
    contracts: contracts.map((each) =>
      each.enforcement === 'enforce'
        ? each
        : { ...each, ...ASKS_NOTHING, side_effects: { ...each.side_effects, requires_approval: false } },
    ),
    identities: identities.map((each) =>
      each.enforcement === 'enforce'
        ? each
        : { ...each, tools: ['*'], clearance_tags: ['personal', 'secret', 'own', 'dangerous', 'malformed'] },
    ),
  };
}

const ASKS_NOTHING = {
  accepts: {},
  emits: {},
  arguments: true,
  allowed_agents: ['*'],
  max_calls_per_minute: 1_000,
} as unknown as GeneratedParts['contracts'][number];

/**
 * Returns what the client can observe of a verdict. Facts are collected if any rule names them and appear only in the
 * record. The taint tags of a session depend on the contract of its tool, even in monitor mode.
 */
function answer({
  monitored: _,
  enforced_result: __,
  policy_hash: ___,
  taint_change: ____,
  values_change: _____,
  ...rest
}: Verdict): object {
  return { ...rest, data_tags: rest.data_tags.filter((tag) => !isFactTag(tag)) };
}

test('what is in monitor mode changes no answer, and all that it changes is a record', () => {
  let ran = 0;
  let noted = 0;
  fc.assert(
    fc.property(policyParts, crossingArbitrary, (parts, crossing) => {
      const withTrials = judge(crossing, buildGeneratedPolicy(parts), null, celEvaluator);
      const without = judge(crossing, buildGeneratedPolicy(removeMonitored(parts)), null, celEvaluator);
      assert.equal(withTrials.fault, false);
      assert.deepEqual(answer(withTrials), answer(without));
      assert.deepEqual(without.monitored, []);
      assert.equal(without.enforced_result, null);
      assert.equal(withTrials.enforced_result === null, withTrials.monitored.length === 0);
      ran += 1;
      if (withTrials.monitored.length > 0) noted += 1;
    }),
    { numRuns: 400 },
  );
  assert.ok(ran >= 400 && noted > 40, `${noted} of ${ran} met a trial`);
});

test('the monitored decision equals the decision of the same policy when it is enforced', () => {
  let noted = 0;
  fc.assert(
    fc.property(policyParts, crossingArbitrary, (parts, crossing) => {
      const enforce = <T extends object>(list: readonly T[]) =>
        list.map((each) => ({ ...each, enforcement: 'enforce' as const }));
      const { decision, action, rule, monitored, enforced_result } = judge(
        crossing,
        buildGeneratedPolicy(parts),
        null,
        celEvaluator,
      );
      const inForce = judge(
        crossing,
        buildGeneratedPolicy({
          ...parts,
          rules: enforce(parts.rules),
          contracts: enforce(parts.contracts),
          identities: enforce(parts.identities),
        }),
        null,
        celEvaluator,
      );
      const { decision: d, action: a, rule: r } = inForce;
      assert.deepEqual(enforced_result ?? { decision, action, rule }, { decision: d, action: a, rule: r });
      if (monitored.length > 0) noted += 1;
    }),
    { numRuns: 400 },
  );
  assert.ok(noted > 40, `${noted} met a trial`);
});

test('data that a monitored contract would remove, or a monitored rule would redact, breaks no contract then', () => {
  const rule = {
    name: 'mask-emails',
    boundary: 'output',
    data_tags: ['personal.pii.email'],
    action: 'redact',
    enforcement: 'monitor',
  };
  const contract = {
    tool_name: 'mail.send',
    accepts: { tags: [], fields: ['to'] },
    emits: { tags: ['own'] },
    side_effects: { reversible: true, requires_approval: false },
  };
  const enforcedResult = (kind: 'call' | 'result', contractEnforcement: string) => {
    const policy = buildTestPolicy({
      documents: [{ policies: [rule] }, { contracts: [{ ...contract, enforcement: contractEnforcement }] }],
      settings: { default_action: 'allow', builtin_rules: false },
    });
    const content =
      kind === 'call'
        ? ({ kind: 'json', value: { body: `Use key sk-${'ABCDEF1234567890'}` } } as const)
        : ({ kind: 'text', text: 'Write to anna.holm@acme-mail.io' } as const);
    const phase = kind === 'call' ? 'request' : 'response';
    const verdict = judge(
      buildTestCrossing({ boundary: 'action', phase, tool: 'mail.send', content }),
      policy,
    );
    return verdict.enforced_result?.action ?? verdict.action;
  };
  assert.equal(enforcedResult('call', 'monitor'), 'redact');
  assert.equal(enforcedResult('call', 'enforce'), 'redact');
  assert.equal(enforcedResult('result', 'enforce'), 'redact');
});

test('one key sets a whole document to monitor mode, and a rule in it may override that', () => {
  const rules = [
    { name: 'trial', boundary: 'input', data_tags: ['own.a'], action: 'block' },
    { name: 'real', boundary: 'input', data_tags: ['own.b'], action: 'block', enforcement: 'enforce' },
  ];
  const decide = (enforcement: string | undefined, tag: string) => {
    const policy = buildTestPolicy({
      documents: [{ ...(enforcement && { enforcement }), policies: rules }],
      settings: { default_action: 'allow' },
    });
    return judge(buildTestCrossing({ declared_tags: [tag] }), policy);
  };
  assert.equal(decide(undefined, 'own.a').decision, 'block');
  assert.equal(decide('monitor', 'own.a').decision, 'allow');
  assert.deepEqual(decide('monitor', 'own.a').monitored, [{ rule: 'trial', action: 'block', tag: 'own.a' }]);
  assert.deepEqual(decide('monitor', 'own.a').enforced_result, {
    decision: 'block',
    action: 'block',
    rule: 'trial',
  });
  assert.equal(decide('monitor', 'own.b').decision, 'block');
  assert.throws(() => decide('watch', 'own.a'), /`enforcement` must be one of/);
  const memory = {
    enforcement: 'monitor',
    memory: { name: 'm', scope: 'user', fields: [{ name: 'a', type: 'string', tag: 'own' }] },
  };
  assert.throws(() => buildTestPolicy({ documents: [memory] }), /a memory schema has none/);
});
