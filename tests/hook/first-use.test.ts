/** One command takes a new user from nothing to a coding agent whose destructive calls are blocked. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ownNodeEnvironment, root, runProgram } from '../support/checkout.ts';

const folder = mkdtempSync(join(tmpdir(), 'first-use-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const service = join(root, 'service');

/** Creates a user with one coding agent, and a project that has no configuration. */
function newUser(name: string) {
  const [home, project] = [join(folder, name, 'home'), join(folder, name, 'project')];
  mkdirSync(join(home, '.claude'), { recursive: true });
  mkdirSync(project, { recursive: true });
  const env = { ...ownNodeEnvironment({ SERVICE_HOOK_DAEMON: 'off' }), HOME: home };
  const run = (...words: string[]) => runProgram([service, ...words], { cwd: project, env });
  return { home, project, env, run };
}

for (const scope of ['project', 'user'] as const)
  test(`setup without a name guards the agent it finds, scope ${scope}`, async () => {
    const { home, project, env, run } = newUser(scope);
    const done = await run('setup', '--scope', scope, '--yes', '--json');
    const { name, doctor, packs, created, config_file } = JSON.parse(done.stdout || '{}');
    assert.deepEqual([done.code, name, packs], [0, 'claude-code', ['coding-agent']], done.stderr);
    assert.ok(created.includes('service.yaml'));
    assert.equal(
      config_file.startsWith(scope === 'user' ? join(home, '.config') : project),
      true,
      config_file,
    );
    assert.ok(doctor.tried > 0 && doctor.tried === doctor.blocking, done.stdout);
    const settings = join(scope === 'user' ? home : project, '.claude/settings.json');
    const { command } = JSON.parse(readFileSync(settings, 'utf8')).hooks.PreToolUse[0].hooks[0];
    const answer = (line: string) => {
      const call = {
        hook_event_name: 'PreToolUse',
        tool_name: 'Bash',
        tool_input: { command: line },
        session_id: 's',
        cwd: project,
      };
      return spawnSync('/bin/sh', ['-c', command], {
        cwd: project,
        env,
        input: JSON.stringify(call),
        encoding: 'utf8',
      }).stdout;
    };
    assert.match(answer('rm -rf /'), /"permissionDecision":"deny"/);
    assert.doesNotMatch(answer('ls'), /deny/);
    const again = await run('setup', '--scope', scope, '--yes', '--json');
    assert.deepEqual([JSON.parse(again.stdout).done, again.code], [false, 0], again.stderr);
    const removed = await run('setup', 'claude-code', '--scope', scope, '--uninstall', '--yes', '--json');
    assert.equal(JSON.parse(removed.stdout).done, true, removed.stderr);
  });

test('without a terminal and without --yes nothing is written', async () => {
  const { run, project } = newUser('unasked');
  const asked = await run('setup');
  assert.equal(asked.code, 2);
  assert.match(asked.stderr, /--yes/);
  const look = await run('setup', '--dry-run');
  assert.deepEqual([look.code, /create {2}service\.yaml/.test(look.stdout)], [0, true], look.stderr);
  const { stdout } = spawnSync('ls', ['-A', project], { encoding: 'utf8' });
  assert.equal(stdout, '');
});
