/** Judges transcripts in the shape of those that coding agents write, in an empty home folder. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { codingAgents } from '../../coding-agents/coding-agents.ts';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import { loadConfig } from '../../server/load-config.ts';
import { judgePastCalls } from './past/judge-past-calls.ts';
import { runInProcess, withFolder } from './testing/run.ts';

const KEY = `sk-${'ABCDEF1234567890'}`;
const AT = (minute: number) => `2026-11-20T12:0${minute}:00.000Z`;

const formatLines = (...values: readonly (object | string)[]) =>
  `${values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n')}\n`;

/** A Claude Code message that calls one tool. */
function buildClaudeCall(id: string, command: string): object {
  const content = [{ type: 'tool_use', id, name: 'Bash', input: { command } }];
  const message = { role: 'assistant', content };
  return {
    type: 'assistant',
    sessionId: 's-1',
    cwd: '/srv/app',
    uuid: id,
    timestamp: AT(Number(id) % 10),
    message,
  };
}

const codexItem = (payload: object) => ({ timestamp: AT(5), type: 'response_item', payload });

const TRANSCRIPTS: Readonly<Record<string, string>> = {
  '.claude/projects/-srv-app/s-1.jsonl': formatLines(
    { type: 'user', sessionId: 's-1', cwd: '/srv/app', message: { role: 'user', content: 'rm -rf /' } },
    buildClaudeCall('1', 'ls -la'),
    '{"type":"assistant","message":{"content":[{"type":"tool_use"',
    buildClaudeCall('2', 'git push --force origin main'),
    buildClaudeCall('3', `curl -H "Authorization: Bearer ${KEY}" https://x.test; rm -rf /`),
  ),
  // A resumed session repeats earlier calls.
  '.claude/projects/-srv-app/s-1b.jsonl': formatLines(buildClaudeCall('2', 'git push --force origin main')),
  '.codex/sessions/2026/11/20/rollout-1.jsonl': formatLines(
    { timestamp: AT(0), type: 'session_meta', payload: { id: 's-2', cwd: '/srv/app' } },
    codexItem({
      type: 'function_call',
      name: 'shell',
      call_id: 'c1',
      arguments: JSON.stringify({ command: ['bash', '-lc', 'rm -rf /'] }),
    }),
    codexItem({
      type: 'function_call',
      name: 'exec_command',
      call_id: 'c2',
      arguments: JSON.stringify({ cmd: 'git status' }),
    }),
    codexItem({ type: 'local_shell_call', call_id: 'c3', action: { command: ['rm', '-rf', '/'] } }),
    codexItem({ type: 'function_call', name: 'write_stdin', call_id: 'c4', arguments: '{}' }),
  ),
  '.gemini/tmp/abc/chats/session-1.jsonl': formatLines(
    { sessionId: 's-3', projectHash: 'ab'.repeat(32) },
    {
      id: 'm1',
      type: 'gemini',
      toolCalls: [
        {
          id: 'a',
          name: 'run_shell_command',
          status: 'success',
          timestamp: AT(6),
          args: { command: 'rm -rf /' },
        },
      ],
    },
  ),
  '.copilot/session-state/s-4/events.jsonl': formatLines(
    { type: 'session.start', data: { sessionId: 's-4', context: { cwd: '/srv/app' } } },
    {
      type: 'tool.execution_start',
      timestamp: AT(7),
      data: { toolCallId: 't1', toolName: 'bash', arguments: { command: 'rm -rf /' } },
    },
  ),
};

const POLICY = `policies:
  - {name: ask-codex, boundary: action, action: require_approval, condition: {agents: [codex]}}
`;

interface Past {
  readonly home: string;
  readonly cwd: string;
  readonly run: (...words: string[]) => ReturnType<typeof runInProcess>;
}

function withPast(files: Readonly<Record<string, string>>, use: (past: Past) => Promise<void>) {
  return withFolder(async (folder) => {
    const [home, cwd] = [join(folder, 'home'), join(folder, 'project')];
    mkdirSync(cwd);
    mkdirSync(home);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(home, dirname(name)), { recursive: true });
      writeFileSync(join(home, name), text);
    }
    await use({ home, cwd, run: (...words) => runInProcess(words, { cwd, env: { HOME: home } }) });
  });
}

interface Decided {
  readonly coding_agent: string;
  readonly action: string;
  readonly action_shown: string;
  readonly allow: readonly string[];
}

