/**
 * The coding agents themselves, from npm, through the LLM proxy with its default policy, in front of a scripted model,
 * and with an MCP server behind the MCP proxy.
 * They are not part of CI because they take 1.5 GB: `npm run test:clients` installs and runs them. Their findings are
 * in the tests of `core/wire`.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { findNpmProgram, installFromNpm } from '../../scripts/components/npm.ts';
import { MAIN_FILE } from '../../src/entry/cli/testing/main-file.ts';
import { text, tool } from '../mcp/servers/script.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type LlmAgent, llmAgents } from './llm-agents.ts';
import { type Call, type Script, type ScriptedModel, startScriptedModel } from './scripted-model.ts';

const FOLDER = 'tests/hosts';
const modules = join(import.meta.dirname, 'node_modules');
const AGENT_MS_MAX = 240_000;
/** Concatenated, so that code hosts accept the push. */
const SK_KEY = `sk-${'ABCDEF1234567890'}`;
const FOUND_IN_PROMPT = /A secret was found in input/;
const FOUND_IN_CALL = /A dangerous command was found in a tool call or message/;

if (findNpmProgram(FOLDER, 'cline') === null) {
  console.log(`installing the packages of ${FOLDER} (1.5 GB) ...`);
  assert.ok(installFromNpm(FOLDER), `npm could not install the packages of ${FOLDER}`);
}

const scripted = join(import.meta.dirname, '..', 'mcp', 'servers', 'scripted.ts');
const NOT_DELETED = {
  name: 'no-deleting',
  boundary: 'action',
  // The LLM proxy sees the same name for some agents.
  condition: { tools: ['delete_all'], agents: ['mcp-client'] },
  action: 'block',
  reason: 'Nothing is deleted here.',
};

let ran = 0;
describe('coding agents through the LLM proxy', { concurrency: 2 }, () => {
  for (const agent of llmAgents) test(agent.name, (t) => checkAgent(t, agent));
});
test('all agents were run', () => assert.equal(ran, 7));

async function checkAgent(t: TestContext, agent: LlmAgent): Promise<void> {
  const world = await open(t, agent);
  const { model, service } = world;

  model.play({ text: 'All done.', calls: [] });
  const plain = await run(world, 'say hello');
  assert.match(plain, /All done/, plain);
  assert.equal(model.asked().length, agent.calls, `calls of the model for a plain answer\n${plain}`);
  assert.ok(!model.asked().some((body) => body.includes('[REDACTED]')), 'its own instructions were changed');

  model.play({ text: 'All done.', calls: [] });
  const before = await getBlocks(service);
  const prompt = await run(world, `remember ${SK_KEY} for me`);
  assert.match(prompt, FOUND_IN_PROMPT, prompt);
  assert.equal(model.asked().length, 0, 'calls of the model for a blocked prompt');
  const asks = (await getBlocks(service)) - before;
  assert.ok(asks >= 1 && asks <= agent.asks_max, `${asks} requests with a blocked prompt\n${prompt}`);

  const call = (command: string): Call => ({
    tool: agent.tool.name,
    arguments: { [agent.tool.key]: command, description: 'what was asked' },
  });
  const blocked: readonly Script[] = [
    { text: 'Let me clean up.', calls: [call('rm -rf / --no-preserve-root')] },
    // An allowed call comes first. An agent that received it would run it, ask again, and get the same answer again.
    { text: 'Let me clean up.', calls: [call('touch ran'), call('rm -rf / --no-preserve-root')] },
  ];
  for (const script of blocked) {
    model.play(script);
    const told = await run(world, 'please clean up');
    assert.match(told, FOUND_IN_CALL, told);
    assert.ok(model.asked().length <= agent.calls, `${model.asked().length} calls of the model\n${told}`);
  }
  await checkMcp(world);
  await checkBudget(await open(t, agent, { cost: { budgets: [{ name: 'tiny', scope: {}, limit_usd: 0 }] } }));
  ran += 1;
}

