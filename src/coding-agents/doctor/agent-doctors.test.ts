import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { codingAgents } from '../coding-agents.ts';
import { PROBE_TEXTS } from '../hook-probe.ts';
import { dialects } from '../index.ts';
import type { HookReply, Payload } from '../record/dialect.ts';
import type { AgentDoctor, ConfiguredHook, HookEffect } from '../record/doctor.ts';
import { resolveOwnCommand } from './own-command.ts';

const PROBE = PROBE_TEXTS.block;
const PLACE = { text: PROBE, session_id: 'service-doctor-0123456789abcdef', cwd: '/home/ada', now_ms: 0 };
const HOOK: ConfiguredHook = {
  event: 'any',
  matcher: null,
  command: 'service hook',
  args: null,
  timeout_ms: null,
  fails_closed: false,
  is_ours: true,
  config_path: null,
  path: [],
  cwd: null,
  env: {},
  in_background: false,
};

function getDoctor(name: string): AgentDoctor {
  const doctor = codingAgents.find((each) => each.name === name)?.doctor;
  assert.ok(doctor !== undefined, name);
  return doctor;
}

/** Exit code, standard output and standard error of a hook, and how the agent reads them. */
type Case = readonly [
  agent: string,
  event: string,
  code: number | null,
  stdout: string | object,
  stderr: string,
  effect: HookEffect,
  has_fault: boolean,
];

const deny = { permissionDecision: 'deny', permissionDecisionReason: 'no' };
const claude = (event: string, decision: object) => ({
  hookSpecificOutput: { hookEventName: event, ...decision },
});

