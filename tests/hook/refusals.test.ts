/** Calls that a hook denies without a judgement are in the audit log too, without any of their content. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { expectRows } from '../../src/core/testing/expect-rows.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { hook, run } from './support.ts';

const SK_KEY = `sk-${'ABCDEF1234567890'}`;
const ALONE = { SERVICE_HOOK_DAEMON: 'off' };
const CALL = { tool: 'Bash', input: { command: `echo ${SK_KEY}` }, session_id: 's-1' };

interface Event {
  readonly policy_name: string;
  readonly decision: string;
  readonly boundary: string;
  readonly reason: string;
  readonly coverage: string;
  readonly agent_id: string;
  readonly tenant_id: string;
  readonly session_id: string | null;
  readonly caller_id: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

function getFolder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'hook-refusals-'));
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}

/** Returns the events in the spool, oldest first. None of them contains a part of a key. */
function spooled(dir: string): Event[] {
  const spool = join(dir, '.service', 'journal', 'spool');
  if (!existsSync(spool)) return [];
  return readdirSync(spool)
    .sort()
    .map((name) => {
      const text = readFileSync(join(spool, name), 'utf8');
      assert.ok(!text.includes(SK_KEY));
      return JSON.parse(text) as Event;
    });
}

test('what cannot be read leaves an event that says so', async (t) => {
  const rows: readonly (readonly [name: string, stdin: string, words: readonly string[], rule: string])[] = [
    ['garbage', `rm -rf / ${SK_KEY}`, [], 'hook.unreadable'],
    ['nothing', '', [], 'hook.unreadable'],
    ['a list', `["${SK_KEY}"]`, [], 'hook.unreadable'],
    ['far too much', `{"tool":"${SK_KEY}${'x'.repeat(11_000_000)}"}`, [], 'hook.unreadable'],
    [
      'an event that is not known',
      `{"hook_event_name":"${SK_KEY}"}`,
      ['--dialect', 'claude-code'],
      'hook.unreadable',
    ],
    [
      'no command',
      '{"hook_event_name":"PreToolUse","tool_name":7}',
      ['--dialect', 'claude-code'],
      'hook.unreadable',
    ],
    ['an unknown dialect', JSON.stringify(CALL), ['--dialect', SK_KEY], 'hook.usage'],
  ];
  for (const [name, stdin, words, rule] of expectRows(7, rows)) {
    const dir = getFolder(t);
    const { stdout, code } = await hook(dir, stdin, ['--tenant', 'acme', ...words], ALONE);
    assert.ok(code === 2 || /deny|block/.test(stdout), name);
    const [event, ...others] = spooled(dir);
    assert.equal(others.length, 0, name);
    assert.equal(event?.policy_name, rule, name);
    assert.deepEqual([event.decision, event.boundary, event.coverage], ['block', 'action', 'partial'], name);
    assert.equal(event.tenant_id, 'acme');
    assert.equal(event.agent_id, words.includes('claude-code') ? 'claude-code' : 'unknown', name);
    assert.match(event.caller_id, /^hook:/);
    assert.equal(event.metadata.coverage_reason, 'Nothing was scanned.');
  }
});

test('a policy with a mistake, and one that is good again: the first is in the chain as well', async (t) => {
  const dir = getFolder(t);
  writeFileSync(join(dir, 'service.yaml'), 'policies: [{ name: a, boundary: sideways }]\n');
  assert.match((await hook(dir, CALL, [], ALONE)).stdout, /"decision":"block"/);
  const [event] = spooled(dir);
  assert.equal(event?.policy_name, 'fault.policy');
  assert.equal(event.metadata.fault, true);
  assert.equal(event.session_id, 's-1');
  assert.match(event.reason, /Until this is fixed, everything is refused/);
  writeFileSync(join(dir, 'service.yaml'), '{}\n');
  const shown = await run(dir, ['logs', '--json', '--policy', 'fault.policy']);
  assert.equal((JSON.parse(shown.stdout) as Event).policy_name, 'fault.policy');
  assert.equal((await run(dir, ['audit', 'verify'])).code, 0);
});

test('a decision that comes too late leaves an event, behind the answer', async (t) => {
  const dir = getFolder(t);
  await hook(dir, { text: 'hello' }, [], ALONE);
  const before = spooled(dir).length;
  const silent = createServer(() => {}).listen(join(dir, '.service', 'content.sock'));
  await once(silent, 'listening');
  const { stdout } = await hook(dir, CALL, ['--timeout-ms', '300'], ALONE);
  assert.match(stdout, /"decision":"block".*No decision came within 300 ms/);
  const prompt = await hook(dir, { text: SK_KEY }, ['--timeout-ms', '300'], ALONE);
  assert.match(prompt.stdout, /"decision":"block"/);
  silent.close();
  const [event, other] = spooled(dir).slice(before);
  assert.deepEqual(
    [event?.policy_name, event?.boundary, event?.metadata.hook],
    ['fault.timeout', 'action', 'plain'],
  );
  assert.deepEqual([other?.policy_name, other?.boundary], ['fault.timeout', 'input']);
});

test('nothing is recorded if audit is off, and a failure to record still denies', async (t) => {
  const off = getFolder(t);
  writeFileSync(join(off, 'service.yaml'), 'audit: { enabled: false }\n');
  assert.equal((await hook(off, 'garbage', [], ALONE)).code, 2);
  assert.deepEqual(spooled(off), []);
  const full = getFolder(t);
  // A file in place of the state folder stops root as well.
  writeFileSync(join(full, '.service'), '');
  assert.equal((await hook(full, 'garbage', [], ALONE)).code, 2);
  const nowhere = getFolder(t);
  assert.equal((await hook(nowhere, 'garbage', ['--config', 'missing.yaml'], ALONE)).code, 2);
  assert.ok(!existsSync(join(nowhere, '.service')));
});

test('a service that runs chains it like every other event', async (t) => {
  const dir = getFolder(t);
  const service = await startTestService({ dir, keep: true });
  assert.equal((await hook(dir, `garbage ${SK_KEY}`)).code, 2);
  await until(() => spooled(dir).length === 0, 'the spool is taken in');
  const shown = await run(dir, ['logs', '--json', '--policy', 'hook.unreadable']);
  assert.equal((JSON.parse(shown.stdout) as Event).decision, 'block');
  await service.stop();
});
