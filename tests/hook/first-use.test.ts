/** One command takes a new user from nothing to a coding agent whose destructive calls are blocked. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { ownNodeEnvironment, root, runProgram } from '../support/checkout.ts';
import { sampleRows } from '../support/nightly.ts';

const folder = mkdtempSync(join(tmpdir(), 'first-use-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const service = join(root, 'customshouse');

/** Creates a user with one coding agent, and a project that has no configuration. */
function newUser(name: string) {
  const [home, project] = [join(folder, name, 'home'), join(folder, name, 'project')];
  mkdirSync(join(home, '.claude'), { recursive: true });
  mkdirSync(project, { recursive: true });
  const env = { ...ownNodeEnvironment({ SERVICE_HOOK_DAEMON: 'off' }), HOME: home };
  const run = (...words: string[]) => runProgram([service, ...words], { cwd: project, env });
  return { home, project, env, run };
}

/** Lists the files below a folder, and its empty folders. */
function listFiles(path: string): string[] {
  const all = (readdirSync(path, { recursive: true }) as string[]).sort();
  return all.filter((name) => !all.some((other) => other.startsWith(`${name}/`)));
}

for (const scope of sampleRows(['project', 'user'] as const, 2))
  test(`setup without a name guards the agent it finds, scope ${scope}`, async () => {
    const { home, project, env, run } = newUser(scope);
    const done = await run('setup', '--scope', scope, '--yes', '--json');
    const { name, doctor, packs, created, config_file } = JSON.parse(done.stdout || '{}');
    assert.deepEqual([done.code, name, packs], [0, 'claude-code', ['coding-agent']], done.stderr);
    assert.ok(created.includes('service.yaml'));
    assert.ok(config_file.startsWith(join(home, '.config')), config_file);
    assert.deepEqual(listFiles(project), scope === 'user' ? [] : ['.claude/settings.json']);
    assert.ok(doctor.tried > 0 && doctor.tried === doctor.blocking, done.stdout);
    const settings = join(scope === 'user' ? home : project, '.claude/settings.json');
    const installed = JSON.parse(readFileSync(settings, 'utf8')).hooks.PreToolUse[0].hooks[0].command;
    assert.match(installed, / --config /);
    // A machine under load may take more than the hook's own eight seconds.
    const command = installed.replace(' --config ', ' --timeout-ms 60000 --config ');
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
    assert.match(
      (await run('logs')).stdout,
      scope === 'user' ? /^$/ : / block {2}action claude-code tool=Bash /,
    );
    const purge = scope === 'user' ? [] : ['--purge'];
    const removed = await run('setup', '--scope', scope, '--uninstall', ...purge, '--yes', '--json');
    assert.equal(JSON.parse(removed.stdout).done, true, removed.stderr);
    assert.deepEqual(listFiles(project), []);
    assert.equal(
      existsSync(scope === 'user' ? config_file : join(home, '.config/customshouse')),
      scope === 'user',
    );
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

/** Runs a command in a pseudo terminal, and presses Return once at each question. */
async function runAtTerminal(
  line: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  questions: readonly string[],
) {
  const child = spawn('script', ['-qec', `stty rows 40 cols 160; exec ${line}`, '/dev/null'], { cwd, env });
  let shown = '';
  let from = 0;
  let answered = 0;
  child.stdout.on('data', (chunk) => {
    shown += chunk;
    const at = shown.indexOf(questions[answered] ?? '\0', from);
    if (at < 0) return;
    from = at + questions[answered]!.length;
    answered += 1;
    child.stdin.write('\r');
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, answered, shown: stripVTControlCharacters(shown) };
}

test('at a terminal Return confirms the setup and opens the list of past calls', async () => {
  const { home, project, env } = newUser('terminal');
  const message = {
    content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'rm -rf /' } }],
  };
  const line = { type: 'assistant', sessionId: 's-1', timestamp: '2026-11-20T12:00:00.000Z', message };
  mkdirSync(join(home, '.claude/projects/p'), { recursive: true });
  writeFileSync(join(home, '.claude/projects/p/s-1.jsonl'), `${JSON.stringify(line)}\n`);
  const questions = ['Write this?', 'Show them?'];
  const ran = await runAtTerminal(`'${service}' setup claude-code`, project, env, questions);
  assert.deepEqual([ran.code, ran.answered], [0, 2], ran.shown);
  assert.match(ran.shown, /Of your last 1 call 1 would have been stopped and 0 asked\./);
  assert.match(
    ran.shown,
    /stopped 2026-11-20T12:00:00\.000Z claude-code [\s\S]*Bash \{"command":"rm -rf \/"\}/,
  );
  assert.deepEqual(listFiles(project), ['.claude/settings.json']);
});
