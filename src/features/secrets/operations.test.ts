import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callOperation } from '../../operations/call.ts';
import { interceptTool } from '../../operations/intercept.ts';
import { Refusal } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import { createTestRuntime, type TestOptions } from '../../operations/testing/runtime.ts';
import { buildOperatorCaller } from '../../runtime/access/callers.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { CapabilityPresentation } from '../../runtime/enforcement/capability.ts';
import { CAUSE_MESSAGES } from '../capabilities/misfit.ts';
import type { Capabilities, CapabilityResult } from '../capabilities/types.ts';
import { secretsCheck, secretsResolve } from './operations.ts';

const VALUE = ['mail', 'password', '7a61'].join('-');
const TOKEN = `svc_cap_${'0'.repeat(24)}_${'A'.repeat(43)}`;
const ASKED = {
  secret_key: 'MAIL_PASSWORD',
  capability_token_id: TOKEN,
  tool: 'send_email',
  agent_id: 'bot',
};

/** Builds capabilities that give these results in turn; the last one repeats. */
function createCapabilities(...answers: readonly CapabilityResult[]): {
  capabilities: Runtime['capabilities'];
  asked: CapabilityPresentation[];
} {
  const asked: CapabilityPresentation[] = [];
  const next = async (presented: CapabilityPresentation): Promise<CapabilityResult> => {
    asked.push(presented);
    return answers[Math.min(asked.length, answers.length) - 1]!;
  };
  const capabilities = { check: next, use: next } as unknown as Capabilities;
  return { capabilities: async () => capabilities, asked };
}

const GOOD: CapabilityResult = { taken: true, token_id: 'cap_1', expires_ms: Number.MAX_SAFE_INTEGER };
const bad = (cause: 'revoked' | 'unknown'): CapabilityResult => ({ taken: false, token_id: 'cap_1', cause });

interface Outcome {
  readonly reply: Record<string, unknown> | null;
  readonly refusal: string | null;
  readonly events: readonly AuditEvent[];
}

async function resolve(options: TestOptions, more: object = {}): Promise<Outcome> {
  const { runtime, events } = createTestRuntime(options);
  const context = { runtime, caller: buildOperatorCaller('operator'), request_id: 'r' };
  try {
    const reply = (await callOperation(secretsResolve, { ...ASKED, ...more }, context)) as Record<
      string,
      unknown
    >;
    return { reply, refusal: null, events };
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    assert.ok(!error.message.includes(VALUE));
    return { reply: null, refusal: error.code, events };
  }
}

const results = ({ events }: Outcome) => events.flatMap(({ metadata }) => metadata.result ?? []);

test('a value is given when the token, the rules and the journal say so', async () => {
  const { capabilities, asked } = createCapabilities(GOOD);
  const outcome = await resolve({ instead: { capabilities } });
  assert.deepEqual([outcome.reply?.decision, outcome.reply?.value], ['allow', VALUE]);
  assert.deepEqual(results(outcome), ['allow']);
  assert.deepEqual(
    asked.map(({ agent_id, tool, action, secret_key, has_credential }) => [
      agent_id,
      tool,
      action,
      secret_key,
      has_credential,
    ]),
    Array(2).fill(['bot', 'send_email', 'invoke', 'MAIL_PASSWORD', true]),
  );
  assert.ok(!JSON.stringify(outcome.events).includes(VALUE));
});

test('a token that ends during the backend call yields no secret', async () => {
  const { capabilities } = createCapabilities(GOOD, bad('revoked'));
  const outcome = await resolve({ instead: { capabilities } });
  assert.deepEqual(
    [outcome.reply?.decision, outcome.reply?.rule, outcome.reply?.reason],
    ['block', 'capability_token.revoked', CAUSE_MESSAGES.revoked],
  );
  assert.ok(!('value' in (outcome.reply ?? {})));
  assert.deepEqual(results(outcome), ['denied']);
});

test('a secret is not returned if the event cannot be recorded', async () => {
  for (const phase of ['request', 'secret_resolve']) {
    const record = async (event: AuditEvent) => {
      if (event.metadata.phase === phase) throw new Error('the disk is full');
    };
    const outcome = await resolve({
      record,
      instead: { capabilities: createCapabilities(GOOD).capabilities },
    });
    const reported = JSON.stringify(outcome);
    assert.ok(!reported.includes(VALUE), reported);
    if (phase === 'request') assert.deepEqual(outcome.reply?.rule, 'fault.audit');
    else assert.equal(outcome.refusal, 'unavailable');
  }
});

