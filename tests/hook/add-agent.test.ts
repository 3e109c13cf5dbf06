/** Adds a coding agent to a copy of the source with one new file and its line in the list, and finds it wherever agents are named. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'add-agent-')));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const RECORD = `import { claudeCode } from '../claude-code/index.ts';
import type { CodingAgentRecord } from '../record/coding-agent.ts';
import { settingsFile } from '../record/settings.ts';

const targets = ({ project }) => [settingsFile('project', \`\${project}/.fake/settings.json\`)];

export const fake: CodingAgentRecord = {
  ...claudeCode,
  name: 'fake',
  label: 'Fake Agent',
  dialect: {
    ...claudeCode.dialect,
    name: 'fake',
    agent_id: 'fake',
    recognises: ({ fake_turn }) => fake_turn === 1,
  },
  load: async () => {
    const parts = await claudeCode.load();
    return { ...parts, settings: { ...parts.settings, programs: ['fake'], targets, locations: targets } };
  },
};
`;

function copySource(with_agent: boolean): string {
  const copy = join(folder, with_agent ? 'with' : 'without');
  mkdirSync(copy);
  cpSync(join(root, 'src'), join(copy, 'src'), { recursive: true });
  for (const name of ['node_modules', 'package.json', 'skills', 'data'])
    symlinkSync(join(root, name), join(copy, name));
  if (!with_agent) return copy;
  mkdirSync(join(copy, 'src/coding-agents/fake'));
  writeFileSync(join(copy, 'src/coding-agents/fake/index.ts'), RECORD);
  const list = join(copy, 'src/coding-agents/index.ts');
  const text = readFileSync(list, 'utf8');
  const added = `import { fake } from './fake/index.ts';\n${text.replace('= [cursor,', '= [fake, cursor,')}`;
  assert.notEqual(added.length, text.length);
  writeFileSync(list, added);
  return copy;
}

function openCopy(with_agent: boolean) {
  const copy = copySource(with_agent);
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