const CASES: readonly Case[] = [
  ['claude-code', 'PreToolUse', 0, '', '', 'goes_on', false],
  ['claude-code', 'PreToolUse', 0, claude('PreToolUse', deny), '', 'stops', false],
  ['claude-code', 'PreToolUse', 1, claude('PreToolUse', deny), '', 'stops', false],
  ['claude-code', 'PreToolUse', 2, '', 'no', 'stops', false],
  ['claude-code', 'PreToolUse', 2, claude('PreToolUse', { permissionDecision: 'allow' }), '', 'stops', false],
  ['claude-code', 'PreToolUse', 1, '', 'no', 'goes_on', true],
  ['claude-code', 'PreToolUse', 127, '', 'not found', 'goes_on', true],
  ['claude-code', 'PreToolUse', null, '', '', 'goes_on', true],
  ['claude-code', 'PreToolUse', 0, 'denied', '', 'goes_on', true],
  ['claude-code', 'PreToolUse', 0, ' {"decision":"block"}', '', 'goes_on', true],
  ['claude-code', 'PreToolUse', 0, '{"decision":', '', 'goes_on', true],
  ['claude-code', 'PreToolUse', 0, { decision: 'block' }, '', 'stops', false],
  ['claude-code', 'PreToolUse', 0, claude('PostToolUse', deny), '', 'goes_on', true],
  ['claude-code', 'PreToolUse', 0, claude('PreToolUse', { permissionDecision: 'no' }), '', 'goes_on', true],
  ['claude-code', 'PreToolUse', 0, claude('PreToolUse', { permissionDecision: 'ask' }), '', 'asks', false],
  ['claude-code', 'PreToolUse', 0, { continue: false }, '', 'stops', false],
  ['claude-code', 'PermissionRequest', 2, '', 'no', 'goes_on', true],
  ['claude-code', 'PermissionRequest', 0, claude('PermissionRequest', deny), '', 'goes_on', false],
  [
    'claude-code',
    'PermissionRequest',
    0,
    claude('PermissionRequest', { decision: { behavior: 'deny' } }),
    '',
    'stops',
    false,
  ],
  ['claude-code', 'UserPromptSubmit', 0, { decision: 'block', reason: 'no' }, '', 'stops', false],
  ['claude-code', 'UserPromptSubmit', 2, '', 'no', 'stops', false],
  ['claude-code', 'PostToolUse', 2, '', 'no', 'goes_on', true],
  ['claude-code', 'PostToolUse', 0, { decision: 'block', reason: 'no' }, '', 'goes_on', true],
  ['claude-code', 'PostToolUse', 0, claude('PostToolUse', { updatedToolOutput: 'no' }), '', 'stops', false],
  [
    'claude-code',
    'PostToolUse',
    0,
    claude('PostToolUse', { updatedToolOutput: PROBE }),
    '',
    'goes_on',
    false,
  ],
  ['codex', 'PreToolUse', 0, '', '', 'goes_on', false],
  ['codex', 'PreToolUse', 0, claude('PreToolUse', deny), '', 'stops', false],
  ['codex', 'PreToolUse', 1, claude('PreToolUse', deny), '', 'goes_on', true],
  ['codex', 'PreToolUse', 0, claude('PreToolUse', { permissionDecision: 'deny' }), '', 'goes_on', true],
  [
    'codex',
    'PreToolUse',
    0,
    claude('PreToolUse', { ...deny, permissionDecisionReason: ' ' }),
    '',
    'goes_on',
    true,
  ],
  ['codex', 'PreToolUse', 0, claude('PreToolUse', { ...deny, severity: 'high' }), '', 'goes_on', true],
  ['codex', 'PreToolUse', 0, { ...claude('PreToolUse', deny), note: 'x' }, '', 'goes_on', true],
  ['codex', 'PreToolUse', 0, { ...claude('PreToolUse', deny), continue: false }, '', 'goes_on', true],
  ['codex', 'PreToolUse', 0, claude('PreToolUse', { permissionDecision: 'ask' }), '', 'goes_on', true],
  ['codex', 'PreToolUse', 0, claude('PreToolUse', { permissionDecision: 'allow' }), '', 'goes_on', true],
  ['codex', 'PreToolUse', 0, { decision: 'block', reason: 'no' }, '', 'stops', false],
  ['codex', 'PreToolUse', 0, { decision: 'block' }, '', 'goes_on', true],
  ['codex', 'PreToolUse', 2, '', 'no', 'stops', false],
  ['codex', 'PreToolUse', 2, '', '', 'goes_on', true],
  ['codex', 'PostToolUse', 0, { decision: 'block', reason: 'no' }, '', 'stops', false],
  ['codex', 'PostToolUse', 0, { decision: 'block', reason: '' }, '', 'goes_on', true],
  [
    'codex',
    'PermissionRequest',
    0,
    claude('PermissionRequest', { decision: { behavior: 'deny', interrupt: true } }),
    '',
    'goes_on',
    true,
  ],
  ['cursor', 'beforeShellExecution', 0, { permission: 'deny' }, '', 'stops', false],
  ['cursor', 'beforeShellExecution', 0, {}, '', 'goes_on', false],
  ['cursor', 'beforeShellExecution', 0, '', '', 'goes_on', true],
  ['cursor', 'beforeShellExecution', 1, { permission: 'deny' }, '', 'goes_on', true],
  ['cursor', 'beforeShellExecution', 2, '', '', 'stops', false],
  ['cursor', 'beforeShellExecution', 0, { permission: 'ask' }, '', 'asks', false],
  ['cursor', 'preToolUse', 0, { permission: 'ask' }, '', 'goes_on', true],
  ['cursor', 'subagentStart', 0, { permission: 'ask' }, '', 'stops', false],
  ['cursor', 'beforeSubmitPrompt', 0, { permission: 'deny' }, '', 'goes_on', false],
  ['cursor', 'beforeSubmitPrompt', 0, { continue: false }, '', 'stops', false],
  ['cursor', 'postToolUse', 0, { additional_context: 'no' }, '', 'goes_on', false],
  ['cursor', 'postToolUse', 0, { updated_mcp_tool_output: 'no' }, '', 'stops', false],
  ['gemini', 'BeforeTool', 0, { decision: 'deny' }, '', 'stops', false],
  ['gemini', 'BeforeTool', 0, { decision: 'block' }, '', 'stops', false],
  ['gemini', 'BeforeTool', 0, 'deny', '', 'goes_on', true],
  ['gemini', 'BeforeTool', 1, { decision: 'deny' }, '', 'goes_on', true],
  ['gemini', 'BeforeTool', 2, '', 'no', 'stops', false],
  ['gemini', 'BeforeTool', 2, '', '', 'goes_on', true],
  ['copilot', 'preToolUse', 0, { permissionDecision: 'deny' }, '', 'stops', false],
  [
    'copilot',
    'preToolUse',
    0,
    `{"type":"progress","message":"x"}\n${JSON.stringify(deny)}`,
    '',
    'stops',
    false,
  ],
  ['copilot', 'preToolUse', 0, `${JSON.stringify(deny)}\n${JSON.stringify(deny)}`, '', 'goes_on', true],
  ['copilot', 'preToolUse', 0, { permissionDecision: 'ask' }, '', 'asks', false],
  ['copilot', 'preToolUse', 1, '', '', 'stops', true],
  ['copilot', 'preToolUse', 2, { permissionDecision: 'allow' }, '', 'stops', false],
  ['copilot', 'PreToolUse', 127, '', '', 'stops', true],
  ['copilot', 'permissionRequest', 1, { behavior: 'deny' }, '', 'goes_on', true],
  ['copilot', 'permissionRequest', 2, '', '', 'stops', false],
  ['copilot', 'permissionRequest', 0, { behavior: 'deny' }, '', 'stops', false],
  ['copilot', 'userPromptSubmitted', 2, '', 'no', 'unheard', false],
  ['copilot', 'UserPromptSubmit', 1, '', 'no', 'unheard', true],
  ['copilot', 'postToolUse', 2, '', 'no', 'goes_on', true],
  [
    'copilot',
    'postToolUse',
    0,
    { modifiedResult: { resultType: 'success', textResultForLlm: 'no' } },
    '',
    'stops',
    false,
  ],
  [
    'copilot',
    'postToolUse',
    0,
    { modifiedResult: { resultType: 'success', textResultForLlm: PROBE } },
    '',
    'goes_on',
    false,
  ],
];

