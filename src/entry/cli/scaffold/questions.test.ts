import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { inFolder } from '../testing/run.ts';

const MAIN = new URL('../main.ts', import.meta.url).pathname;

/** Runs `init` on a terminal of its own (util-linux `script`); each answer is typed when its question is there. */
function initOnTerminal(cwd: string, answers: readonly (readonly [question: RegExp, keys: string])[]) {
  // A terminal that nobody looks at has no size, and text would be wrapped after each letter.
  const command = `stty cols 120 rows 40; '${process.execPath}' '${MAIN}' init`;
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, TERM: 'xterm', SHELL: '/bin/sh' },
    timeout: 20_000,
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

async function intelligenceIn(cwd: string): Promise<unknown> {
  return parse(await readFile(join(cwd, 'service.yaml'), 'utf8')).intelligence;
}

test('Return at the question leaves the advisory layer off', async () => {
  await inFolder(async (cwd) => {
    assert.deepEqual(await initOnTerminal(cwd, [[/Turn on the advisory/, '\r']]), { code: 0, unasked: 0 });
    assert.deepEqual(await intelligenceIn(cwd), { enabled: false });
  });
});

test('who says yes is asked for backend, model, address and the name of a variable', async () => {
  await inFolder(async (cwd) => {
    const ended = await initOnTerminal(cwd, [
      [/Turn on the advisory/, 'y'],
      [/Which backend/, '\u001b[B\r'],
      [/Which model/, '\r'],
      [/Name a model/, 'my-model\r'],
      [/At which address/, '\r'],
      [/environment variable/, ' sk-123\r'],
      [/no name of a variable/, '\u007f'.repeat(7)],
      [/OPENAI_API_KEY(?! s)/, '\r'],
    ]);
    assert.deepEqual(ended, { code: 0, unasked: 0 });
    assert.deepEqual(await intelligenceIn(cwd), {
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

test('Ctrl-C at a question writes nothing', async () => {
  await inFolder(async (cwd) => {
    assert.deepEqual(await initOnTerminal(cwd, [[/Turn on the advisory/, '\u0003']]), {
      code: 130,
      unasked: 0,
    });
    assert.deepEqual(await readdir(cwd), []);
  });
});