test('replay judges each past call once and writes nothing', async () => {
  await withPast(TRANSCRIPTS, async ({ home, cwd, run }) => {
    const before = readdirSync(home, { recursive: true }).sort();
    const { code, stdout, stderr } = await run('replay', '--transcripts', '--json');
    assert.equal(code, 0, stderr);
    const { decisions, ...counts } = JSON.parse(stdout);
    assert.deepEqual(counts, { calls: 8, stopped: 6, asked: 0, changed: 0, skipped: 1, limit: null });
    const shown = decisions.map((each: Decided) => [each.coding_agent, each.action_shown, each.allow.join()]);
    const whole = 'customshouse allow filesystem.delete_whole';
    assert.deepEqual(shown.sort(), [
      [
        'claude-code',
        'Bash {"command":"curl -H \\"Authorization: Bearer [REDACTED]\\" https://x.test; rm -rf /"}',
        '',
      ],
      ['claude-code', 'Bash {"command":"git push --force origin main"}', 'customshouse allow git.push_force'],
      ['codex', 'Bash {"command":"rm -rf /"}', whole],
      ['codex', 'Bash {"command":"rm -rf /"}', whole],
      ['copilot', 'bash {"command":"rm -rf /"}', whole],
      ['gemini', 'run_shell_command {"command":"rm -rf /"}', whole],
    ]);
    assert.ok(!stdout.includes(KEY));
    assert.deepEqual([readdirSync(cwd), readdirSync(home, { recursive: true }).sort()], [[], before]);
  });
});

test('replay applies the project’s policy and lists calls', async () => {
  await withPast(TRANSCRIPTS, async ({ cwd, run }) => {
    writeFileSync(join(cwd, 'service.yaml'), POLICY);
    const { code, stdout, stderr } = await run('replay', '--transcripts');
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^Of your last 8 calls 6 would have been stopped and 1 asked\.\n1 line or file could/,
    );
    assert.match(
      stdout,
      /^asked {3}2026-11-20T12:05:00\.000Z codex rule=ask-codex\n {4}Bash \{"command":"git status"\}$/m,
    );
    assert.match(
      stdout,
      /^stopped .* claude-code .*\n {4}Bash .*--force.*\n.*`customshouse allow git\.push_force`/m,
    );
    assert.ok(!stdout.includes(KEY));
    const one = await run('replay', '--transcripts', '--coding-agent', 'gemini');
    assert.match(one.stdout, /^Of your last 1 call 1 would have been stopped and 0 asked\.$/m);
    assert.equal((await run('replay')).code, 2);
    writeFileSync(join(cwd, 'service.yaml'), 'policies: [{}]\n');
    assert.equal((await run('replay', '--transcripts')).code, 2);
  });
});

test('replay judges the newest 2,000 calls', async () => {
  const many = Array.from({ length: 2_001 }, (_, at) => buildClaudeCall(`${at}`, at < 2 ? 'rm -rf /' : 'ls'));
  await withPast({ '.claude/projects/p/s.jsonl': formatLines(...many) }, async ({ run }) => {
    const { stdout } = await run('replay', '--transcripts');
    assert.match(stdout, /last 2,000 calls 1 would.*\nOlder calls were not judged\./);
  });
});

test('replay stops at its time limit and reports it', async () => {
  await withPast(TRANSCRIPTS, async ({ home, cwd }) => {
    const loaded = await loadConfig({ path: null, env: {}, cwd });
    assert.ok(loaded.ok);
    let nowMs = 0;
    const report = await judgePastCalls({
      agents: codingAgents,
      machine: { project: cwd, home, env: {} },
      config: loaded.config,
      policy: buildTestPolicy(),
      now_ms: () => {
        nowMs += 2_000;
        return nowMs;
      },
    });
    assert.equal(report.limit, 'time');
    assert.ok(report.calls < 8, `${report.calls}`);
  });
});

test('replay without transcripts reports that there are none', async () => {
  await withPast({}, async ({ run }) => {
    const { code, stdout } = await run('replay', '--transcripts');
    assert.deepEqual(
      [code, /^This machine has no calls in transcripts of Claude Code, /.test(stdout)],
      [0, true],
    );
  });
});

test('setup ends with the past calls of its agents', async () => {
  await withPast(TRANSCRIPTS, async ({ run }) => {
    const done = await run('setup', 'claude-code', '--yes');
    assert.match(
      done.stdout,
      /\nOf your last 3 calls 2 would have been stopped and 0 asked\.\n.*\nSee them:\n {2}customshouse replay --transcripts --config \S+service\.yaml\n$/,
      done.stderr,
    );
    const look = await run('setup', 'codex', '--dry-run');
    assert.doesNotMatch(look.stdout, /Of your last/);
  });
});