test('answers of hooks are read as their agents read them', () => {
  for (const [agent, event, code, out, stderr, effect, hasFault] of expectRows(75, CASES)) {
    const stdout = typeof out === 'string' ? out : JSON.stringify(out);
    const reading = getDoctor(agent).readOutput(event, { code, stdout, stderr, is_late: false }, HOOK, PROBE);
    assert.deepEqual(
      [reading.effect, reading.fault !== null],
      [effect, hasFault],
      `${agent} ${event} ${code} ${stdout}: ${reading.fault}`,
    );
  }
});

test('a late answer counts as none: every agent continues, except Cursor with `failClosed`', () => {
  const overdue = {
    code: null,
    stdout: '{"permission":"deny","decision":"deny"}',
    stderr: '',
    is_late: true,
  };
  for (const { name, settings } of codingAgents) {
    for (const { event } of settings.wanted_hooks) {
      const { effect, fault } = getDoctor(name).readOutput(event, overdue, HOOK, PROBE);
      assert.deepEqual([effect, fault !== null], ['goes_on', true], `${name} ${event}`);
    }
  }
  const closed = getDoctor('cursor').readOutput(
    'preToolUse',
    overdue,
    { ...HOOK, fails_closed: true },
    PROBE,
  );
  assert.deepEqual([closed.effect, closed.fault !== null], ['stops', true]);
});

test('what we answer stops each agent at each event that setup enters, and what passes passes', () => {
  let ran = 0;
  for (const { name, settings } of codingAgents) {
    const doctor = getDoctor(name);
    const dialect = dialects.find((each) => each.name === name)!;
    for (const { event } of settings.wanted_hooks) {
      const payload = doctor.buildPayload(event, PLACE) as Payload | null;
      assert.ok(payload !== null, `${name} ${event}`);
      const one = dialect.events[dialect.readEvent(payload, event)!];
      assert.ok(one !== undefined, `${name} ${event}`);
      const read = ({ code, stdout, stderr }: HookReply) =>
        doctor.readOutput(event, { code, stdout, stderr, is_late: false }, HOOK, PROBE);
      const stopped = read(one.deny('No. (rule a, event b)', payload));
      const effect = name === 'copilot' && event === 'userPromptSubmitted' ? 'unheard' : 'stops';
      assert.deepEqual(stopped, { effect, fault: null }, `${name} ${event}`);
      const passed = read(dialect.pass);
      if (effect === 'stops')
        assert.deepEqual(passed, { effect: 'goes_on', fault: null }, `${name} ${event}`);
      assert.ok(one.checks(payload).length > 0, `${name} ${event}`);
      ran += 1;
    }
  }
  assert.equal(ran, 23);
});

const OWN = '/opt/own/service';
const WRITTEN = {
  'claude-code': `${OWN} hook --dialect claude-code --config '/p q/service.yaml' || exit 2`,
  codex: `${OWN} hook --dialect codex --timeout-ms 900 --config '/p q/service.yaml' || exit 2`,
  copilot: `${OWN} hook --dialect copilot --event preToolUse --config /p/service.yaml || exit 2`,
  cursor: `${OWN} hook --dialect cursor --agent a --tenant t --config "$CURSOR_PROJECT_DIR"/'a b.yaml'`,
  gemini: `${OWN} hook --dialect gemini --config $GEMINI_PROJECT_DIR/service.yaml || exit 2`,
};

test('runs only commands that setup writes', async () => {
  const surroundings = { cwd: '/', project: '/p q', env: { PATH: '' } };
  for (const { name, settings } of codingAgents) {
    const line = WRITTEN[name as keyof typeof WRITTEN];
    const resolve = (change: Partial<ConfiguredHook>) =>
      resolveOwnCommand({ ...HOOK, command: line, ...change }, settings, [OWN], surroundings);
    const command = await resolve({});
    assert.ok(typeof command === 'object', name);
    assert.deepEqual(command.words.slice(0, 4), [OWN, 'hook', '--dialect', name]);
    assert.match(command.words.at(-1)!, /^\/p( q)?\/(service|a b)\.yaml$/);
    assert.equal(command.guards_exit, name !== 'cursor');
    const refused = await Promise.all([
      ...[`${line} `, ` ${line}`, `${line}\n`, line.replace(' hook', '  hook'), `${line} || true`].map(
        (each) => resolve({ command: each }),
      ),
      resolve({ command: line.replace(OWN, '/opt/other/service') }),
      resolve({ command: line.replace(OWN, 'own/service') }),
      resolve({ command: line.replace(OWN, 'service') }),
      resolve({ command: line.replace('--config', '--daemon --config') }),
      resolve({ env: { A: '1' } }),
      resolve({ cwd: '.' }),
      resolve({ args: [] }),
    ]);
    assert.deepEqual(
      refused.map((each) => typeof each),
      refused.map(() => 'string'),
      JSON.stringify([name, refused]),
    );
  }
});
