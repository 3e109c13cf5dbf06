import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { inFolder, run, runHere, start } from './testing/run.ts';

/** Put together from pieces, so that no scanner of repositories takes it for a real one. */
const KEY = ['sk-', 'ABCDEF1234567890'].join('');

async function write(cwd: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
}

test('a decision of the command line is explained, also when the policy was changed since', async () => {
  await inFolder(async (cwd) => {
    const rule = (action: string) =>
      `policies: [{name: keys, boundary: input, data_tags: [secret], action: ${action}}]\n`;
    await write(cwd, { 'service.yaml': rule('block') });
    const scanned = await run(['scan', '--json', `Use ${KEY}`], { cwd });
    const { event_id } = JSON.parse(scanned.stdout);
    await write(cwd, { 'service.yaml': rule('flag') });
    const told = await run(['policy', 'explain', event_id], { cwd });
    assert.equal(told.code, 0, told.stderr);
    for (const expected of [
      /^block {2}The rule `keys` blocks this\.$/m,
      /^\* secret\.credential\.api_key \(found, critical\): block/m,
      /^ {4}matches {4}keys {2}It matches, and says `block`\.$/m,
      /not asked {2}builtin\.secret\.input {2}`keys` speaks before it\./,
      /It would have come to allow:\n {2}- without the tag `secret\.credential\.api_key`$/m,
    ])
      assert.match(told.stdout, expected);
    assert.ok(!told.stdout.includes(KEY));
    const json = await runHere(['policy', 'explain', event_id, '--json'], { cwd });
    assert.equal(JSON.parse(json.stdout).explanation.agrees, true);
    await rm(join(cwd, '.service', 'policies'), { recursive: true });
    const gone = await runHere(['policy', 'explain', event_id], { cwd });
    assert.equal(gone.code, 1);
    assert.match(gone.stdout, /no longer kept/);
    const unknown = await runHere(['policy', 'explain', 'evt_000000000000000000000000'], { cwd });
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /no such event/);
  });
});

test('what a new rule would have done is counted, with a service that runs and without one', async () => {
  await inFolder(async (cwd) => {
    await write(cwd, {
      'service.yaml':
        'server: {port: 0, workers: 2}\npolicies: [{name: r, boundary: input, data_tags: [personal], action: flag}]\n',
      'new.yaml':
        'version: v1alpha1\npolicies: [{name: r, boundary: input, data_tags: [personal], action: block}]\n',
      'next/service.yaml': 'secret_detection: {enabled: false}\n',
      'bad.yaml': 'version: v1alpha1\npolicies: [{name: r, boundary: input, action: blok}]\n',
    });
    await run(['scan', '--agent', 'one', 'write to ann@corp-mail.com'], { cwd });
    const replay = ['policy', 'replay', '--with', 'new.yaml'];
    const alone = await run([...replay, '--json'], { cwd });
    assert.equal(alone.code, 0, alone.stderr);
    assert.deepEqual(JSON.parse(alone.stdout).total, { same: 0, stricter: 1, laxer: 0, unknown: 0 });
    const service = await start(['serve'], { cwd, until: 'Try it' });
    try {
      const url = /http:\/\/[\d.:]+/.exec(service.stdout())![0];
      for (const text of ['hello', 'write to bob@corp-mail.com', `key ${KEY}`])
        await fetch(`${url}/v1/scan/input`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ text, agent_id: 'two' }),
        });
      const beside = await run([...replay, '--json'], { cwd });
      assert.equal(beside.code, 0, beside.stderr);
      const { total, by_agent, moves, stricter } = JSON.parse(beside.stdout);
      assert.deepEqual(total, { same: 2, stricter: 2, laxer: 0, unknown: 0 });
      assert.deepEqual(by_agent[1], { name: 'two', same: 2, stricter: 1, laxer: 0, unknown: 0 });
      assert.deepEqual(moves, [{ from: 'flag', to: 'block', count: 2 }]);
      const told = await runHere(['policy', 'explain', stricter[0].event_id], { cwd });
      assert.match(told.stdout, /rule {4}r \(flag\)/);
      const shown = await runHere([...replay, '--agent', 'two'], { cwd });
      assert.match(shown.stdout, /^3 decisions since .*\n {2}2 the same\n {2}1 stricter\n {2}0 laxer/);
      assert.match(shown.stdout, /^two +1 +0 +0 +2$/m);
      const other = await runHere(['policy', 'replay', '--with', 'next/service.yaml'], { cwd });
      assert.match(other.stdout, /4 cannot be told\n {4}4: the policies look for other things in a text/);
    } finally {
      await service.stop('SIGTERM');
    }
    const bad = await runHere(['policy', 'replay', '--with', 'bad.yaml'], { cwd });
    assert.equal(bad.code, 2);
    assert.match(bad.stderr, /bad\.yaml.*must be one of/);
    const missing = await runHere(['policy', 'replay', '--with', 'none.yaml'], { cwd });
    assert.equal(missing.code, 2);
    const since = await runHere([...replay, '--since', 'yesterday'], { cwd });
    assert.equal(since.code, 2);
    assert.match(since.stderr, /ISO 8601/);
  });
});
