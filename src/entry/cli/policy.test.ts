import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { inFolder, run, runHere } from './testing/run.ts';

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
