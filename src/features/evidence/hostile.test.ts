/** Packs that were made to do harm: each one is refused, within its limits. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Header, type HeaderData } from 'tar';
import { makeEvidenceLog, unpack, writeTestPack } from './testing/test-pack.ts';
import { loadVerifier, type PackLimits } from './verify-pack.ts';

const BLOCK = 512;
const { encodeHeader } = await loadVerifier();

/** Encodes an entry with any header. */
function buildEntry(fields: HeaderData & { readonly path: string }, content = ''): Buffer {
  const header = new Header({
    mode: 0o644,
    size: content.length,
    mtime: new Date(0),
    type: 'File',
    ...fields,
  });
  header.encode();
  const padded = Buffer.alloc(Math.ceil(content.length / BLOCK) * BLOCK);
  padded.write(content);
  return Buffer.concat([header.block!, padded]);
}

/** Encodes an entry as the service does. */
function buildOwnEntry(path: string, content: string): Buffer {
  const bytes = Buffer.alloc(Math.ceil(content.length / BLOCK) * BLOCK);
  bytes.write(content);
  return Buffer.concat([encodeHeader(path, content.length), bytes]);
}

/** Replaces the entry of a file in an archive. */
function replaceEntry(tar: Buffer, path: string, next: Buffer): Buffer {
  for (let at = 0; at < tar.length; ) {
    const name = tar.toString('latin1', at, tar.indexOf(0, at));
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8) || 0;
    const end = at + BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (name === path) return Buffer.concat([tar.subarray(0, at), next, tar.subarray(end)]);
    at = end;
  }
  throw new Error(`no ${path}`);
}

/** Changes the text of the manifest, whatever its signature says. */
function editManifest(tar: Buffer, manifest: string, edit: (manifest: string) => string): Buffer {
  const text = edit(manifest);
  assert.notEqual(text, manifest);
  return replaceEntry(tar, 'manifest.json', buildOwnEntry('manifest.json', text));
}

interface Hostile {
  readonly name: string;
  readonly make: (tar: Buffer, manifest: string) => Buffer;
  readonly limits?: PackLimits;
  readonly reason: RegExp;
}

const firstFile = (next: string) => (manifest: string) =>
  manifest.replace(/"path": "README.txt"/, `"path": "${next}"`);

const HOSTILE: readonly Hostile[] = [
  ...[
    '../x',
    '/etc/passwd',
    'journal/../../x.jsonl',
    'journal\\\\x.jsonl',
    'keys/./a.json',
    'con\\u0000.txt',
  ].map((path) => ({
    name: `the path ${path}`,
    make: (tar: Buffer, manifest: string) => editManifest(tar, manifest, firstFile(path)),
    reason: /path, a size or a hash that is not allowed/,
  })),
  {
    name: 'a name twice in the manifest',
    make: (tar, manifest) => editManifest(tar, manifest, firstFile('verify.mjs')),
    reason: /lists a file twice/,
  },
  {
    name: 'a symbolic link in the place of a file',
    make: (tar) =>
      replaceEntry(
        tar,
        'README.txt',
        buildEntry({ path: 'README.txt', type: 'SymbolicLink', linkpath: '/etc/passwd' }),
      ),
    reason: /link or a special file/,
  },
  {
    name: 'a hard link',
    make: (tar) =>
      replaceEntry(
        tar,
        'README.txt',
        buildEntry({ path: 'README.txt', type: 'Link', linkpath: 'verify.mjs' }),
      ),
    reason: /link or a special file/,
  },
  {
    name: 'a file that the manifest does not list',
    make: (tar) =>
      Buffer.concat([
        tar.subarray(0, -2 * BLOCK),
        buildEntry({ path: '../../evil' }, 'x'),
        tar.subarray(-2 * BLOCK),
      ]),
    reason: /does not list it/,
  },
  {
    name: 'another owner and another time in a header',
    make: (tar) =>
      replaceEntry(
        tar,
        'README.txt',
        buildEntry({ path: 'README.txt', uid: 1, gid: 1, mtime: new Date(1e9) }, 'x'),
      ),
    reason: /header in the archive/,
  },
  {
    name: 'a huge manifest',
    make: (tar) => replaceEntry(tar, 'manifest.json', buildOwnEntry('manifest.json', ' '.repeat(100_000))),
    limits: { manifest_bytes: 50_000 },
    reason: /may have 50000/,
  },
  {
    name: 'a manifest with too many files',
    make: (tar, manifest) =>
      editManifest(tar, manifest, (text) => {
        const value = JSON.parse(text);
        value.files = Array.from({ length: 9_000 }, () => value.files[0]);
        return JSON.stringify(value);
      }),
    reason: /more than 8192/,
  },
  {
    name: 'a manifest that claims more bytes than are allowed',
    make: (tar, manifest) =>
      editManifest(tar, manifest, (text) => text.replace(/"bytes": \d+/, '"bytes": 99999999999')),
    reason: /may have 34359738368/,
  },
  {
    name: 'a manifest nested ten thousand deep',
    make: (tar) => replaceEntry(tar, 'manifest.json', buildOwnEntry('manifest.json', '['.repeat(10_000))),
    reason: /not a JSON object/,
  },
  {
    name: 'an archive that unpacks to many times its size',
    make: (tar) => tar,
    limits: { ratio_from: 20_000, ratio: 2 },
    reason: /more bytes than are allowed/,
  },
  {
    name: 'an archive beyond the absolute limit',
    make: (tar) => tar,
    limits: { total_bytes: 20_000 },
    reason: /more bytes than are allowed|may have 20000/,
  },
  { name: 'no tar at all', make: () => Buffer.from('hello'), reason: /ends before it/ },
  { name: 'an empty archive', make: () => Buffer.alloc(0), reason: /ends before it/ },
];

for (const { name, make, limits, reason } of HOSTILE) {
  test(`refused: ${name}`, async (t) => {
    const trail = await makeEvidenceLog(t, 25);
    const path = await writeTestPack(trail);
    const manifest = (await unpack(path))[0]!.content.toString();
    const target = join(trail.state, 'hostile.tar.gz');
    await writeFile(target, gzipSync(make(gunzipSync(await readFile(path)), manifest)));
    const { verifyPack } = await loadVerifier();
    const { intact, broken } = await verifyPack(target, { public_key: null, ...(limits && { limits }) });
    assert.equal(intact, false);
    assert.match(broken!.reason, reason);
  });
}

test('a file that is not compressed is refused', async (t) => {
  const trail = await makeEvidenceLog(t, 25);
  const target = join(trail.state, 'plain');
  await writeFile(target, 'x'.repeat(2_000));
  const { verifyPack } = await loadVerifier();
  assert.match((await verifyPack(target, { public_key: null })).broken!.reason, /not a whole gzip file/);
  await assert.rejects(verifyPack(join(trail.state, 'none'), { public_key: null }), { code: 'ENOENT' });
});

test('every hostile pack above ran', () => assert.equal(HOSTILE.length, 19));
