/** Hooks that a team commits: they name no path of the machine that installed them, and block on another one. */
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { codingAgents } from '../../src/coding-agents/coding-agents.ts';
import { readInstalledHooks } from '../../src/coding-agents/setup/settings-locations.ts';
import { ownNodeEnvironment, root, runProgram } from '../support/checkout.ts';

const folder = mkdtempSync(join(tmpdir(), 'setup-shared-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const bin = join(folder, 'bin');
mkdirSync(bin);
symlinkSync(join(root, 'service'), join(bin, 'customshouse'));

const environment = (home: string, hasProgram = true) => {
  const own = ownNodeEnvironment({ SERVICE_HOOK_DAEMON: 'off' });
  return { ...own, HOME: home, PATH: `${hasProgram ? `${bin}:` : ''}${own.PATH}` };
};
const run = (project: string, words: readonly string[], env = environment(folder)) =>
  runProgram([join(root, 'service'), ...words], { cwd: project, env });

interface Diagnosis {
  readonly blocking_count: number;
  readonly tried_count: number;
  readonly checks: readonly { readonly name: string; readonly status: string; readonly message: string }[];
}

async function diagnose(project: string, env: ReturnType<typeof environment>): Promise<Diagnosis> {
  const { stdout } = await run(project, ['doctor', '--json', '--scope', 'project'], env);
  return JSON.parse(stdout) as Diagnosis;
}

/** Creates a home folder whose login shells find the program, because Codex starts hooks in one. */
function homeAt(path: string): string {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, '.profile'), `PATH="${bin}:$PATH"\n`);
  return path;
}

/** Creates a git repository with a configuration, at a path that a shell must quote. */
function newProject(name: string): string {
  const project = join(folder, `${name}'s "own" project`);
  mkdirSync(project);
  spawnSync('git', ['init', '-q'], { cwd: project });
  writeFileSync(join(project, 'service.yaml'), readFileSync(join(root, 'cases/hook/service.yaml')));
  return project;
}

const getAnswer = ({ status, stdout, stderr }: SpawnSyncReturns<string>) => ({
  code: status,
  stdout,
  stderr,
  is_late: false,
});

const getMachine = (project: string) => ({ project, home: folder, env: {} });
const getTarget = (host: (typeof codingAgents)[number], project: string) =>
  host.settings.targets(getMachine(project))[0]!;
const SETTINGS = '{\n\t"hooks": {}, "other": [1.0]\n}';

test('hooks for a team block in a copy on another machine, and go to the byte', async () => {
  const project = newProject('first');
  const files = codingAgents.map((host) => getTarget(host, project).path);
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, SETTINGS);
  }
  for (const { name } of codingAgents) {
    const done = await run(project, ['setup', name, '--shared', '--yes']);
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /Commit this file/, name);
  }
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    assert.match(text, /customshouse hook/);
    assert.ok(!text.includes(folder) && !text.includes(root), text);
  }
  const copy = join(folder, 'second place');
  cpSync(project, copy, { recursive: true, filter: (path) => !path.includes('.service') });
  const there = await diagnose(copy, environment(homeAt(join(folder, 'another'))));
  const failed = there.checks.filter(
    ({ name, status }) => status === 'fail' || /^hook\.(?:program|config|options)$/.test(name),
  );
  // Codex skips hooks until a user trusts them, which a test cannot do.
  assert.deepEqual(
    failed.filter(({ message }) => !/trust/i.test(message)),
    [],
  );
  assert.ok(
    there.blocking_count > 12 && there.tried_count >= there.blocking_count,
    `${there.blocking_count}`,
  );
  for (const host of codingAgents) {
    const away = await run(project, ['setup', host.name, '--uninstall', '--yes']);
    assert.equal(away.code, 0, away.stderr);
  }
  for (const file of files) assert.equal(readFileSync(file, 'utf8'), SETTINGS, file);
  assert.equal(files.length, 5);
});

test('without the program in the PATH every tool is refused, and doctor says what to install', async () => {
  const project = newProject('bare');
  assert.equal((await run(project, ['setup', 'claude-code', '--shared', '--yes'])).code, 0);
  const host = codingAgents.find(({ name }) => name === 'claude-code')!;
  const [hook] = await readInstalledHooks(host.settings, getTarget(host, project));
  const { doctor } = host;
  const asRun = { ...hook!, cwd: null, env: {}, in_background: false };
  const input = JSON.stringify(
    doctor.buildPayload('PreToolUse', { text: 'ls', session_id: 's', cwd: project, now_ms: 0 }),
  );
  const ask = (hasProgram: boolean, more: object = {}) =>
    spawnSync('/bin/sh', ['-c', asRun.command], {
      cwd: folder,
      env: { ...environment(folder, hasProgram), CLAUDE_PROJECT_DIR: project, ...more },
      input,
      encoding: 'utf8',
    });
  assert.equal(ask(false).status, 2);
  const effect = (more: object) =>
    doctor.readOutput('PreToolUse', getAnswer(ask(true, more)), asRun, 'ls').effect;
  assert.equal(effect({}), 'goes_on');
  assert.equal(effect({ CLAUDE_PROJECT_DIR: '/nowhere' }), 'stops', 'a configuration that is not there');
  const { checks } = await diagnose(project, environment(folder, false));
  const told = checks.find(({ name }) => name === 'hook.program');
  assert.match(told?.message ?? '', /`customshouse` of the hook is not in the PATH/);
});

test('what cannot be shared is refused', async () => {
  const project = newProject('refused');
  const outside = join(folder, 'outside.yaml');
  writeFileSync(outside, readFileSync(join(project, 'service.yaml')));
  const cases = [
    [['--scope', 'user'], /cannot be used together with --scope user/],
    [['--mcp'], /cannot be used together with --mcp/],
    [['--config', outside], /outside of the project/],
  ] as const;
  for (const [words, pattern] of cases) {
    const ran = await run(project, ['setup', 'claude-code', '--shared', '--yes', ...words]);
    assert.equal(ran.code, 2);
    assert.match(ran.stderr, pattern);
  }
  const framework = await run(project, ['setup', 'langchain', '--shared']);
  assert.match(framework.stderr, /--shared is for coding agents only/);
});
