import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockedError } from '../errors.ts';
import { createEmbeddedGuard } from '../index.ts';
import { getHeldCalls, type ModelCall, runHeldCall } from './held-calls.ts';

const KEY = ['sk-', 'ABCDEF1234567890'].join('');
const CARD = 4_111_111_111_111_111;
const policies = [
  {
    name: 'mail-needs-approval',
    boundary: 'action',
    condition: { tools: ['mail'], phase: 'request' },
    action: 'require_approval',
  },
];
const guard = createEmbeddedGuard({ policy: { config: { policies } }, on_approval: 'raise' });

/** Each call, the arguments that the conversation holds, and whether its tool may run. */
const CALLS: readonly (readonly [title: string, call: ModelCall, held: unknown, runs: boolean])[] = [
  ['a clean call', { id: '1', tool: 'send', input: { to: 'Rome' } }, { to: 'Rome' }, true],
  [
    'a secret',
    { id: '2', tool: 'send', input: { key: KEY, to: 'Rome' } },
    { key: '[REDACTED]', to: 'Rome' },
    false,
  ],
  ['a call without an id', { tool: 'send', input: { key: KEY } }, { key: '[REDACTED]' }, false],
  [
    'a held call',
    { id: '3', tool: 'mail', input: { to: 'ann@mail.example.org' } },
    { to: '[REDACTED]' },
    false,
  ],
  [
    'an allowed call',
    { id: '4', tool: 'send', input: { to: 'ann@mail.example.org' } },
    { to: 'ann@mail.example.org' },
    true,
  ],
  ['a number', { id: '5', tool: 'mail', input: { card: CARD } }, { card: '[REDACTED]' }, false],
  ['a reused id', { id: '2', tool: 'send', input: { to: 'Rome' } }, { to: 'Rome' }, true],
];

test('a conversation holds no arguments of a refused call', async () => {
  for (const [title, call, expected, runs] of CALLS) {
    const input = await getHeldCalls(guard).hold(call);
    assert.deepEqual(input, expected, title);
    const ran: unknown[] = [];
    // An agent's tools may have a guard for another subject.
    for (const each of [guard, guard.withSubject({ agent_id: 'other' })]) {
      const work = runHeldCall(each, { ...call, input }, (allowed) => ran.push(allowed));
      if (runs) await work;
      else await assert.rejects(work, BlockedError, title);
    }
    assert.deepEqual(ran, runs ? [expected, expected] : [], title);
  }
  assert.equal(CALLS.length, 7);
});
