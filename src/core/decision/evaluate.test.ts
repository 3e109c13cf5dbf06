import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { buildTestPolicy } from '../testing/policies.ts';
import { ACTIONS, type Action, BOUNDARIES, PHASES } from '../types/index.ts';
import { evaluate } from './evaluate.ts';

const rule = (name: string, boundary: unknown, dataTags: string[], action: Action, more: object = {}) => ({
  name,
  boundary,
  data_tags: dataTags,
  action,
  ...more,
});

test('a context gives one action', () => {
  const policy = buildTestPolicy({
    rules: [
      rule('global-pii', 'output', ['personal.pii'], 'redact'),
      rule('global-all', 'output', ['personal'], 'block'),
      rule('results', 'action', ['ours'], 'allow', { condition: { phase: 'response' } }),
      { name: 'tool', boundary: 'action', action: 'block', condition: { tools: ['rm'] } },
      { name: 'watch', boundary: 'input', action: 'block', enforcement: 'monitor' },
    ],
    tenants: { acme: [rule('acme-pii', 'output', ['personal.pii'], 'allow')] },
  });
  type Row = [string, string[], string, Action, object?];
  const rows: Row[] = [
    ['output', ['personal.pii'], 'default', 'redact'],
    ['output', ['personal.pii.email'], 'default', 'redact'],
    ['output', ['personal.phi'], 'default', 'block'],
    ['output', ['personal.pii'], 'acme', 'allow'],
    ['output', ['personal.phi'], 'acme', 'block'],
    ['output', ['personal.pii', 'secret'], 'acme', 'redact'],
    ['output', ['PERSONAL.PII'], 'acme', 'allow'],
    ['output', [], 'default', 'block'],
    ['output', ['unheard.of'], 'default', 'block'],
    ['input', ['personal.pii'], 'default', 'redact'],
    ['input', ['secret.credential'], 'default', 'block'],
    ['action', ['personal.pii'], 'default', 'flag'],
    ['action', ['ours'], 'default', 'block'],
    ['action', ['ours'], 'default', 'allow', { phase: 'response' }],
    ['action', ['personal.pii'], 'default', 'block', { tool: 'rm' }],
    ['action', ['personal.pii'], 'default', 'flag', { tool: 'ls' }],
    ['action', [], 'default', 'block', { tool: 'rm' }],
  ];
  for (const [boundary, dataTags, tenantId, expected, more] of rows) {
    const context = { boundary: boundary as 'input', data_tags: dataTags, tenant_id: tenantId, ...more };
    assert.equal(evaluate(policy, context), expected, JSON.stringify(context));
  }
  assert.equal(rows.length, 17);
});

const TAGS = [
  'personal',
  'personal.pii',
  'personal.pii.email',
  'secret',
  'secret.credential.x',
  'own',
  'own.deep',
  'egress.x',
];
const tag = fc.constantFrom(...TAGS);
const action = fc.constantFrom(...ACTIONS);
const boundary = fc.constantFrom(...BOUNDARIES);
const phase = fc.constantFrom(...PHASES);
const writtenRule = fc.record({
  boundary: fc.uniqueArray(boundary, { minLength: 1 }),
  data_tags: fc.uniqueArray(tag, { minLength: 1, maxLength: 3 }),
  action,
  priority: fc.integer({ min: 0, max: 3 }),
  tenant_id: fc.constantFrom(null, 'acme', 'globex'),
  enforcement: fc.constantFrom('enforce', 'monitor'),
});
const anyRules = fc
  .array(writtenRule, { maxLength: 8 })
  .map((rules) => rules.map((each, at) => ({ ...each, name: `rule-${at}` })));
const context = fc.record({
  boundary,
  phase,
  tenant_id: fc.constantFrom('default', 'acme', 'globex'),
  data_tags: fc.array(tag, { minLength: 1, maxLength: 4 }),
});
const strictness = (each: Action) => ACTIONS.indexOf(each);

test('one more tag never makes it milder', () => {
  fc.assert(
    fc.property(anyRules, context, tag, (rules, given, more) => {
      const policy = buildTestPolicy({ rules });
      const before = evaluate(policy, given);
      const after = evaluate(policy, { ...given, data_tags: [...given.data_tags, more] });
      assert.ok(strictness(after) >= strictness(before));
    }),
  );
});

test('the order and the number of the tags do not matter', () => {
  fc.assert(
    fc.property(anyRules, context, (rules, given) => {
      const policy = buildTestPolicy({ rules });
      const doubled = [...given.data_tags, ...given.data_tags.toReversed()];
      assert.equal(evaluate(policy, { ...given, data_tags: doubled }), evaluate(policy, given));
    }),
  );
});

test('another tenant’s rules and rules that only watch change nothing', () => {
  fc.assert(
    fc.property(anyRules, context, (rules, given) => {
      const silent = rules.filter(
        (each) =>
          each.enforcement === 'enforce' && (each.tenant_id === null || each.tenant_id === given.tenant_id),
      );
      assert.equal(
        evaluate(buildTestPolicy({ rules }), given),
        evaluate(buildTestPolicy({ rules: silent }), given),
      );
    }),
  );
});

test('if a rule of the tenant matches, global rules for the same tag are skipped', () => {
  fc.assert(
    fc.property(anyRules, action, action, tag, (rules, own, other, named) => {
      const first = rule('own', 'input', [named], own, { tenant_id: 'acme', priority: 0 });
      const last = rule('other', 'input', [named], other, { priority: 0 });
      const policy = buildTestPolicy({
        rules: [last, first, ...rules.map((each) => ({ ...each, priority: 9 }))],
      });
      assert.equal(evaluate(policy, { boundary: 'input', data_tags: [named], tenant_id: 'acme' }), own);
      assert.equal(evaluate(policy, { boundary: 'input', data_tags: [named], tenant_id: 'none' }), other);
    }),
  );
});
