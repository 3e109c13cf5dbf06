import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROBE_TEXTS } from '../../coding-agents/hook-probe.ts';
import type { HookCheck } from '../../coding-agents/record/dialect.ts';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { buildAgentCaller } from '../../runtime/access/callers.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { HookRequest, HookRuntime } from './hook-request.ts';
import { judgeChecks } from './judge-checks.ts';
import { getProbeKind } from './probe.ts';

const SESSION = 'service-doctor-0123456789abcdef';
const CALLER = buildAgentCaller('hook:ada', ['check'], '*', '*');

function request(sessionId: string | null, checks: readonly HookCheck[]): HookRequest {
  return {
    dialect: 'claude-code',
    event: 'PreToolUse',
    agent_id: 'claude-code',
    tenant_id: 'default',
    session_id: sessionId,
    tool_use_id: 'toolu_1',
    approval_request_id: null,
    checks,
  };
}

function call(command: string): HookCheck {
  return { kind: 'call', tool: 'Bash', input: { command } };
}

/** Builds a runtime that collects recorded events, and fails if the policy is evaluated. */
function createTestRuntime(noted: AuditEvent[], note?: HookRuntime['note']): HookRuntime {
  return {
    now_ms: () => 1_700_000_000_000,
    openSession: async () => {},
    policy: () => ({ hash: 'sha256:00' }) as ReturnType<HookRuntime['policy']>,
    note: note ?? (async (event) => void noted.push(event)),
    enforce: () => Promise.reject(new Error('the policy was asked')),
  };
}

test('only the session of a doctor makes a probe, and only its own words do', () => {
  const cases: readonly (readonly [string | null, HookCheck, 'block' | 'pass' | null])[] = [
    [SESSION, call(PROBE_TEXTS.block), 'block'],
    [SESSION, call(PROBE_TEXTS.pass), 'pass'],
    [SESSION, { kind: 'prompt', text: PROBE_TEXTS.block }, 'block'],
    [SESSION, { kind: 'result', tool: 'Bash', output: PROBE_TEXTS.block }, 'block'],
    [SESSION, { kind: 'result', tool: 'Bash', output: { stdout: PROBE_TEXTS.pass, stderr: '' } }, 'pass'],
    ['s-1', call(PROBE_TEXTS.block), null],
    [null, call(PROBE_TEXTS.pass), null],
    [`${SESSION}0`, call(PROBE_TEXTS.pass), null],
    [SESSION.toUpperCase(), call(PROBE_TEXTS.pass), null],
    [SESSION, call('rm -rf /'), null],
    [SESSION, call(`${PROBE_TEXTS.pass} && rm -rf /`), null],
    [SESSION, { kind: 'call', tool: 'Bash', input: null }, null],
  ];
  for (const [session, check, expected] of expectRows(12, cases)) {
    assert.equal(getProbeKind(request(session, [check])), expected, JSON.stringify([session, check]));
  }
  const two = request(SESSION, [call(PROBE_TEXTS.pass), call(PROBE_TEXTS.block)]);
  assert.equal(getProbeKind(two), 'block');
});

test('a probe is refused without the policy, and records one event that counts for no agent', async () => {
  const noted: AuditEvent[] = [];
  const answers = await judgeChecks(
    request(SESSION, [call(PROBE_TEXTS.block), call('ls')]),
    createTestRuntime(noted),
    CALLER,
  );
  assert.deepEqual(
    answers.map(({ decision, rule }) => [decision, rule]),
    [
      ['block', 'service.hook_probe'],
      ['block', 'service.hook_probe'],
    ],
  );
  assert.equal(noted.length, 1);
  const { decision, session_id, agent_id, policy_name, metadata } = noted[0]!;
  assert.deepEqual(
    [decision, session_id, agent_id, policy_name],
    ['allow', null, 'unknown', 'service.hook_probe'],
  );
  assert.deepEqual(metadata, {
    probe: SESSION,
    hook: 'claude-code',
    hook_event: 'PreToolUse',
    phase: 'hook_probe',
  });
});

test('a probe that cannot be recorded is not allowed', async () => {
  const runtime = createTestRuntime([], () => Promise.reject(new Error('the disk is full')));
  await assert.rejects(judgeChecks(request(SESSION, [call(PROBE_TEXTS.block)]), runtime, CALLER), /disk/);
});

test('the harmless probe is judged by the policy, in no session', async () => {
  const requested: unknown[] = [];
  const runtime: HookRuntime = {
    ...createTestRuntime([]),
    enforce: (crossing, _caller, _endpoint, _approval, extras) => {
      requested.push([crossing.session_id, extras?.buildMetadata?.({} as never)]);
      return Promise.reject(new Error('enough'));
    },
  };
  const ask = (session: string) =>
    assert.rejects(judgeChecks(request(session, [call(PROBE_TEXTS.pass)]), runtime, CALLER), /enough/);
  await ask(SESSION);
  await ask('s-1');
  const metadata = { hook: 'claude-code', hook_event: 'PreToolUse', tool_use_id: 'toolu_1' };
  assert.deepEqual(requested, [
    [null, { probe: SESSION, ...metadata }],
    ['s-1', metadata],
  ]);
});