test('without the store no token is valid, and no backend is called', async () => {
  let opened = 0;
  const secrets: Runtime['secrets'] = {
    backend: 'env',
    open: async () => {
      opened += 1;
      throw new Error('not to be asked');
    },
  };
  const outcome = await resolve({ instead: { secrets } });
  assert.deepEqual([outcome.reply?.decision, outcome.reply?.rule, opened], ['block', 'fault.store', 0]);
  const { runtime } = createTestRuntime();
  const context = { runtime, caller: buildOperatorCaller('operator'), request_id: 'r' };
  const intercepted = (await callOperation(
    interceptTool,
    { tool: 't', capability_token_id: TOKEN },
    context,
  )) as object;
  assert.partialDeepStrictEqual(intercepted, { decision: 'block', rule: 'fault.store', violations: [] });
});

test('rules, contracts and identities know the resolution as a call of `secrets.resolve`', async () => {
  const rule = (action: string) => ({
    name: 'r',
    boundary: 'action',
    condition: { tools: ['secrets.resolve'] },
    action,
  });
  const contractOf = (own: object) => ({
    version: 'v1alpha1',
    contract: {
      tool_name: 'secrets.resolve',
      accepts: { tags: [] },
      emits: {},
      side_effects: { reversible: true, requires_approval: false },
      ...own,
    },
  });
  const contract = contractOf({ arguments: { type: 'object', properties: { key: { pattern: '^MAIL_' } } } });
  const stripping = contractOf({ accepts: { tags: [], fields: ['key'] } });
  const cases: readonly (readonly [string, TestOptions, object, string])[] = [
    ['a rule that blocks', { rules: [rule('block')] }, {}, 'block'],
    ['a rule that asks for approval', { rules: [rule('require_approval')] }, {}, 'block'],
    ['a contract that takes arguments away', { documents: [stripping] }, {}, 'block'],
    ['a rule that takes note', { rules: [rule('flag')] }, {}, 'allow'],
    ['tools must be declared', { settings: { undeclared_tools: 'block' } }, {}, 'block'],
    ['it is declared', { settings: { undeclared_tools: 'block' }, documents: [contract] }, {}, 'allow'],
    ['another key than declared', { documents: [contract] }, { secret_key: 'DB_PASSWORD' }, 'block'],
  ];
  for (const [name, options, more, decision] of cases) {
    const { capabilities } = createCapabilities(GOOD);
    const outcome = await resolve({ ...options, instead: { capabilities } }, more);
    assert.equal(outcome.reply?.decision, decision, `${name}: ${JSON.stringify(outcome.reply)}`);
    assert.equal('value' in (outcome.reply ?? {}), decision === 'allow', name);
  }
  assert.equal(cases.length, 7);
});

test('a name that is a secret itself is not recorded', async () => {
  const pasted = ['sk', 'ABCDEF1234567890'].join('-');
  const outcome = await resolve(
    { instead: { capabilities: createCapabilities(GOOD).capabilities } },
    { secret_key: pasted },
  );
  assert.equal(outcome.reply?.decision, 'block');
  assert.ok(!JSON.stringify(outcome.events).includes(pasted));
});

test('usual names of secrets are no secrets', async () => {
  const names = [
    'MAIL_PASSWORD',
    'db/prod#password',
    'prod/stripe-secret-key',
    'aws_secret_access_key',
    'a.b-c/d_e#f',
  ];
  for (const secretKey of names) {
    const outcome = await resolve(
      { instead: { capabilities: createCapabilities(GOOD).capabilities } },
      { secret_key: secretKey },
    );
    assert.notEqual(outcome.reply?.decision, 'block', `${secretKey} ${JSON.stringify(outcome.reply)}`);
  }
});

test('a check of the backend lists the readable keys, and records the requested ones', async () => {
  const { runtime, events } = createTestRuntime();
  const context = { runtime, caller: buildOperatorCaller('operator'), request_id: 'r' };
  const reply = await callOperation(
    secretsCheck,
    { secret_keys: ['MAIL_PASSWORD', 'NOPE', 'NOPE'] },
    context,
  );
  assert.deepEqual(reply, {
    backend: 'env',
    reachable: true,
    secrets: [
      { secret_key: 'MAIL_PASSWORD', result: 'allow' },
      { secret_key: 'NOPE', result: 'missing' },
    ],
  });
  assert.deepEqual(
    events.map(({ caller_id, metadata }) => [caller_id, metadata.secret_key, metadata.result]),
    [
      ['operator', 'MAIL_PASSWORD', 'allow'],
      ['operator', 'NOPE', 'missing'],
    ],
  );
});
