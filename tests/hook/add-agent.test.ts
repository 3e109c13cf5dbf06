/** Adds a coding agent to a copy of the source with one new file and its line in the list, and finds it wherever agents are named. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { copySource, extensions } from '../support/extensions.ts';

const copies: string[] = [];
after(() => {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
});

function openCopy(with_agent: boolean) {
  const copy = copySource(...(with_agent ? [extensions['coding agent']] : []));
  copies.push(copy);
  const project = join(copy, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'service.yaml'), '');
  const env = { ...process.env, HOME: project, SERVICE_HOOK_DAEMON: 'off' };
  const start = (file: string, words: readonly string[], input: string) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(copy, file), ...words], {
      cwd: project,
      env,
      input,
      encoding: 'utf8',
    });
    return { status, stdout, stderr, all: `${stdout}${stderr}` };
  };
  return {
    project,
    run: (...words: string[]) => start('src/entry/cli/main.ts', words, ''),
    hook: (words: readonly string[], payload: object) =>
      start('src/entry/hook/main.ts', ['hook', ...words], JSON.stringify(payload)),
  };
}

const CALL = {
  session_id: 's1',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'rm -rf /' },
};

test('a new agent is in help, hook, setup and doctor', () => {
  const { run, hook, project } = openCopy(true);
  assert.match(run('hook', '--help').all, /"fake"/);
  assert.match(run('doctor', '--help').all, /"fake"/);
  assert.match(run('setup', '--list').all, /^fake +coding agent +Fake Agent +project$/m);
  assert.match(hook(['--dialect', 'none'], CALL).all, /--dialect is one of .*\bfake\b/);
  for (const words of [['--dialect', 'fake'], []]) {
    const denied = hook(words, { ...CALL, fake_turn: 1 });
    assert.equal(JSON.parse(denied.stdout).hookSpecificOutput.permissionDecision, 'deny', denied.stderr);
  }
  const done = run('setup', 'fake', '--yes');
  assert.equal(done.status, 0, done.all);
  assert.match(readFileSync(join(project, '.fake/settings.json'), 'utf8'), /hook --dialect fake /);
  const { checks } = JSON.parse(run('doctor', '--host', 'fake', '--json').stdout) as {
    checks: readonly { host: string | null; event: string | null }[];
  };
  const tested_events = new Set(checks.filter(({ host }) => host === 'fake').map(({ event }) => event));
  assert.ok(tested_events.has('PreToolUse') && tested_events.has('UserPromptSubmit'));
  const away = run('setup', 'fake', '--uninstall', '--yes');
  assert.equal(away.status, 0, away.all);
});

test('without its line in the list the agent is nowhere', () => {
  const { run, hook } = openCopy(false);
  assert.doesNotMatch(run('hook', '--help').all, /fake/);
  assert.doesNotMatch(run('setup', '--list').all, /fake/);
  assert.equal(run('setup', 'fake', '--yes').status, 2);
  assert.equal(hook(['--dialect', 'fake'], CALL).status, 2);
});
