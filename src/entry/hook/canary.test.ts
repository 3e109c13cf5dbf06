import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../runtime/access/callers.ts';
import type { AuditEvent } from '../../runtime/types.ts';
import { CANARY_TEXTS, canaryOf } from './canary.ts';
import type { HookCheck } from './dialects/dialect.ts';
import { judgeChecks } from './judge.ts';
import type { HookQuestion, HookRuntime } from './question.ts';

const SESSION = 'service-doctor-0123456789abcdef';
const CALLER = agent('hook:ada', ['check'], '*', '*');

function question(session_id: string | null, checks: readonly HookCheck[]): HookQuestion {
  return {
    dialect: 'claude-code',
    event: 'PreToolUse',
    agent_id: 'claude-code',
    tenant_id: 'default',
    session_id,
    tool_use_id: 'toolu_1',
    approval_request_id: null,
    checks,
  };
}

function call(command: string): HookCheck {
  return { kind: 'call', tool: 'Bash', input: { command } };
}

/** Notes what is written down, and fails where the policy is asked. */
function runtimeThat(noted: AuditEvent[], note?: HookRuntime['note']): HookRuntime {
  return {
    now_ms: () => 1_700_000_000_000,
    policy: () => ({ hash: 'sha256:00' }) as ReturnType<HookRuntime['policy']>,
    note: note ?? (async (event) => void noted.push(event)),
    enforce: () => Promise.reject(new Error('the policy was asked')),
  };
}

test('only the session of a doctor makes a canary, and only its own words do', () => {
  const cases: readonly (readonly [string | null, HookCheck, 'block' | 'pass' | null])[] = [
    [SESSION, call(CANARY_TEXTS.block), 'block'],
    [SESSION, call(CANARY_TEXTS.pass), 'pass'],
    [SESSION, { kind: 'prompt', text: CANARY_TEXTS.block }, 'block'],
    [SESSION, { kind: 'result', tool: 'Bash', output: CANARY_TEXTS.block }, 'block'],
    [SESSION, { kind: 'result', tool: 'Bash', output: { stdout: CANARY_TEXTS.pass, stderr: '' } }, 'pass'],
    ['s-1', call(CANARY_TEXTS.block), null],
    [null, call(CANARY_TEXTS.pass), null],
    [`${SESSION}0`, call(CANARY_TEXTS.pass), null],
    [SESSION.toUpperCase(), call(CANARY_TEXTS.pass), null],
    [SESSION, call('rm -rf /'), null],
    [SESSION, call(`${CANARY_TEXTS.pass} && rm -rf /`), null],
    [SESSION, { kind: 'call', tool: 'Bash', input: null }, null],
  ];
  let ran = 0;
  for (const [session, check, expected] of cases) {
    assert.equal(canaryOf(question(session, [check])), expected, JSON.stringify([session, check]));
    ran += 1;
  }
  assert.equal(ran, 12);
  const two = question(SESSION, [call(CANARY_TEXTS.pass), call(CANARY_TEXTS.block)]);
  assert.equal(canaryOf(two), 'block');
});

test('a canary is refused without the policy, and leaves one event that counts for nobody', async () => {
  const noted: AuditEvent[] = [];
  const answers = await judgeChecks(
    question(SESSION, [call(CANARY_TEXTS.block), call('ls')]),
    runtimeThat(noted),
    CALLER,
  );
  assert.deepEqual(
    answers.map(({ decision, rule }) => [decision, rule]),
    [
      ['block', 'service.hook_canary'],
      ['block', 'service.hook_canary'],
    ],
  );
  assert.equal(noted.length, 1);
  const { decision, session_id, agent_id, policy_name, metadata } = noted[0]!;
  assert.deepEqual(
    [decision, session_id, agent_id, policy_name],
    ['allow', null, 'unknown', 'service.hook_canary'],
  );
  assert.deepEqual(metadata, {
    canary: SESSION,
    hook: 'claude-code',
    hook_event: 'PreToolUse',
    phase: 'hook_canary',
  });
});

test('a canary that cannot be written down is no yes', async () => {
  const runtime = runtimeThat([], () => Promise.reject(new Error('the disk is full')));
  await assert.rejects(judgeChecks(question(SESSION, [call(CANARY_TEXTS.block)]), runtime, CALLER), /disk/);
});

test('the harmless canary is judged by the policy, in no session', async () => {
  const asked: unknown[] = [];
  const runtime: HookRuntime = {
    ...runtimeThat([]),
    enforce: (crossing, _caller, _endpoint, _approval, extras) => {
      asked.push([crossing.session_id, extras?.about?.({} as never)]);
      return Promise.reject(new Error('enough'));
    },
  };
  const ask = (session: string) =>
    assert.rejects(judgeChecks(question(session, [call(CANARY_TEXTS.pass)]), runtime, CALLER), /enough/);
  await ask(SESSION);
  await ask('s-1');
  const about = { hook: 'claude-code', hook_event: 'PreToolUse', tool_use_id: 'toolu_1' };
  assert.deepEqual(asked, [
    [null, { canary: SESSION, ...about }],
    ['s-1', about],
  ]);
});
