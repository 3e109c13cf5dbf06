import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeStateDir, readStateOwner, takeOwnership } from './state-dir.ts';
import { createTestFolder, type TestFolder } from './testing/service.ts';

let folder: TestFolder;
before(() => {
  folder = createTestFolder();
});
after(() => folder.remove());

function getMode(path: string): number {
  return statSync(path).mode & 0o777;
}

test('a state folder is made for its owner alone', () => {
  const stateDir = join(folder.dir, 'a', 'b');
  assert.deepEqual(makeStateDir(stateDir), []);
  assert.equal(getMode(stateDir), 0o700);
});

test('a folder that others can read is reported, and changed only if it is plainly ours', () => {
  const stateDir = join(folder.dir, 'shared');
  mkdirSync(stateDir);
  chmodSync(stateDir, 0o755);
  assert.equal(makeStateDir(stateDir).length, 1);
  assert.equal(getMode(stateDir), 0o755);
  takeOwnership(stateDir).release();
  assert.deepEqual(makeStateDir(stateDir), []);
  assert.equal(getMode(stateDir), 0o700);
});

test('a folder in which others may write, or that is none, is refused', () => {
  const open = join(folder.dir, 'open');
  mkdirSync(open);
  chmodSync(open, 0o777);
  const grouped = join(folder.dir, 'grouped');
  mkdirSync(grouped);
  chmodSync(grouped, 0o770);
  const file = join(folder.dir, 'file');
  writeFileSync(file, '');
  for (const [path, sentence] of [
    [open, /everyone may write in it/],
    [grouped, /its group may write in it/],
    [file, /cannot be written: .* \(E/],
    [join(file, 'below'), /cannot be written: a file is in its place \(E/],
  ] as const) {
    assert.throws(
      () => makeStateDir(path),
      (failure: Error & { code: string }) => {
        assert.equal(failure.code, 'state_unusable');
        assert.match(failure.message, sentence);
        return true;
      },
    );
  }
});

test('a folder has one owner at a time, who can be named', () => {
  const stateDir = join(folder.dir, 'owned');
  mkdirSync(stateDir, { mode: 0o700 });
  const ownership = takeOwnership(stateDir);
  const owner = {
    pid: 4711,
    url: 'http://127.0.0.1:8000',
    version: '1',
    started_at: '2026-11-21T00:00:00.000Z',
  };
  assert.throws(() => takeOwnership(stateDir), { code: 'state_in_use' });
  ownership.announce(owner);
  assert.deepEqual(readStateOwner(stateDir), owner);
  assert.equal(getMode(join(stateDir, 'owner.json')), 0o600);
  assert.throws(() => takeOwnership(stateDir), /process 4711, http:\/\/127\.0\.0\.1:8000/);
  ownership.release();
  assert.equal(existsSync(join(stateDir, 'owner.json')), false);
  takeOwnership(stateDir).release();
});
