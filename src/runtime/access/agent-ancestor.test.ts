import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AgentEvidence, findAgentAncestor } from './agent-ancestor.ts';
import { type ProcessLineage, parseLineage, readLineage } from './lineage.ts';

function buildLineage(hasTerminal: boolean, ...commands: readonly string[]): ProcessLineage {
  const ancestors = commands.map((command, at) => ({
    pid: at === commands.length - 1 ? 1 : 100 - at,
    words: command.split(' '),
  }));
  return { ancestors, has_terminal: hasTerminal };
}

const CASES: readonly (readonly [
  ProcessLineage | null,
  Readonly<Record<string, string>>,
  AgentEvidence['kind'] | null,
])[] = [
  [buildLineage(true, 'bash', 'gnome-terminal', 'systemd --user', 'systemd'), {}, null],
  [buildLineage(true, '-zsh', 'sshd: ada', 'sshd', 'systemd'), {}, null],
  [buildLineage(false, 'sh -c x', 'cron', 'systemd'), {}, null],
  [buildLineage(false, 'node test.js', 'npm test', 'actions-runner', 'systemd'), {}, null],
  [buildLineage(true, 'bash', 'vim claude.md', 'bash', 'tmux', 'systemd'), {}, null],
  [buildLineage(true, 'bash', 'code', 'systemd'), { CODEX_HOME: '/x', CLAUDE_CODE_USE_BEDROCK: '1' }, null],
  [buildLineage(true, 'bash', 'bash'), {}, null],
  [buildLineage(true, 'bash -c x', 'claude', 'zsh', 'tmux', 'systemd'), {}, 'process'],
  [buildLineage(false, 'bash', 'MainThread node /usr/bin/gemini', 'zsh', 'systemd'), {}, 'process'],
  [buildLineage(false, 'bash', 'codex codex exec', 'systemd'), {}, 'process'],
  [
    buildLineage(false, 'sh', 'node /x/node_modules/@anthropic-ai/claude-code/cli.js', 'systemd'),
    {},
    'process',
  ],
  [buildLineage(true, 'script -qc x', 'bash', 'cursor-agent', 'systemd'), {}, 'process'],
  [buildLineage(true, 'bash', '/opt/Cursor.app/Contents/MacOS/Cursor', 'launchd'), {}, 'process'],
  [buildLineage(true, 'bash', 'python3 /home/ada/.local/bin/aider', 'systemd'), {}, 'process'],
  [buildLineage(true, 'bash', 'systemd'), { CLAUDECODE: '1' }, 'variable'],
  [buildLineage(true, 'bash', 'systemd'), { CODEX_SANDBOX: 'seatbelt' }, 'variable'],
  [buildLineage(true, 'bash', 'systemd'), { GEMINI_CLI: '1' }, 'variable'],
  [buildLineage(true, 'bash', 'systemd'), { CURSOR_TRACE_ID: 'x' }, 'variable'],
  [buildLineage(false, 'systemd'), {}, 'orphan'],
  [buildLineage(false, 'sh -c x', 'systemd --user', 'systemd'), {}, 'orphan'],
  [buildLineage(false, 'setsid service', 'process_api'), {}, 'orphan'],
  [null, {}, 'unknown'],
];

test('a coding agent above a process is found by its program, its variables, or a missing terminal', () => {
  for (const [above, env, kind] of CASES)
    assert.equal(findAgentAncestor(env, above)?.kind ?? null, kind, JSON.stringify([above, env]));
  assert.equal(CASES.length, 22);
});

test('the list of `ps` gives the processes above one', () => {
  const text =
    '    1     0 ?        /sbin/launchd\n   40     1 ttys001  -zsh\n   50    40 ttys001  claude --resume\n   60    50 ?? node x\n';
  const found = parseLineage(text, 60, false);
  assert.deepEqual(
    found.ancestors.map(({ pid, words }) => [pid, words[0]]),
    [
      [50, 'claude'],
      [40, '-zsh'],
      [1, '/sbin/launchd'],
    ],
  );
  assert.equal(found.has_terminal, false);
  assert.throws(() => parseLineage(text, 61, false));
  const own = readLineage();
  assert.equal(own?.ancestors[0]?.pid, process.ppid);
});
