/** After a change is killed at any step, the next command leaves either the previous files or the new ones. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { isInterrupted, lockSkillsFolder } from './apply.ts';
import { readTree, withProject } from './testing/projects.ts';

/**
 * Changes three files in a child process, which kills itself when it accesses the path of a change for the nth
 * time.
 */
const SCRIPT = `
  const [dir, kill_at] = process.argv.slice(1);
  const { applyChange, lockSkillsFolder } = await import(${JSON.stringify(new URL('./apply.ts', import.meta.url).href)});
  const { hashSha256 } = await import(${JSON.stringify(new URL('../packages/package.ts', import.meta.url).href)});
  let looks = 0;
  const look = () => {
    looks += 1;
    if (looks === Number(kill_at)) process.kill(process.pid, 'SIGKILL');
  };
  const change = (path, action, before, text) => ({
    get path() { look(); return path; },
    action,
    before: before === null ? null : hashSha256(before),
    after: text === null ? null : hashSha256(text),
    text,
  });
  const changes = [
    change('policies/new.yaml', 'create', null, 'new'),
    change('contracts/new.yaml', 'create', null, 'new too'),
    change('policies/old.yaml', 'replace', 'old', 'newer'),
    change('policies/gone.yaml', 'delete', 'gone', null),
  ];
  const files = { 'policies/new.yaml': '0'.repeat(64), 'contracts/new.yaml': '0'.repeat(64) };
  const skills = { ours: { version: '1.0.0', source: 'bundled', files } };
  const turn = await lockSkillsFolder(dir);
  await applyChange(dir, changes, { version: 'v1alpha1', skills, folders: [] }, async () => look());
  await turn.release();
`;

test('killed at any step, it is whole after the next command', { timeout: 120_000 }, async () => {
  const files = { 'policies/old.yaml': 'old', 'policies/gone.yaml': 'gone', 'policies/mine.yaml': 'mine' };
  let [steps, interrupted] = [0, 0];
  for (let finished = false; !finished; ) {
    steps += 1;
    await withProject(files, async (dir) => {
      const before = await readTree(dir);
      const words = ['--input-type=module', '-e', SCRIPT, dir, `${steps}`];
      const { status, signal, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
      assert.ok(status === 0 || signal === 'SIGKILL', stderr);
      finished = status === 0;
      if (isInterrupted(dir)) interrupted += 1;
      await (await lockSkillsFolder(dir)).release();
      const after = await readTree(dir);
      if (!finished) assert.deepEqual(after, before, `killed at step ${steps}`);
      else {
        assert.equal(after['policies/new.yaml'], 'new');
        assert.equal(after['policies/old.yaml'], 'newer');
        assert.equal(after['policies/gone.yaml'], undefined);
        assert.ok(after['skills.lock']?.includes('"contracts"'));
      }
    });
  }
  assert.ok(steps >= 15 && interrupted >= 5, `${steps} steps, ${interrupted} of them with a plan`);
});
