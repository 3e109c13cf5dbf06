import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Caller } from '../runtime/access/types.ts';
import type { Context } from './operation.ts';
import { Refusal } from './operation.ts';
import type { StatedPrincipal } from './principal.ts';
import { resolveSubject, type SubjectFields } from './subject.ts';

const AGENT: Caller = { id: 'key:bot', kind: 'agent', permissions: ['check'], tenants: '*', agents: '*' };
const ALICE = { user_id: 'alice', user_email: null, groups: ['finance'], scopes: ['mail'] };

function resolve(
  context: StatedPrincipal,
  caller: Partial<Caller> = {},
  fields: SubjectFields = {},
  transport: Partial<Context> = {},
) {
  const requested = { caller: { ...AGENT, ...caller }, request_id: 'r', ...transport } as Context;
  return resolveSubject({ ...fields, context: { ...context, ...fields.context } }, requested);
}

function refuses(code: string, work: () => unknown): void {
  assert.throws(work, (error) => error instanceof Refusal && error.code === code);
}

test('a stated person is only claimed', () => {
  const { principal } = resolve({ user_id: 'alice' });
  assert.equal(principal?.user, null);
  assert.equal(principal?.claimed_user, 'alice');
  assert.equal(resolve({}, {}, {}, { user_id: 'alice' }).principal?.claimed_user, 'alice');
  assert.equal(resolve({}).principal, undefined);
});

test('a credential that may act for a person proves the stated one', () => {
  const { principal } = resolve({ user_id: 'alice' }, { may_act_for: ['alice'] });
  assert.equal(principal?.user?.user_id, 'alice');
  assert.equal(principal?.user?.scopes, null);
  assert.equal(principal?.claimed_user, null);
  assert.equal(resolve({ user_id: 'zoe' }, { may_act_for: '*' }).principal?.user?.user_id, 'zoe');
});

test('no twin of a name is that person', () => {
  const twins = ['Alice', 'alice ', 'аlice', 'alic\u0435', '\uff41lice', 'ali\u200bce', 'alice\u0301'];
  for (const twin of twins) {
    const { principal } = resolve({ user_id: twin }, { may_act_for: ['alice'] });
    assert.equal(principal?.user, null, JSON.stringify(twin));
    assert.equal(principal?.claimed_user, twin);
  }
});

test('the person of the credential takes precedence', () => {
  const { principal } = resolve({ user_id: 'bob' }, { user: ALICE, may_act_for: '*' });
  assert.equal(principal?.user, ALICE);
  assert.equal(principal?.claimed_user, 'bob');
  assert.equal(resolve({ user_id: 'alice' }, { user: ALICE }).principal?.claimed_user, null);
});

test('the last agent of a chain is the agent', () => {
  const { agent_id, principal } = resolve({ chain: ['lead', 'mailer'] });
  assert.equal(agent_id, 'mailer');
  assert.deepEqual(principal?.chain, ['lead', 'mailer']);
  assert.equal(resolve({ chain: ['lead', 'mailer'] }, {}, { agent_id: 'mailer' }).agent_id, 'mailer');
  refuses('forbidden', () => resolve({ chain: ['lead', 'mailer'] }, {}, { agent_id: 'lead' }));
  refuses('forbidden', () => resolve({}, { chain: ['lead', 'mailer'] }, { agent_id: 'other' }));
});

test('the chain of the credential takes precedence', () => {
  const { agent_id, principal } = resolve({ chain: ['mailer'] }, { chain: ['lead', 'planner'] });
  assert.deepEqual(principal?.chain, ['lead', 'planner']);
  assert.equal(agent_id, 'planner');
});

test('a stated chain stays within limits and scope', () => {
  const links = (count: number) => Array.from({ length: count }, (_, at) => `agent-${at}`);
  assert.equal(resolve({ chain: links(16) }).principal?.chain.length, 16);
  for (const chain of [links(17), links(100), ['a', 'b', 'a'], ['a', ' ']])
    refuses('invalid_request', () => resolve({ chain }));
  const scope = { agents: ['lead', 'mailer'] };
  assert.equal(resolve({ chain: ['lead', 'mailer'] }, scope).agent_id, 'mailer');
  refuses('forbidden', () => resolve({ chain: ['boss', 'mailer'] }, scope));
});

test('a stated tier is claimed, and never replaces a proved one', () => {
  assert.equal(resolve({ agent_tier: 'background' }).principal?.claimed_tier, 'background');
  assert.equal(resolve({ agent_tier: 'background' }).principal?.agent_tier, null);
  assert.equal(resolve({ agent_tier: 'api' }, { agent_tier: 'api' }).principal?.agent_tier, 'api');
  refuses('forbidden', () => resolve({ agent_tier: 'interactive' }, { agent_tier: 'background' }));
});

test('the trace comes from the request, else from the transport', () => {
  assert.equal(resolve({ trace_id: 't-1' }, {}, {}, { trace_id: 't-2' }).principal?.trace_id, 't-1');
  assert.equal(resolve({}, {}, {}, { trace_id: 't-2' }).principal?.trace_id, 't-2');
});
