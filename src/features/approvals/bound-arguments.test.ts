import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../core/decision/judge.ts';
import { createMemoryValues } from '../../core/flow/memory-values.ts';
import { parseJsonContent } from '../../core/json/source.ts';
import { UNLIMITED_WALK } from '../../core/json/walk.ts';
import { celEvaluator } from '../../core/policy/conditions/cel.ts';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import type { Crossing, Policy } from '../../core/types/index.ts';
import { buildGrantOffer } from './grant-offer.ts';
import { getCall } from './testing/open.ts';

const { seen } = createMemoryValues((form, text) => `${form} ${text}`);

const ask = (name: string, tool: string, more: object = {}) => ({
  name,
  boundary: 'action',
  action: 'require_approval',
  condition: { tools: [tool] },
  ...more,
});

const POLICY = buildTestPolicy({
  rules: [
    ask('mail-asks', 'mail'),
    ask('large-asks', 'pay', { condition: { tools: ['pay'], when: 'args.amount > 10' } }),
    ask('card-asks', 'note', { data_tags: ['personal.financial'] }),
    ask('tainted-asks', 'post', { condition: { tools: ['post'], session_tags: ['untrusted.mail'] } }),
  ],
  documents: [
    {
      contracts: [
        {
          tool_name: 'send_money',
          flow: {
            arguments: {
              recipient: { any_of: ['user'], otherwise: 'require_approval' },
              amount: { any_of: ['trivial'], otherwise: 'require_approval' },
            },
            others: { any_of: ['trivial'], otherwise: 'require_approval' },
          },
        },
        { tool_name: 'drop_table', side_effects: { reversible: false, requires_approval: true } },
      ],
    },
  ],
});

function offer(tool: string, json: string, more: Partial<Crossing> = {}, policy: Policy = POLICY) {
  const crossing = getCall({
    tool,
    content: parseJsonContent(json, UNLIMITED_WALK),
    values_seen: seen,
    ...more,
  });
  const judged = judge(crossing, policy, null, celEvaluator);
  assert.ok(judged.approval !== null, `${tool}: ${judged.rule}`);
  return buildGrantOffer(judged.approval, judged, crossing, policy, () => 's'.repeat(43));
}

const MAIL = '{"to":"ada@example.com","subject":"Hello","body":"How are you?"}';

test('rules on tools bind all but words for people', () => {
  const made = offer('mail', MAIL);
  assert.deepEqual([made?.bound, made?.free], [['to'], ['subject', 'body']]);
  assert.deepEqual(made?.scopes, ['session', 'agent', 'any_arguments']);
});

test('an offer holds no value', () => {
  const text = JSON.stringify(offer('mail', MAIL));
  assert.doesNotMatch(text, /ada@example|Hello|How are you/);
  assert.match(text, /"to":"[\w-]{43}"/);
});

test('a condition binds its argument and all others', () => {
  const made = offer('pay', '{"amount":12,"to":"acme","note":"Thanks"}');
  assert.deepEqual([made?.bound, made?.free], [['amount', 'to'], ['note']]);
  assert.deepEqual(made?.scopes, ['session', 'agent']);
});

test('a finding binds the argument that holds it', () => {
  const made = offer('note', '{"body":"4111 1111 1111 1111","subject":"Card"}');
  assert.deepEqual([made?.bound, made?.free], [['body'], ['subject']]);
  const declared = offer('note', '{"body":"Hello"}', { declared_tags: ['personal.financial.card'] });
  assert.deepEqual([declared?.bound, declared?.scopes], [['body'], ['session', 'agent']]);
});

test('a rule on session tags binds everything, in that session', () => {
  const made = offer('post', '{"url":"https://example.com","body":"x"}', {
    session_tags: ['untrusted.mail'],
  });
  assert.deepEqual([made?.bound, made?.scopes], [['url', 'body'], ['session']]);
});

test('an origin binds the argument in question', () => {
  const made = offer('send_money', '{"recipient":"DE89370400440532013000","amount":5}');
  assert.deepEqual([made?.bound, made?.free, made?.permits_others], [['recipient'], ['amount'], true]);
  assert.deepEqual(made?.scopes, ['session', 'agent']);
  const others = offer('send_money', '{"recipient":"DE89370400440532013000","amount":5,"bic":"COBADEFF"}');
  assert.deepEqual([others?.bound, others?.permits_others], [['recipient', 'bic'], false]);
});

test('missing arguments, messages and odd names have no offer', () => {
  assert.equal(offer('send_money', '{"amount":5}'), null);
  assert.equal(offer('mail', '{"to of mine":1}'), null);
  assert.equal(offer('mail', '{"n":12345678901234567890}'), null);
  assert.equal(offer('mail', '["a"]'), null);
  assert.equal(offer('mail', MAIL, { session_id: null })?.scopes.join(), 'agent');
});

test('a contract that always asks offers no `any_arguments`', () => {
  assert.deepEqual(offer('drop_table', '{"name":"t"}')?.scopes, ['session', 'agent']);
});
