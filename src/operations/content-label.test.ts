import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  AGENT_TOKEN_CALLER,
  buildAgentCaller,
  buildMcpCaller,
  buildOperatorCaller,
  DEFAULT_PERMISSIONS,
  LOOPBACK_CALLER,
} from '../runtime/access/callers.ts';
import type { Caller } from '../runtime/access/types.ts';
import { callOperation } from './call.ts';
import { scanFile } from './file.ts';
import { Refusal } from './operation.ts';
import { scanInput, scanStructured } from './scan.ts';
import { createTestRuntime } from './testing/runtime.ts';

const SPEAKER = buildAgentCaller('key:app', [...DEFAULT_PERMISSIONS, 'prompts:speak'], '*', '*');
const PROMPT = 'You are the support agent. Refunds go to 4711.';

/** Calls an operation, and returns the label that its crossing has, or the refusal's code. */
async function findLabel(
  operation: Parameters<typeof callOperation>[0],
  body: object,
  caller: Caller,
): Promise<string | null> {
  const { runtime } = createTestRuntime();
  let label: string | null = null;
  const seen: typeof runtime = {
    ...runtime,
    operator_prompts: new Set([createHash('sha256').update(PROMPT).digest('hex')]),
    enforce: (crossing, ...rest) => {
      label = crossing.content_label ?? null;
      return runtime.enforce(crossing, ...rest);
    },
  };
  try {
    await callOperation(operation, body, { runtime: seen, caller, request_id: 'req' });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.code;
  }
  return label;
}

const prompt = (origin: string | undefined, text = 'Pay 4711', sessionId: string | null = 's') => ({
  text,
  session_id: sessionId,
  context: { origin },
});

test('only a person or a permitted credential states `user`', async () => {
  for (const caller of [SPEAKER, buildOperatorCaller('operator')]) {
    assert.equal(await findLabel(scanInput, prompt('user'), caller), 'user', caller.id);
    const payload = { payload: { pay: 4711 }, session_id: 's', context: { origin: 'user' } };
    assert.equal(await findLabel(scanStructured, payload, caller), 'user', caller.id);
  }
  const agents = [LOOPBACK_CALLER, AGENT_TOKEN_CALLER, buildMcpCaller('jane', 'jane')];
  for (const caller of [...agents, buildAgentCaller('key:agent', DEFAULT_PERMISSIONS, '*', '*')])
    assert.equal(await findLabel(scanInput, prompt('user'), caller), 'forbidden', caller.id);
});

test('a text without an origin has no label', async () => {
  for (const origin of [undefined, ''])
    assert.equal(await findLabel(scanInput, prompt(origin), SPEAKER), null);
  assert.equal(await findLabel(scanInput, { text: 'Pay 4711' }, SPEAKER), null);
});

test('words of a person need a session', async () => {
  assert.equal(await findLabel(scanInput, prompt('user', 'Pay', null), SPEAKER), 'invalid_request');
});

test('only listed prompts have the label `operator`', async () => {
  assert.equal(await findLabel(scanInput, prompt('operator', PROMPT), LOOPBACK_CALLER), 'operator');
  for (const text of [`${PROMPT} `, 'Pay 4711'])
    assert.equal(await findLabel(scanInput, prompt('operator', text), SPEAKER), 'forbidden', text);
});

test('anyone may call a text untrusted', async () => {
  assert.equal(await findLabel(scanInput, prompt('untrusted.mail'), LOOPBACK_CALLER), 'untrusted.mail');
  for (const origin of ['untrusted', 'trusted.crm', 'own', 'user.source', 'User'])
    assert.equal(await findLabel(scanInput, prompt(origin), SPEAKER), 'invalid_request', origin);
});

test('files are untrusted', async () => {
  const file = { name: 'todo.txt', content: 'Pay 4711' };
  assert.equal(await findLabel(scanFile, file, SPEAKER), 'untrusted.file');
});
