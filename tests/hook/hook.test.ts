/** `./service hook` as a coding agent runs it: the exact payloads of agents, and the answers to them. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { dialects } from '../../src/coding-agents/index.ts';
import { expectRows } from '../../src/core/testing/expect-rows.ts';
import { sampleRows } from '../support/nightly.ts';
import { gone, hook, readOwner, root, run } from './support.ts';

interface Case {
  readonly name: string;
  readonly words?: readonly string[];
  readonly stdin: object;
  /** `null`: no output. */
  readonly stdout: object | null;
  readonly code: number;
  readonly stderr?: string;
}

const cases = join(root, 'cases', 'hook');
const COUNTS = { 'claude-code': 35, codex: 16, copilot: 18, cursor: 25, gemini: 13, plain: 12 };
/** Concatenated, so that code hosts accept the push. */
const SK_KEY = `sk-${'ABCDEF1234567890'}`;
const MAIL = `jane.doe@${'corp-mail.io'}`;
const BLOCKED = { tool: 'Bash', input: { command: 'rm -rf /' } };

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'hook-'));
  copyFileSync(join(cases, 'service.yaml'), join(folder, 'service.yaml'));
});
after(async () => {
  const owner = readOwner(folder);
  assert.ok(owner !== null, 'no resident process came up');
  process.kill(owner);
  await gone(owner);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function filled<Value extends object>(value: Value): Value {
  return JSON.parse(
    JSON.stringify(value).replaceAll('<<SK_KEY>>', SK_KEY).replaceAll('<<MAIL>>', MAIL),
  ) as Value;
}

/** Removes the parts that differ from run to run. */
function steady(text: string): string {
  return text
    .replaceAll(/\b(evt|apr)_[0-9a-f]{16,}/g, '$1_0')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .trim();
}

for (const [dialect, count] of Object.entries(COUNTS)) {
  test(`${dialect}: recorded events are answered so that a block blocks there`, async () => {
    const recorded = JSON.parse(readFileSync(join(cases, `${dialect}.json`), 'utf8')) as readonly Case[];
    let ran = 0;
    const sample = sampleRows(recorded, 4);
    for (const each of sample) {
      const { stdout, stderr, code } = await hook(folder, filled(each.stdin), each.words);
      const where = `${dialect}: ${each.name}`;
      assert.deepEqual(stdout === '' ? null : JSON.parse(steady(stdout)), each.stdout, where);
      assert.equal(steady(stderr), each.stderr === undefined ? '' : steady(each.stderr), where);
      assert.equal(code, each.code, where);
      for (const told of [stdout, stderr]) assert.ok(!told.includes(SK_KEY), where);
      ran += 1;
    }
    assert.deepEqual([recorded.length, ran], [count, sample.length]);
  });
}

test('there are cases for every dialect', () => {
  const files = readdirSync(cases).filter((name) => name.endsWith('.json'));
  assert.deepEqual(
    files.map((name) => name.replace('.json', '')).sort(),
    dialects.map(({ name }) => name).sort(),
  );
});

test('what cannot be read is a no that no host takes for a yes', async () => {
  const cases = [
    ['garbage', 'rm -rf /'],
    ['nothing', ''],
    ['cut off', '{"hook_event_name":"PreToolUse","tool_name":"Ba'],
    ['a list', '[{"tool":"Bash"}]'],
    ['no UTF-8', '{"tool":"\\ud800"'],
    ['far too much', `{"tool":"Bash","input":{"command":"${'x'.repeat(11_000_000)}"}}`],
  ] as const;
  for (const [name, stdin] of expectRows(6, cases)) {
    const { stdout, stderr, code } = await hook(folder, stdin);
    assert.deepEqual([stdout, code], ['', 2], name);
    assert.match(
      stderr,
      /^The coding agent sent an event that cannot be evaluated: .*It is refused\.\n$/,
      name,
    );
  }
  assert.equal((await hook(folder, '{}', ['--bogus'])).code, 2);
  assert.equal((await hook(folder, '{}', ['--dialect', 'other'])).code, 2);
});

test('without a usable policy everything is refused with the reason', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hook-'));
  const call = { tool: 'Bash', input: { command: 'ls' } };
  const env = { SERVICE_HOOK_DAEMON: 'off' };
  const decided = async () => JSON.parse((await hook(dir, call, [], env)).stdout) as Record<string, string>;
  assert.equal((await decided()).decision, 'allow');
  writeFileSync(join(dir, 'service.yaml'), 'policies: [{ name: a, boundary: sideways }]\n');
  const { decision, reason } = await decided();
  assert.equal(decision, 'block');
  assert.match(reason!, /service\.yaml.*Until this is fixed, everything is refused/);
  assert.doesNotMatch(reason!, /\.\.|, :/);
  const unfound = JSON.parse((await hook(dir, call, ['--config', 'nope.yaml'], env)).stdout) as Record<
    string,
    string
  >;
  assert.match(unfound.reason!, / The first: nope\.yaml: `nope\.yaml` does not exist\. Until this is fixed/);
  writeFileSync(join(dir, 'service.yaml'), '{}\n');
  assert.equal((await decided()).decision, 'allow');
  const missing = await hook(dir, call, ['--config', 'other.yaml'], env);
  assert.match(missing.stdout, /"decision":"block"/);
  rmSync(dir, { recursive: true });
});

test('a silent daemon causes no endless wait, and one that ends is not needed', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hook-'));
  const env = { SERVICE_HOOK_DAEMON: 'off' };
  await hook(dir, BLOCKED, [], env);
  const socket = join(dir, '.service', 'content.sock');
  const silent = createServer(() => {}).listen(socket);
  await once(silent, 'listening');
  const late = await hook(dir, { tool: 'Bash', input: { command: 'ls' } }, ['--timeout-ms', '400'], env);
  assert.match(late.stdout, /"decision":"block".*No decision came within 400 ms/);
  silent.close();
  const ending = createServer((peer) => peer.once('data', () => peer.destroy())).listen(socket);
  await once(ending, 'listening');
  const alone = await hook(dir, { tool: 'Bash', input: { command: 'ls' } }, [], env);
  assert.match(alone.stdout, /"decision":"allow"/);
  assert.match((await hook(dir, BLOCKED, [], env)).stdout, /"decision":"block"/);
  ending.close();
  const babbling = createServer((peer) => peer.end('no JSON\n')).listen(socket);
  await once(babbling, 'listening');
  const { stdout } = await hook(dir, { tool: 'Bash', input: { command: 'ls' } }, [], env);
  assert.match(stdout, /"decision":"block".*A fault in the hook kept it from deciding/);
  babbling.close();
  rmSync(dir, { recursive: true });
});