/** The agent calls two tools of an MCP server through `customshouse mcp --wrap`, next to the running service. */
async function checkMcp(world: World): Promise<void> {
  const { agent, model, home, project, service } = world;
  const script = join(home, 'script.json');
  const answers = { look: text('The sky is clear.'), delete_all: text('Everything is gone.') };
  writeFileSync(script, JSON.stringify({ tools: [tool('look'), tool('delete_all')], answers }));
  const args = [
    ...[MAIN_FILE, 'mcp', '--config', join(service.dir, 'service.yaml'), '--wrap', '--name', 'notes'],
    ...['--agent', 'mcp-client'],
    ...['--', process.execPath, scripted],
  ];
  const started = { command: process.execPath, args, env: { SCRIPT: script } };
  const more = agent.addMcp({ home, project, url: service.url }, started);
  const calls = ['*look', '*delete_all'].map((name) => ({ tool: name, arguments: { path: 'a' } }));
  model.play({ text: 'All done.', calls, until: NOT_DELETED.reason });
  const told = await run(world, 'look and delete', more);
  const last = model.asked().findLast((body) => body.includes(NOT_DELETED.reason));
  assert.ok(last?.includes('The sky is clear.'), `${told}\n${model.asked().at(-1)}`);
  assert.ok(!model.asked().some((body) => body.includes('Everything is gone.')), told);
}

/** The agent ends at a used-up budget, shows the reason, and does not retry. */
async function checkBudget(world: World): Promise<void> {
  const { agent, model, service } = world;
  model.play({ text: 'All done.', calls: [] });
  const told = await run(world, 'say hello');
  assert.match(told, /The budget `tiny` is used up/, told);
  assert.equal(model.asked().length, 0, 'calls of the model over budget');
  const asks = await getBlocks(service, { phase: 'budget' });
  assert.ok(asks >= 1 && asks <= agent.asks_max, `${asks} requests over budget\n${told}`);
}

interface World {
  readonly agent: LlmAgent;
  readonly model: ScriptedModel;
  readonly service: TestService;
  readonly home: string;
  readonly project: string;
}

async function open(t: TestContext, agent: LlmAgent, more: object = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'clients-'));
  const model = await startScriptedModel();
  const config = { proxy: { target: model.url }, policies: [NOT_DELETED], ...more };
  const service = await startTestService({ config, workers: 1 });
  const world = { agent, model, service, home: join(dir, 'home'), project: join(dir, 'project') };
  for (const folder of [world.home, world.project]) mkdirSync(folder);
  t.after(async () => {
    agent.stop?.({ home: world.home, project: world.project, url: service.url });
    model.close();
    await service.stop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  agent.prepare?.({ home: world.home, project: world.project, url: service.url });
  return world;
}

/** Runs the agent once to its end, and returns its output. */
async function run(
  { agent, service, home, project }: World,
  prompt: string,
  more: readonly string[] = [],
): Promise<string> {
  const own = { PATH: process.env.PATH, HOME: home, TMPDIR: tmpdir(), TERM: 'dumb', NO_COLOR: '1' };
  const file = join(modules, agent.main);
  const words = agent.is_binary ? [file] : [process.execPath, file];
  const child = spawn(words[0]!, [...words.slice(1), ...agent.args(prompt), ...more], {
    cwd: project,
    env: { ...own, ...agent.env({ home, project, url: service.url }) },
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

/** Returns the number of requests that the policy has blocked. */
async function getBlocks(
  { url, state_dir }: TestService,
  query: object = { boundary: 'input' },
): Promise<number> {
  const authorization = `Bearer ${readFileSync(join(state_dir, 'operator-token'), 'utf8').trim()}`;
  const answer = await fetch(`${url}/v1/audit/query`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'x-service-user': 'admin' },
    body: JSON.stringify({ ...query, limit: 1_000 }),
  });
  const { events } = (await answer.json()) as { events: readonly { readonly decision: string }[] };
  return events.filter(({ decision }) => decision === 'block').length;
}
