import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { hashJson } from '../../core/policy/compile/canonical-json.ts';
import { hashPolicy } from '../../core/policy/compile/policy-hash.ts';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import type { Json, Policy } from '../../core/types/index.ts';
import { hashText } from '../../platform/hash-text.ts';
import { isSaved, readPolicy, savePolicy } from './saved-policy.ts';

let dir = '';
before(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'saved-')), 'policies');
});
after(() => rm(join(dir, '..'), { recursive: true, force: true }));

/** Returns a policy of which only the hash matters here. Other tests cover its content. */
function buildNumberedPolicy(n: number): Policy {
  const rest = { default_action: 'block', limits: { findings_max: n }, rules: [{ name: `ü${n}` }] };
  return { ...rest, hash: hashJson(rest as Json, hashText) } as unknown as Policy;
}

test('a saved policy comes back the same, frozen, and only for its owner to read', async () => {
  const policy = buildNumberedPolicy(1);
  const file = await savePolicy(dir, policy);
  assert.equal((await stat(dir)).mode & 0o777, 0o700);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const read = await readPolicy(dir, policy.hash);
  assert.deepEqual(read, policy);
  assert.ok(Object.isFrozen(read) && Object.isFrozen(read.rules[0]));
  await savePolicy(dir, policy);
  assert.deepEqual(await readdir(dir), [`${policy.hash.slice(7)}.json`]);
});

test('the same policy in a moved folder has the same hash, and is saved again for the paths that it guards', async () => {
  const whole = buildTestPolicy();
  const at = (baseDir: string): Policy => {
    const guardedPaths = {
      base_dir: baseDir,
      home: '/home/a',
      files: [`${baseDir}/service.yaml`],
      state_dirs: [],
    };
    const moved = { ...whole, detection: { ...whole.detection, guarded_paths: guardedPaths } };
    return { ...moved, hash: hashPolicy(moved, hashText) };
  };
  assert.equal(at('/a').hash, at('/b').hash);
  await savePolicy(dir, at('/a'));
  assert.deepEqual([await isSaved(dir, at('/a')), await isSaved(dir, at('/b'))], [true, false]);
});

test('what is missing, damaged or another policy is refused', async () => {
  const policy = buildNumberedPolicy(2);
  const other = buildNumberedPolicy(3);
  const file = await savePolicy(dir, policy);
  const text = await readFile(file, 'utf8');
  const damaged: readonly string[] = [
    '',
    'null',
    '[]',
    text.slice(0, -1),
    text.replace('block', 'allow'),
    JSON.stringify({ ...policy, extra: 1 }),
    JSON.stringify(other),
    JSON.stringify({ ...other, hash: policy.hash }),
  ];
  for (const wrong of damaged) {
    await writeFile(file, wrong);
    await assert.rejects(readPolicy(dir, policy.hash), /is damaged\.$/, wrong.slice(0, 40));
  }
  assert.equal(damaged.length, 8);
  await assert.rejects(readPolicy(dir, other.hash), /does not exist\.$/);
  for (const name of ['', 'sha256:', '../x', `sha256:${'g'.repeat(64)}`, `sha256:${'0'.repeat(64)}/../x`]) {
    await assert.rejects(readPolicy(dir, name), /is named by/);
  }
});

test('the newest hundred are kept, and the one just saved whatever its time', async () => {
  for (let n = 10; n < 120; n += 1) {
    const file = await savePolicy(dir, buildNumberedPolicy(n));
    await utimes(file, n * 1000, n * 1000);
  }
  const last = buildNumberedPolicy(120);
  await savePolicy(dir, last);
  const names = await readdir(dir);
  assert.equal(names.length, 100);
  assert.ok(names.every((name) => /^[0-9a-f]{64}\.json$/.test(name)));
  assert.deepEqual(await readPolicy(dir, last.hash), last);
  assert.deepEqual(await readPolicy(dir, buildNumberedPolicy(39).hash), buildNumberedPolicy(39));
  await assert.rejects(readPolicy(dir, buildNumberedPolicy(10).hash));
});
