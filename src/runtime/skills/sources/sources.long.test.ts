import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';
import { SkillFailure } from '../../packages/failure.ts';
import { type Files, withProject, writeFiles, writeManifest, writePolicy } from '../testing/projects.ts';
import { openSkill } from './index.ts';
import { searchNpm } from './npm.ts';

const SKILL: Files = {
  'skill.yaml': writeManifest({ policies: ['policies/ours.yaml'] }),
  'policies/ours.yaml': writePolicy('ours'),
};

interface Entry {
  readonly path: string;
  readonly body?: string | Buffer;
  readonly type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'CharacterDevice' | 'FIFO';
  readonly linkpath?: string;
}

function buildTarball(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ path, body = '', type = 'File', linkpath }) => {
    const bytes = Buffer.from(body);
    const head = Buffer.alloc(512);
    new Header({ path, type, size: bytes.length, mode: 0o644, ...(linkpath && { linkpath }) }).encode(head);
    return [head, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

const getEntries = (files: Files, root = 'package/'): Entry[] =>
  Object.entries(files).map(([path, body]) => ({ path: `${root}${path}`, body }));

const place = (cwd: string) => ({ cwd, env: process.env });

async function assertRefused(what: Promise<unknown>, words: RegExp): Promise<void> {
  await assert.rejects(what, (error) => {
    assert.ok(error instanceof SkillFailure, String(error));
    assert.match([error.message, ...error.problems.map(({ message }) => message)].join('\n'), words);
    return true;
  });
}

test('a folder and an archive of it are the same skill', async () => {
  await withProject(SKILL, async (dir) => {
    await writeFile(join(dir, 'a.tgz'), buildTarball(getEntries(SKILL)));
    await writeFile(
      join(dir, 'b.tgz'),
      buildTarball([{ path: './', type: 'Directory' }, ...getEntries(SKILL, './')]),
    );
    const folder = await openSkill('./', place(dir));
    for (const name of ['a.tgz', 'b.tgz']) {
      const skill = await openSkill(name, place(dir));
      assert.deepEqual(skill.files, folder.files);
      assert.match(skill.integrity ?? '', /^sha512-/);
    }
    assert.equal(folder.files.length, 1);
  });
});

test('a hostile archive is refused as a whole', async () => {
  const more = (...entries: Entry[]) => buildTarball([...getEntries(SKILL), ...entries]);
  const rows: readonly (readonly [string, Buffer, RegExp])[] = [
    ['up', more({ path: 'package/../../a', body: 'a' }), /leads out/],
    ['up at once', more({ path: '../a', body: 'a' }), /leads out/],
    ['absolute', more({ path: '/etc/a', body: 'a' }), /leads out/],
    ['drive', more({ path: 'C:/a', body: 'a' }), /leads out/],
    ['backslashes', more({ path: 'package\\..\\a', body: 'a' }), /leads out/],
    ['control', more({ path: 'package/a\u0007', body: 'a' }), /leads out/],
    ['link', more({ path: 'package/a', type: 'SymbolicLink', linkpath: '/etc/passwd' }), /SymbolicLink/],
    ['hard link', more({ path: 'package/a', type: 'Link', linkpath: 'package/skill.yaml' }), /is a Link/],
    ['device', more({ path: 'package/a', type: 'CharacterDevice' }), /CharacterDevice/],
    ['pipe', more({ path: 'package/a', type: 'FIFO' }), /FIFO/],
    ['twice', more({ path: 'package/skill.yaml', body: 'a' }), /one name/],
    ['case', more({ path: 'package/SKILL.yaml', body: 'a' }), /one name/],
    [
      'coding',
      more({ path: 'package/\u00e9', body: 'a' }, { path: 'package/e\u0301', body: 'a' }),
      /one name/,
    ],
    ['full width', more({ path: 'package/\uff53kill.yaml', body: 'a' }), /one name/],
    ['a file as a folder', more({ path: 'package/skill.yaml', type: 'Directory' }), /one name/],
    [
      'many',
      buildTarball(Array.from({ length: 2_001 }, (_, at) => ({ path: `package/${at}` }))),
      /2000 entries/,
    ],
    ['two skills', buildTarball([...getEntries(SKILL, 'a/'), ...getEntries(SKILL, 'b/')]), /more than one/],
    ['no skill', buildTarball([{ path: 'package/a', body: 'a' }]), /no skill/],
    ['bomb', gzipSync(Buffer.alloc(64 * 1024 * 1024)), /unpacked it has more/],
    ['twice compressed', gzipSync(buildTarball(getEntries(SKILL))), /compressed twice/],
    ['cut', buildTarball(getEntries(SKILL)).subarray(0, 100), /no gzip/],
    ['no archive', Buffer.from('hello'), /no gzip/],
    ['garbage', gzipSync(Buffer.from('x'.repeat(5_000))), /damaged/],
  ];
  await withProject({}, async (dir) => {
    for (const [name, bytes, words] of rows) {
      await writeFile(join(dir, 'a.tgz'), bytes);
      await assertRefused(openSkill('a.tgz', place(dir)), words).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`, { cause: error });
      });
    }
    assert.equal(rows.length, 23);
  });
});

test('what a manifest may not say is refused, with the nearest name', async () => {
  const skill = (more: object) => ({
    version: 'v1alpha1',
    skill: {
      name: 'ours',
      version: '1.0.0',
      description: 'Ours.',
      policies: ['policies/ours.yaml'],
      ...more,
    },
  });
  const rows: readonly (readonly [unknown, RegExp])[] = [
    [skill({ polices: ['policies/a.yaml'] }), /did you mean `policies`/],
    [skill({ postinstall: 'sh' }), /unknown key `skill\.postinstall`/],
    [skill({ policies: ['../a.yaml'] }), /right in `policies\/`/],
    [skill({ policies: ['policies/A.yaml'] }), /right in `policies\/`/],
    [skill({ policies: ['service.yaml'] }), /right in `policies\/`/],
    [skill({ policies: ['policies/a/b.yaml'] }), /right in `policies\/`/],
    [skill({ policies: ['policies/none.yaml'] }), /is not there/],
    [skill({ name: '../a' }), /must be a name/],
    [skill({ name: 'constructor', version: 'v1' }), /must be a version/],
    [{ version: 'v1', skill: {} }, /v1alpha1/],
    [{ version: 'v1alpha1', skill: { name: 'a', version: '1.0.0', description: 'A.' } }, /lists no file/],
    [[], /mapping/],
  ];
  for (const [written, words] of rows) {
    await withProject({ ...SKILL, 'skill.yaml': JSON.stringify(written) }, (dir) =>
      assertRefused(openSkill('./', place(dir)), words),
    );
  }
  assert.equal(rows.length, 12);
});

test('no link of a folder is followed, and no name is looked up elsewhere', async () => {
  await withProject({ 'secret.yaml': 'a: b', 'skill/skill.yaml': SKILL['skill.yaml']! }, async (dir) => {
    await mkdir(join(dir, 'skill/policies'));
    await symlink(join(dir, 'secret.yaml'), join(dir, 'skill/policies/ours.yaml'));
    await assertRefused(openSkill('./skill', place(dir)), /is not there/);
    await assertRefused(openSkill('hippa', place(dir)), /did you mean `hipaa`\?/);
    await assertRefused(openSkill('left-pad', place(dir)), /No skill of that name/);
    for (const spec of [
      'npm:',
      'npm:../a',
      'npm:a@>1',
      'npm:git+ssh://a',
      'npm:--help',
      'npm:a b',
      'npm:a@-g',
    ])
      await assertRefused(openSkill(spec, place(dir)), /is not a package name/);
  });
});

test('a package of a registry is fetched by npm, compared with its SHA-512, and none of it is run', async () => {
  await withProject({}, async (dir) => {
    const ran = join(dir, 'ran');
    const scripts = Object.fromEntries(
      ['preinstall', 'install', 'postinstall', 'prepare', 'prepack'].map((name) => [name, `touch ${ran}`]),
    );
    const described = {
      name: '@acme/rules',
      version: '1.2.0',
      description: 'Rules.',
      keywords: ['customshouse-skill'],
    };
    await writeFiles(join(dir, 'source'), {
      ...SKILL,
      'package.json': JSON.stringify({ ...described, scripts }),
    });
    const env = {
      ...process.env,
      npm_config_cache: join(dir, 'cache'),
      npm_config_userconfig: join(dir, 'npmrc'),
    };
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', dir], {
      cwd: join(dir, 'source'),
      env,
      stdio: 'pipe',
    });
    const tarball = await readFile(join(dir, 'acme-rules-1.2.0.tgz'));
    const registry = await startRegistry(described, tarball);
    try {
      const at = { cwd: dir, env: { ...env, npm_config_registry: registry.url } };
      const skill = await openSkill('npm:@acme/rules', at);
      assert.equal(skill.source, 'npm:@acme/rules@1.2.0');
      assert.equal(skill.integrity, registry.integrity);
      assert.equal(skill.files.length, 1);
      assert.deepEqual(await searchNpm(['rules'], at), [
        { name: '@acme/rules', version: '1.2.0', description: 'Rules.' },
      ]);
      await assertRefused(openSkill('npm:@acme/rules@9.9.9', at), /no version|no such package/);
      await assertRefused(openSkill('npm:other', at), /no such package/);
      registry.state.integrity = `sha512-${Buffer.alloc(64).toString('base64')}`;
      const fresh = { ...at, env: { ...at.env, npm_config_cache: join(dir, 'other-cache') } };
      await assertRefused(openSkill('npm:@acme/rules', fresh), /cannot be had|is another/);
      registry.state.integrity = null;
      const third = { ...at, env: { ...at.env, npm_config_cache: join(dir, 'third-cache') } };
      await assertRefused(openSkill('npm:@acme/rules', third), /names no SHA-512/);
    } finally {
      registry.close();
    }
    await assert.rejects(readFile(ran), /ENOENT/);
  });
});

/** Starts a registry with one package in one version. */
async function startRegistry(
  described: { readonly name: string; readonly version: string },
  tarball: Buffer,
) {
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const shasum = createHash('sha1').update(tarball).digest('hex');
  const state: { integrity: string | null } = { integrity };
  const { name, version } = described;
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '');
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (path === '/rules.tgz') response.end(tarball);
    else if (path === '/-/v1/search')
      json({
        objects: [
          {
            package: {
              ...described,
              date: new Date(0),
              links: {},
              maintainers: [],
              publisher: { username: 'a' },
            },
          },
        ],
        total: 1,
      });
    else if (path === `/${name}`) {
      const dist = {
        tarball: `http://127.0.0.1:${port}/rules.tgz`,
        shasum,
        ...(state.integrity && { integrity: state.integrity }),
      };
      json({
        ...described,
        'dist-tags': { latest: version },
        versions: { [version]: { ...described, dist } },
        time: { [version]: new Date(0) },
      });
    } else json({ error: 'not found' }, 404);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, integrity, state, close: () => server.close() };
}