test('hooks at once decide by themselves, and what they wrote down is one chain later', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hook-'));
  const env = { SERVICE_HOOK_DAEMON: 'off' };
  const secret = { tool: 'Write', input: { content: `key ${SK_KEY}` }, session_id: 's-1' };
  const ran = await Promise.all([BLOCKED, secret, BLOCKED].map((each) => hook(dir, each, [], env)));
  for (const { stdout } of ran) assert.match(stdout, /"decision":"block"/);
  const spool = join(dir, '.service', 'journal', 'spool');
  assert.equal(readdirSync(spool).length, 3);
  const written = readdirSync(spool).map((name) => readFileSync(join(spool, name), 'utf8'));
  assert.ok(written.every((text) => !text.includes(SK_KEY) && text.includes('"caller_id":"hook:')));
  assert.match((await run(dir, ['logs', '--json'])).stdout, /"caller_id":\s*"hook:/);
  const verified = await run(dir, ['audit', 'verify', '--json']);
  assert.equal(verified.code, 0, verified.stdout);
  assert.deepEqual(readdirSync(spool), []);
  rmSync(dir, { recursive: true });
});

test('a call that cannot be recorded is not allowed', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hook-'));
  const env = { SERVICE_HOOK_DAEMON: 'off' };
  await hook(dir, BLOCKED, [], env);
  const spool = join(dir, '.service', 'journal', 'spool');
  rmSync(spool, { recursive: true });
  // A file in place of a folder stops root as well, as a full disk does.
  writeFileSync(spool, '');
  const { stdout } = await hook(dir, { tool: 'Bash', input: { command: 'ls' } }, [], env);
  assert.match(stdout, /"decision":"block".*"rule":"fault\.audit"/);
  rmSync(dir, { recursive: true });
});
