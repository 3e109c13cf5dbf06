/**
 * The kill switch: one command stops an agent in every worker and hook within a second, in any spelling of its name.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAIN_FILE } from '../src/entry/cli/testing/main-file.ts';
import { startTestService, type TestService } from './support/service.ts';

const hook = resolve(import.meta.dirname, '..', 'src', 'entry', 'hook', 'main.ts');
/** Time limit in milliseconds: a second, and a margin for a busy machine. */
const IN_FORCE_MS = 1_500;

function run(dir: string, program: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: dir,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: dir,
      SERVICE_HOOK_DAEMON: 'off',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  child.stdin.end(input);
  return new Promise((done) => child.on('close', () => done(output)));
}

const cli = (dir: string, ...args: string[]): Promise<string> => run(dir, MAIN_FILE, args);

function hookCall(dir: string, agent: string): Promise<string> {
  const call = { phase: 'request', tool: 'Bash', input: { command: 'ls' } };
  return run(dir, hook, ['hook', '--dialect', 'plain', '--agent', agent], JSON.stringify(call));
}

interface Answer {
  readonly decision: string;
  readonly rule: string | null;
}

/** Sends one check on each of many connections, so that both workers answer. */
async function checks({ url }: TestService, agentId: string): Promise<readonly Answer[]> {
  const one = async (path: string, body: object): Promise<Answer> => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ agent_id: agentId, ...body }),
    });
    return (await answer.json()) as Answer;
  };
  return Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      at % 2 === 0
        ? one('/v1/scan/input', { text: 'hello' })
        : one('/v1/intercept/tool', { tool: 'ls', phase: 'request', input: { path: 'a' } }),
    ),
  );
}

const decisions = (answers: readonly Answer[]) => [...new Set(answers.map(({ decision }) => decision))];
const rules = (answers: readonly Answer[]) => [...new Set(answers.map(({ rule }) => rule))];

test('blocking an agent stops it in all workers and in hooks, in any case, and unblocking allows it again', async () => {
  const service = await startTestService({ workers: 2 });
  const { dir } = service;
  try {
    assert.deepEqual(decisions(await checks(service, 'Support-Bot')), ['allow']);
    assert.match(await hookCall(dir, 'support-bot'), /"decision":"allow"/);
    assert.match(await cli(dir, 'agents', 'block', 'SUPPORT-bot', '--reason', 'test'), /is blocked\./);
    await sleep(IN_FORCE_MS);
    for (const spelling of ['Support-Bot', 'support-bot', 'ＳＵＰＰＯＲＴ-bot']) {
      const answers = await checks(service, spelling);
      assert.deepEqual([decisions(answers), rules(answers)], [['block'], ['agent.blocked']], spelling);
    }
    assert.match(await hookCall(dir, 'support-BOT'), /"decision":"block".*"rule":"agent\.blocked"/);
    assert.deepEqual(decisions(await checks(service, 'other-bot')), ['allow']);
    assert.match(await cli(dir, 'agents', 'list'), /SUPPORT-bot +\S+Z +cli:\S+ +test/);
    assert.match(await cli(dir, 'agents', 'block', 'support-bot'), /nothing changed/);
    assert.match(await cli(dir, 'agents', 'unblock', 'support-bot'), /is not blocked\./);
    await sleep(IN_FORCE_MS);
    assert.deepEqual(decisions(await checks(service, 'Support-Bot')), ['allow']);
    const log = await cli(dir, 'logs', '--json', '--last', '1h', '--tail', '200');
    for (const phase of ['agent_block', 'agent_unblock'])
      assert.equal(log.match(new RegExp(`"phase": ?"${phase}"`, 'g'))?.length, 1, `one event ${phase}`);
  } finally {
    await service.stop();
  }
});

test('the route requires an operator, and the block applies without a service too', async () => {
  const service = await startTestService({ workers: 1, keep: true });
  const { dir, url, state_dir } = service;
  const post = (headers: Record<string, string>) =>
    fetch(`${url}/v1/agents/block`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ agent_id: 'a-bot' }),
    });
  try {
    assert.equal((await post({})).status, 403);
    const token = readFileSync(join(state_dir, 'operator-token'), 'utf8').trim();
    assert.equal((await post({ authorization: `Bearer ${token}` })).status, 200);
    await sleep(IN_FORCE_MS);
    assert.deepEqual(decisions(await checks(service, 'A-Bot')), ['block']);
  } finally {
    await service.stop();
  }
  try {
    assert.match(await hookCall(dir, 'a-BOT'), /"rule":"agent\.blocked"/);
    assert.match(await cli(dir, 'agents', 'unblock', 'A-bot'), /is not blocked\./);
    assert.match(await hookCall(dir, 'a-bot'), /"decision":"allow"/);
    // A list that cannot be read blocks all agents.
    writeFileSync(join(dir, '.service', 'blocked-agents.json'), '{"a":');
    assert.match(await hookCall(dir, 'b-bot'), /"rule":"agent\.block_list_unreadable"/);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('an agent can be blocked before a service has ever run', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'agent-blocks-'));
  writeFileSync(join(dir, 'service.yaml'), '{}\n');
  assert.match(await cli(dir, 'agents', 'block', 'early-bot'), /is blocked\./);
  assert.match(await hookCall(dir, 'Early-Bot'), /"rule":"agent\.blocked"/);
  rmSync(dir, { recursive: true });
});
