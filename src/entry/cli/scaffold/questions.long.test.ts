import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { MODEL, startModelServer } from '../../../../tests/support/model-server/model-server.ts';
import { MAIN_FILE } from '../testing/main-file.ts';
import { runInProcess, withFolder } from '../testing/run.ts';

/** Runs `init` on a terminal of its own (util-linux `script`) and types each answer after its question. */
function runInitOnTerminal(
  cwd: string,
  flags: string,
  answers: readonly (readonly [question: RegExp, keys: string])[],
) {
  // A detached terminal has no size, so text would be wrapped after each letter.
  const command = `stty cols 120 rows 40; '${process.execPath}' '${MAIN_FILE}' init ${flags}`;
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd,
    env: {
      PATH,
      HOME: cwd,
      NODE_COMPILE_CACHE,
      SERVICE_HOOK_DAEMON: 'off',
      TERM: 'xterm',
      SHELL: '/bin/sh',
    },
    timeout: 60_000,
  });
  const waiting = [...answers];
  let unread = '';
  child.stdout.on('data', (chunk) => {
    unread += chunk;
    const next = waiting[0];
    if (next === undefined || !next[0].test(unread)) return;
    waiting.shift();
    unread = '';
    child.stdin.write(next[1]);
  });
  return new Promise<{ code: number | null; unasked: number }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, unasked: waiting.length }));
  });
}

async function readIntelligence(cwd: string): Promise<unknown> {
  return parse(await readFile(join(cwd, 'service.yaml'), 'utf8')).intelligence;
}

/** Return at the questions about agents and packs. There are no agents on this machine, so none is selected. */
const NO_AGENTS: readonly (readonly [RegExp, string])[] = [
  [/Which coding agents/, '\r'],
  [/Which policy packs/, '\r'],
];

test('Return at every question writes the configuration and turns nothing on', async () => {
  await withFolder(async (cwd) => {
    const questions = [...NO_AGENTS, [/Turn on the advisory/, '\r']] as const;
    assert.deepEqual(await runInitOnTerminal(cwd, '', questions), { code: 0, unasked: 0 });
    assert.deepEqual(await readIntelligence(cwd), { enabled: false });
    assert.ok(!(await readdir(cwd)).includes('.claude'));
  });
});

test('setup prompts for an agent, a scope and a pack, shows the change, and probes the hooks', async () => {
  await withFolder(async (cwd) => {
    await mkdir(join(cwd, '.claude'));
    const ended = await runInitOnTerminal(cwd, '', [
      [/Which coding agents[\s\S]*found on this machine/, '\r'],
      [/For which projects/, '\r'],
      [/Which policy packs/, '\r'],
      [/Turn on the advisory/, '\r'],
      [/hook --dialect claude-code[\s\S]*Write this/, '\r'],
      [/4 of 4 hooks block a destructive test call/, ''],
    ]);
    assert.deepEqual(ended, { code: 0, unasked: 0 });
    const { hooks } = JSON.parse(await readFile(join(cwd, '.claude/settings.json'), 'utf8'));
    assert.ok(hooks.PreToolUse.length > 0);
    assert.match(await readFile(join(cwd, 'skills.lock'), 'utf8'), /coding-agent/);
  });
});

test('no at the end changes nothing and tests no hook', async () => {
  await withFolder(async (cwd) => {
    await mkdir(join(cwd, '.claude'));
    const ended = await runInitOnTerminal(cwd, '', [
      [/Which coding agents do you want to guard/, '\r'],
      [/For which projects/, '\r'],
      [/Which policy packs/, '\r'],
      [/Turn on the advisory/, '\r'],
      [/Write this/, 'n'],
      [/Testing the hooks/, ''],
    ]);
    assert.deepEqual(ended, { code: 0, unasked: 1 });
    assert.deepEqual(await readdir(join(cwd, '.claude')), []);
  });
});

test('--intelligence asks for backend, model, address and the name of a variable', async () => {
  await withFolder(async (cwd) => {
    const ended = await runInitOnTerminal(cwd, '--intelligence', [
      ...NO_AGENTS,
      [/Turn on the advisory/, 'y'],
      [/Which backend/, '\u001b[B\r'],
      [/Which model/, '\r'],
      [/Name a model/, 'my-model\r'],
      [/At which address/, '\r'],
      [/environment variable/, ' sk-123\r'],
      [/not a valid variable name/, '\u007f'.repeat(7)],
      [/OPENAI_API_KEY(?! s)/, '\r'],
    ]);
    assert.deepEqual(ended, { code: 0, unasked: 0 });
    assert.deepEqual(await readIntelligence(cwd), {
      enabled: true,
      backend: {
        provider: 'compatible-api',
        model: 'my-model',
        base_url: 'https://api.openai.com/v1',
        api_key_env: 'OPENAI_API_KEY',
      },
    });
  });
});

test('the answers about a local model lead to a set-up that works', async (t) => {
  const model = await startModelServer(t, ['ok']);
  await withFolder(async (cwd) => {
    const ended = await runInitOnTerminal(cwd, '', [
      ...NO_AGENTS,
      [/Turn on the advisory/, 'y'],
      [/Which backend/, '\r'],
      [/Which model/, `${MODEL}\r`],
      [/At which address/, `${'\u007f'.repeat(40)}${model.url}\r`],
      [/without a key/, ''],
    ]);
    assert.deepEqual(ended, { code: 0, unasked: 0 });
    const { code, stdout } = await runInProcess(['intelligence', 'status', '--check'], { cwd });
    assert.deepEqual([code, /The model answers/.test(stdout)], [0, true], stdout);
    assert.equal(model.questions.length, 1);
  });
});

test('Ctrl-C at a question writes nothing', async () => {
  await withFolder(async (cwd) => {
    assert.deepEqual(await runInitOnTerminal(cwd, '', [[/Which coding agents/, '\u0003']]), {
      code: 130,
      unasked: 0,
    });
    assert.deepEqual(await readdir(cwd), []);
  });
});
