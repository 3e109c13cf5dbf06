import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { NO_MANAGED_POLICY, writeManagedPolicy } from '../../runtime/managed-policy/managed-policy.ts';
import { runHook } from './run-hook.ts';

const PROMPT = { text: 'Write to ada@corp-mail.io about it.' };

async function run(folder: string, env: Readonly<Record<string, string>>, payload: object = PROMPT) {
  let stdout = '';
  const event = JSON.stringify(payload);
  await new Promise<void>((resolve) => {
    void runHook({
      args: ['--dialect', 'plain'],
      env: { ...env, SERVICE_HOOK_DAEMON: 'off', USER: 'ada' },
      cwd: folder,
      stdin: Readable.from([Buffer.from(event)]),
      write: (_fd, text) => {
        stdout += text;
      },
      exit: () => resolve(),
    });
  });
  return JSON.parse(stdout) as {
    readonly decision: string;
    readonly action: string;
    readonly rule: string;
    readonly reason: string;
  };
}

test('a hook reads one environment: that of its own process record', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hook-environment-'));
  const { HOOK_TEST_REASON } = process.env;
  try {
    const rule = { name: 'named', boundary: 'input', data_tags: ['personal'], action: 'block' };
    const text = `policies: [${JSON.stringify({ ...rule, reason: ['$', '{HOOK_TEST_REASON}'].join('') })}]\n`;
    writeFileSync(join(folder, 'service.yaml'), text);
    process.env.HOOK_TEST_REASON = 'The reason of another process.';
    const first = await run(folder, { HOOK_TEST_REASON: 'The first reason.' });
    assert.match(first.reason, /^The first reason\./);
    // The saved policy belongs to these values of the variables, and is not used with others.
    const saved = readFileSync(join(folder, '.service', 'hook.json'), 'utf8');
    assert.match((await run(folder, { HOOK_TEST_REASON: 'The first reason.' })).reason, /^The first/);
    assert.equal(readFileSync(join(folder, '.service', 'hook.json'), 'utf8'), saved);
    assert.match((await run(folder, { HOOK_TEST_REASON: 'The second.' })).reason, /^The second\./);
  } finally {
    if (HOOK_TEST_REASON === undefined) delete process.env.HOOK_TEST_REASON;
    else process.env.HOOK_TEST_REASON = HOOK_TEST_REASON;
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a hook without a service checks the task', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hook-task-'));
  try {
    writeFileSync(join(folder, 'service.yaml'), 'policies: []\n');
    const call = { tool: 'refund', input: {} };
    for (const _saved of [false, true]) {
      assert.equal((await run(folder, {}, call)).decision, 'allow');
      const { decision, rule } = await run(folder, { SERVICE_TASK: 'tsk_000000000000000000000000' }, call);
      assert.deepEqual([decision, rule], ['block', 'task.unknown']);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a hook without a service follows a saved policy', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hook-managed-'));
  const stateDir = join(folder, '.service');
  try {
    for (const _saved of [false, true]) assert.equal((await run(folder, {})).decision, 'modify');
    const rule = { name: 'saved', boundary: 'input', data_tags: ['personal'], action: 'block' };
    const document = { version: 1, text: `policies: [${JSON.stringify(rule)}]` };
    writeManagedPolicy(stateDir, { ...NO_MANAGED_POLICY, document });
    for (const _saved of [false, true]) assert.equal((await run(folder, {})).decision, 'block');
    writeManagedPolicy(stateDir, NO_MANAGED_POLICY);
    assert.equal((await run(folder, {})).decision, 'modify');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
