import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { runInProcess, withFolder } from './testing/run.ts';

const POLICY = `policies:
  - {name: stop, boundary: action, data_tags: [dangerous, secret], action: block}
`;
const KEY = `${'AK'}${'IA'}Z7QX5LWM2RTY4VBN`;

/** Opens a project whose hook has blocked a push and a call with a key. */
async function openProject(cwd: string) {
  const run = (args: readonly string[], stdin = '') =>
    runInProcess(args, { cwd, env: { SERVICE_HOOK_DAEMON: 'off' }, stdin });
  writeFileSync(join(cwd, 'service.yaml'), POLICY);
  const decide = async (command: string) =>
    JSON.parse((await run(['hook'], JSON.stringify({ tool: 'Bash', input: { command } }))).stdout);
  const push = await decide('git push --force origin topic');
  const key = await decide(`deploy --key ${KEY}`);
  assert.deepEqual([push.decision, key.decision], ['block', 'block']);
  return { run, push: push.event_id as string, key: key.event_id as string };
}

test('a collected case fails until the policy changes', async () => {
  await withFolder(async (cwd) => {
    const { run, push } = await openProject(cwd);
    const collected = await run(['wrong', push, '--note', 'my own branch']);
    assert.deepEqual([collected.code, collected.stderr], [0, '']);
    assert.match(collected.stdout, /: allow expected\.\nThe case fails until the policy is changed\./);
    const file = join(cwd, 'policies', 'tests', `wrong-${push}.yaml`);
    const [written] = parse(readFileSync(file, 'utf8')).tests;
    assert.deepEqual(
      [written.tool, written.payload, written.expect, written['x-note']],
      ['Bash', { command: 'git push --force origin topic' }, { decision: 'allow' }, 'my own branch'],
    );
    const failing = await run(['policy', 'test']);
    assert.equal(failing.code, 1);
    assert.match(
      failing.stdout,
      new RegExp(`FAIL .*${push} should allow\\n.*decision: allow expected, block found`),
    );
    writeFileSync(join(cwd, 'service.yaml'), POLICY.replace('dangerous, ', ''));
    assert.equal((await run(['policy', 'test'])).code, 0);
    assert.match((await run(['wrong', push])).stderr, /already collected/);
  });
});

test('a case of a masked secret passes at once', async () => {
  await withFolder(async (cwd) => {
    const { run, key } = await openProject(cwd);
    const { code, stdout } = await run(['wrong', '--last', '--note', `it was ${KEY}`, '--json']);
    const { file, event_id, passes } = JSON.parse(stdout);
    assert.deepEqual([code, event_id, passes], [0, key, true]);
    const text = readFileSync(file, 'utf8');
    assert.ok(!text.includes(KEY), text);
    assert.match(text, /deploy --key/);
  });
});

test('events without a call are refused', async () => {
  await withFolder(async (cwd) => {
    const { run } = await openProject(cwd);
    const scanned = JSON.parse((await run(['scan', 'hello', '--json'])).stdout);
    for (const [args, expected] of [
      [['wrong', 'evt_0123456789abcdef01234567'], /no such event/],
      [['wrong', '../../x'], /no such event/],
      [['wrong', scanned.event_id], /holds no call/],
      [['wrong'], /Name an event, or give --last/],
    ] as const) {
      const { code, stderr } = await run(args);
      assert.notEqual(code, 0, args.join(' '));
      assert.match(stderr, expected);
    }
    assert.throws(() => readdirSync(join(cwd, 'policies', 'tests')), /ENOENT/);
  });
});
