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

function openCopy(withAgent: boolean) {
  const copy = copySource(...(withAgent ? [extensions['coding agent']] : []));
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
      // A machine under load starts the sources of the hook in more than its own eight seconds.
      start('src/entry/hook/main.ts', ['hook', '--timeout-ms', '60000', ...words], JSON.stringify(payload)),
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
  const { checks } = JSON.parse(run('doctor', '--coding-agent', 'fake', '--json').stdout) as {
    checks: readonly { coding_agent: string | null; event: string | null }[];
  };
  const testedEvents = new Set(
    checks.filter(({ coding_agent }) => coding_agent === 'fake').map(({ event }) => event),
  );
  assert.ok(testedEvents.has('PreToolUse') && testedEvents.has('UserPromptSubmit'));
  const away = run('setup', 'fake', '--uninstall', '--yes');
  assert.equal(away.status, 0, away.all);
});

test('the files that are generated from the list name a new agent', async () => {
  const copy = copySource(extensions['coding agent']);
  copies.push(copy);
  const made = spawnSync(process.execPath, [join(copy, 'scripts/generate/main.ts')], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  assert.match(
    readFileSync(join(copy, 'docs/reference/hook.md'), 'utf8'),
    /^\| Fake Agent \| `customshouse hook --dialect fake /m,
  );
  const load = (path: string) => import(join(copy, path));
  const ancestors: typeof import('../../src/runtime/access/agent-ancestor.ts') = await load(
    'src/runtime/access/agent-ancestor.ts',
  );
  const found = ancestors.findAgentAncestor({ FAKE_TURN: '1' }, null);
  assert.deepEqual(found, { kind: 'variable', name: 'FAKE_TURN' });
  const paths: typeof import('../../src/core/detect/guard/paths.ts') = await load(
    'src/core/detect/guard/paths.ts',
  );
  assert.equal(paths.findGuardedGroup('.fake/settings.json', paths.DEFAULT_GUARD_VIEW), 'agent_settings');
  const { collectTakenNames }: typeof import('../../src/runtime/plugins/admit-plugin.ts') = await load(
    'src/runtime/plugins/admit-plugin.ts',
  );
  assert.ok(collectTakenNames([]).dialects.has('fake'));
});

test('without its line in the list the agent is nowhere', () => {
  const { run, hook } = openCopy(false);
  assert.doesNotMatch(run('hook', '--help').all, /fake/);
  assert.doesNotMatch(run('setup', '--list').all, /fake/);
  assert.equal(run('setup', 'fake', '--yes').status, 2);
  assert.equal(hook(['--dialect', 'fake'], CALL).status, 2);
});
