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
  'index-node',
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
  const stateDir = join(folder.dir, `state-${count}`);
  for (const name of ['keys', 'policies', 'journal/worker-1', 'journal/spool'])
    mkdirSync(join(stateDir, name), { recursive: true, mode: 0o700 });
  return stateDir;
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

function place(stateDir: string, name: string, kind: string): void {
  const path = join(stateDir, name);
  mkdirSync(dirname(path), { recursive: true });
  FOREIGN[kind]!(path);
}

test('a foreign entry in the place of a file that is written again is moved away and named', () => {
  writeFileSync(join(folder.dir, 'outside'), OUTSIDE_TEXT);
  for (const name of RESTORED)
    for (const kind of Object.keys(FOREIGN)) {
      const stateDir = createStateDir();
      place(stateDir, name, kind);
      assert.deepEqual(listForeignEntries(stateDir), [name], `${name} ${kind}`);
      assert.match(
        makeStateDir(stateDir).join('\n'),
        new RegExp(name.replace('.', '\\.')),
        `${name} ${kind}`,
      );
      assert.equal(lstatSync(join(stateDir, name), { throwIfNoEntry: false }), undefined);
      const [aside] = listForeignEntries(stateDir);
      assert.match(aside ?? '', /\.refused-[0-9a-f]{12}$/);
      assert.deepEqual(makeStateDir(stateDir), []);
    }
  assert.equal(readFileSync(join(folder.dir, 'outside'), 'utf8'), OUTSIDE_TEXT);
});

test('a foreign entry in the place of a key, token or store refuses the start by its path', () => {
  for (const name of KEPT)
    for (const kind of Object.keys(FOREIGN)) {
      const stateDir = createStateDir();
      place(stateDir, name, kind);
      assert.throws(
        () => makeStateDir(stateDir),
        ({ code, message }: { code: string; message: string }) =>
          code === 'state_unusable' && message.includes(join(stateDir, name)) && /Move it away/.test(message),
        `${name} ${kind}`,
      );
    }
});

test('a file in the place of a folder refuses the start, and a link to a folder does not', () => {
  for (const name of ['journal', 'keys', 'policies', 'evidence', 'setup', 'operator']) {
    const stateDir = createStateDir();
    rmSync(join(stateDir, name), { recursive: true, force: true });
    writeFileSync(join(stateDir, name), '');
    assert.throws(() => makeStateDir(stateDir), { code: 'state_unusable' });
    rmSync(join(stateDir, name));
    mkdirSync(join(stateDir, 'elsewhere'));
    symlinkSync('elsewhere', join(stateDir, name));
    assert.deepEqual(makeStateDir(stateDir), []);
  }
});

test('foreign entries inside of the folders are listed, and files and unknown names are not', () => {
  for (const name of INSIDE)
    for (const kind of Object.keys(FOREIGN)) {
      const stateDir = createStateDir();
      place(stateDir, name, kind);
      const found = listForeignEntries(stateDir);
      assert.deepEqual(found, [name], `${name} ${kind}`);
      assert.deepEqual(makeStateDir(stateDir), []);
    }
  const stateDir = createStateDir();
  const files = [...RESTORED, ...KEPT, ...INSIDE].filter((name) => !name.endsWith('.sock'));
  for (const name of files) writeFileSync(join(stateDir, name), 'noise');
  for (const name of ['notes', 'keys-of-ada']) mkdirSync(join(stateDir, name));
  assert.deepEqual(listForeignEntries(stateDir), []);
  assert.ok(readdirSync(stateDir).includes('notes'));
});
