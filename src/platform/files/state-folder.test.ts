import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeStateDir } from '../../server/state-dir.ts';
import { makeFolder } from './folder.ts';
import { resolveStateDir } from './state-folder.ts';

const scratch = mkdtempSync(join(tmpdir(), 'state-folder-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const VOLUMES = [
  { name: 'an emptyDir', mode: 0o777, is_shared: true },
  { name: 'a volume with fsGroup', mode: 0o2770, is_shared: true },
  { name: 'a folder like /tmp', mode: 0o1777, is_shared: true },
  { name: 'a folder of this user', mode: 0o700, is_shared: false },
  { name: 'a folder that others may read', mode: 0o755, is_shared: false },
] as const;

test('a volume in which others may write holds the state in a folder for this user alone', () => {
  let ran = 0;
  for (const [at, { name, mode, is_shared }] of VOLUMES.entries()) {
    const volume = join(scratch, `volume-${at}`);
    mkdirSync(volume);
    chmodSync(volume, mode);
    const stateDir = resolveStateDir(volume);
    assert.equal(stateDir, is_shared ? join(volume, 'service') : volume, name);
    makeStateDir(stateDir);
    if (is_shared) assert.equal(statSync(stateDir).mode & 0o777, 0o700, name);
    assert.equal(readFileSync(join(stateDir, '.gitignore'), 'utf8'), '*\n', name);
    assert.equal(resolveStateDir(volume), stateDir, `${name}, again`);
    ran++;
  }
  assert.equal(ran, VOLUMES.length);
});

test('a state folder that was widened stays one, and is made private again', () => {
  const dir = join(scratch, 'used');
  mkdirSync(dir);
  writeFileSync(join(dir, 'owner.lock'), '');
  chmodSync(dir, 0o2770);
  assert.equal(resolveStateDir(dir), dir);
  makeStateDir(dir);
  assert.equal(statSync(dir).mode & 0o077, 0);
});

test('creating `.service` keeps it out of Git, and overwrites nothing', () => {
  const policies = join(scratch, 'project', '.service', 'policies');
  makeFolder(policies);
  const ignore = join(scratch, 'project', '.service', '.gitignore');
  assert.equal(readFileSync(ignore, 'utf8'), '*\n');
  writeFileSync(ignore, 'mine\n');
  makeStateDir(join(scratch, 'project', '.service'));
  assert.equal(readFileSync(ignore, 'utf8'), 'mine\n');
});

test('a folder that can never be made is an error, and no loop', () => {
  assert.throws(() => makeFolder('/proc/nowhere/state'), { code: 'ENOENT' });
});
