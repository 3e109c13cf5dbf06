import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeStateDir } from './state-dir.ts';
import { listForeignEntries } from './state-entries.ts';
import { createTestFolder, type TestFolder } from './testing/service.ts';

let folder: TestFolder;
before(() => {
  folder = createTestFolder();
});
after(() => folder.remove());

const RESTORED = [
  'blocked-agents.json',
  'daemon.log',
  'hook.json',
  'index.db',
  'index.db-shm',
  'index.db-wal',
  'legal-holds.json',
  'managed-policy.json',
  'owner.json',
  'content.sock',
  'operator/operator.sock',
];
const KEPT = [
  'agent-token',
  'alert-stream-id',
  'approval-link-key',
  'fingerprint-key',
  'memory-key',
  'operator-token',
  'owner.lock',
  'store.db',
  'store.db-shm',
  'store.db-wal',
  'totp-key',
];
const INSIDE = [
  'keys/zz.json',
  'keys/current',
  'policies/x.json',
  'journal/order',
  'journal/worker-1/000000000000001.jsonl',
  'journal/worker-1/head.json',
  'journal/spool/1700000000004-0123456789abcdef.jsonl',
];

let count = 0;
function createStateDir(): string {
  count += 1;
  const state_dir = join(folder.dir, `state-${count}`);
  for (const name of ['keys', 'policies', 'journal/worker-1', 'journal/spool'])
    mkdirSync(join(state_dir, name), { recursive: true, mode: 0o700 });
  return state_dir;
}

const OUTSIDE_TEXT = 'another file of the user';
/** Makes an entry that is no file: a folder, a folder with content, a pipe, a link. */
const FOREIGN: Readonly<Record<string, (path: string) => void>> = {
  folder: (path) => mkdirSync(path, { recursive: true }),
  'full folder': (path) => mkdirSync(join(path, 'inner'), { recursive: true }),
  pipe: (path) => void execFileSync('mkfifo', [path]),
  link: (path) => symlinkSync(join(folder.dir, 'outside'), path),
  'link to nothing': (path) => symlinkSync('/nowhere/at/all', path),
};

function place(state_dir: string, name: string, kind: string): void {
  const path = join(state_dir, name);
  mkdirSync(dirname(path), { recursive: true });
  FOREIGN[kind]!(path);
}

test('a foreign entry in the place of a file that is written again is moved away and named', () => {
  writeFileSync(join(folder.dir, 'outside'), OUTSIDE_TEXT);
  for (const name of RESTORED)
    for (const kind of Object.keys(FOREIGN)) {
      const state_dir = createStateDir();
      place(state_dir, name, kind);
      assert.deepEqual(listForeignEntries(state_dir), [name], `${name} ${kind}`);
      assert.match(
        makeStateDir(state_dir).join('\n'),
        new RegExp(name.replace('.', '\\.')),
        `${name} ${kind}`,
      );
      assert.equal(lstatSync(join(state_dir, name), { throwIfNoEntry: false }), undefined);
      const [aside] = listForeignEntries(state_dir);
      assert.match(aside ?? '', /\.refused-[0-9a-f]{12}$/);
      assert.deepEqual(makeStateDir(state_dir), []);
    }
  assert.equal(readFileSync(join(folder.dir, 'outside'), 'utf8'), OUTSIDE_TEXT);
});

test('a foreign entry in the place of a key, token or store refuses the start by its path', () => {
  for (const name of KEPT)
    for (const kind of Object.keys(FOREIGN)) {
      const state_dir = createStateDir();
      place(state_dir, name, kind);
      assert.throws(
        () => makeStateDir(state_dir),
        ({ code, message }: { code: string; message: string }) =>
          code === 'state_unusable' &&
          message.includes(join(state_dir, name)) &&
          /Move it away/.test(message),
        `${name} ${kind}`,
      );
    }
});

test('a file in the place of a folder refuses the start, and a link to a folder does not', () => {
  for (const name of ['journal', 'keys', 'policies', 'evidence', 'setup', 'operator']) {
    const state_dir = createStateDir();
    rmSync(join(state_dir, name), { recursive: true, force: true });
    writeFileSync(join(state_dir, name), '');
    assert.throws(() => makeStateDir(state_dir), { code: 'state_unusable' });
    rmSync(join(state_dir, name));
    mkdirSync(join(state_dir, 'elsewhere'));
    symlinkSync('elsewhere', join(state_dir, name));
    assert.deepEqual(makeStateDir(state_dir), []);
  }
});

test('foreign entries inside of the folders are listed, and files and unknown names are not', () => {
  for (const name of INSIDE)
    for (const kind of Object.keys(FOREIGN)) {
      const state_dir = createStateDir();
      place(state_dir, name, kind);
      const found = listForeignEntries(state_dir);
      assert.deepEqual(found, [name], `${name} ${kind}`);
      assert.deepEqual(makeStateDir(state_dir), []);
    }
  const state_dir = createStateDir();
  const files = [...RESTORED, ...KEPT, ...INSIDE].filter((name) => !name.endsWith('.sock'));
  for (const name of files) writeFileSync(join(state_dir, name), 'noise');
  for (const name of ['notes', 'keys-of-ada']) mkdirSync(join(state_dir, name));
  assert.deepEqual(listForeignEntries(state_dir), []);
  assert.ok(readdirSync(state_dir).includes('notes'));
});
