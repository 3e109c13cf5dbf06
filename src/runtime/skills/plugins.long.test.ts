/** Skills that contain code: the required consent, the time at which the code runs, and its effect. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SkillFailure } from '../packages/failure.ts';
import { loadPolicy } from '../policies/index.ts';
import { listSkills } from './skills.ts';
import {
  add,
  type Files,
  loadProjectConfig,
  readTestSkill,
  readTree,
  remove,
  withProject,
  writeManifest,
  writePolicy,
} from './testing/projects.ts';

process.env.SERVICE_TRUSTED_PLUGINS = tmpdir();

const AGREED = { plugins: true };
const PROJECT: Files = { 'service.yaml': 'plugins: {files: ["plugins/*.mjs"], timeout_ms: 2000}\n' };

const exporting = (id: string, name = 'ours'): string =>
  `export default ${JSON.stringify({
    name,
    version: '1.0.0',
    detectors: [
      {
        id,
        pattern: 'TKT-[0-9]{4,10}',
        tags: ['internal.ticket'],
        severity: 'medium',
        description: 'Tickets.',
        examples: { hits: ['see TKT-1234'] },
      },
    ],
  })};\n`;

const bringing = (
  code: string,
  version = '1.0.0',
  more: Files = {},
): Promise<Awaited<ReturnType<typeof readTestSkill>>> =>
  readTestSkill({
    'skill.yaml': writeManifest(
      {
        policies: ['policies/ours.yaml'],
        plugins: ['plugins/ours.mjs'],
        tests: ['policies/tests/ours.yaml'],
      },
      version,
    ),
    'policies/ours.yaml': writePolicy('ours', { data_tags: ['internal.ticket'] }),
    'policies/tests/ours.yaml':
      'version: v1alpha1\ntests: [{name: a, boundary: output, text: of TKT-1234, expect: {rule: ours}}]\n',
    'plugins/ours.mjs': code,
    ...more,
  });

async function assertRefused(what: Promise<unknown>, code: string, words: RegExp): Promise<void> {
  await assert.rejects(what, (error) => {
    assert.ok(error instanceof SkillFailure, String(error));
    assert.equal(error.code, code);
    assert.match([error.message, ...error.problems.map(({ message }) => message)].join('\n'), words);
    return true;
  });
}

const patternsIn = async (dir: string): Promise<readonly string[]> => {
  const made = await loadPolicy(await loadProjectConfig(dir));
  assert.ok(made.ok, JSON.stringify(made));
  return made.policy.detection.patterns.map(({ id }) => id);
};

test('no code of a plug-in runs before the operator agrees, and then it works until it is removed', async () => {
  await withProject(PROJECT, async (dir) => {
    const before = await readTree(dir);
    const ran = join(dir, 'ran');
    const code = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(ran)}, '');\n${exporting('acme.ticket')}`;
    const skill = await bringing(code);
    await assertRefused(add(dir, skill), 'plugins_refused', /is code of \d+ bytes.*SHA-256 [0-9a-f]{64}/s);
    assert.ok(!existsSync(ran));
    assert.deepEqual(await readTree(dir), before);
    const { plugins, cases } = await add(dir, skill, AGREED);
    assert.ok(existsSync(ran));
    await rm(ran);
    assert.deepEqual(
      plugins.map(({ from, status, detectors }) => [from, status, detectors]),
      [['plugins/ours.mjs', 'active', ['acme.ticket']]],
    );
    assert.deepEqual(
      cases.map(({ differences }) => differences),
      [[]],
      'its own case sees what its own plug-in finds',
    );
    assert.deepEqual(await patternsIn(dir), ['acme.ticket']);
    const lock = JSON.parse(await readFile(join(dir, 'skills.lock'), 'utf8'));
    assert.equal(lock.skills.ours.files['plugins/ours.mjs'], plugins[0]?.sha256);
    const { emptied } = await remove(dir, 'ours');
    await rm(ran);
    assert.deepEqual(emptied, ['policy_files policies/*.yaml', 'plugins.files plugins/*.mjs']);
    assert.deepEqual(await readTree(dir), before);
  });
});

test('changed code of a skill needs consent again, and unchanged code does not', async () => {
  await withProject(PROJECT, async (dir) => {
    await add(dir, await bringing(exporting('acme.ticket')), AGREED);
    const other = await bringing(exporting('acme.case'), '1.1.0');
    await assertRefused(add(dir, other), 'plugins_refused', /plug-ins\. Read them/);
    assert.deepEqual(await patternsIn(dir), ['acme.ticket']);
    await add(dir, await bringing(exporting('acme.ticket'), '1.0.1'));
    const { files } = await add(dir, other, AGREED);
    assert.deepEqual(
      files.changes.map(({ action, path }) => `${action} ${path}`),
      ['replace plugins/ours.mjs'],
    );
    assert.deepEqual(await patternsIn(dir), ['acme.case']);
  });
});

test('a plug-in that would be left out is refused with the reason, and nothing is changed', async () => {
  const rows: readonly (readonly [what: string, code: string, words: RegExp])[] = [
    ['throws', 'throw new Error("no luck");', /no luck/],
    ['hangs', 'for (;;);', /within 2000 ms/],
    ['takes a name', exporting('github.token'), /is taken/],
    ['is misshapen', 'export default { name: "ours", version: "1.0.0", detecters: [] };', /unknown key/],
    ['takes the name of one that is there', exporting('acme.other', 'there'), /taken by another plug-in/],
  ];
  const there = { ...PROJECT, 'plugins/a-there.mjs': exporting('acme.there', 'there') };
  await withProject(there, async (dir) => {
    const before = await readTree(dir);
    for (const [what, code, words] of rows) {
      await assertRefused(add(dir, await bringing(code), AGREED), 'policy_invalid', words).catch(
        (error: Error) => {
          throw new Error(`${what}: ${error.message}`, { cause: error });
        },
      );
      assert.deepEqual(await readTree(dir), before, what);
    }
    assert.equal(rows.length, 5);
    await add(dir, await bringing(exporting('acme.ticket')), AGREED);
    assert.deepEqual([...(await patternsIn(dir))].sort(), ['acme.there', 'acme.ticket']);
  });
});

test('code that is not what the lock file says is not run, nor any where the lock file cannot be read', async () => {
  await withProject(PROJECT, async (dir) => {
    await add(dir, await bringing(exporting('acme.ticket')), AGREED);
    const ran = join(dir, 'ran');
    const spiked = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(ran)}, '');\n${exporting('acme.ticket')}`;
    await writeFile(join(dir, 'plugins/ours.mjs'), spiked);
    const made = await loadPolicy(await loadProjectConfig(dir));
    assert.ok(made.ok);
    assert.deepEqual(made.policy.detection.patterns, []);
    assert.match(
      JSON.stringify(made.plugins.plugins),
      /differs from the file that the skill `ours` installed/,
    );
    assert.ok(!existsSync(ran));
    assert.equal((await listSkills(await loadProjectConfig(dir))).skills[0]?.state, 'changed');
    await assertRefused(remove(dir, 'ours'), 'conflict', /would run if it stayed/);
    const without = await readTestSkill({
      'skill.yaml': writeManifest({ policies: ['policies/ours.yaml'] }, '1.1.0'),
      'policies/ours.yaml': writePolicy('ours', { data_tags: ['internal.ticket'] }),
    });
    await assertRefused(add(dir, without), 'conflict', /would run if it stayed/);
    assert.ok(!existsSync(ran));
    await remove(dir, 'ours', true);
    assert.deepEqual(Object.keys(await readTree(dir)), ['service.yaml']);
  });
});

test('no plug-in runs if the lock file cannot be read', async () => {
  await withProject({ ...PROJECT, 'plugins/own.mjs': exporting('acme.own', 'own') }, async (dir) => {
    assert.deepEqual(await patternsIn(dir), ['acme.own']);
    await writeFile(join(dir, 'skills.lock'), '<<<<<<< ours');
    const made = await loadPolicy(await loadProjectConfig(dir));
    assert.ok(made.ok);
    assert.match(
      JSON.stringify(made.plugins.plugins),
      /`skills\.lock` next to the configuration cannot be read/,
    );
    assert.deepEqual(made.policy.detection.patterns, []);
  });
});

test('one file is not of two skills, and packages stay where they are while a change is tried', async () => {
  const project: Files = {
    'service.yaml': 'plugins: {files: ["plugins/*.mjs"], packages: [acme], timeout_ms: 2000}\n',
    'node_modules/acme/package.json': '{"name": "acme", "main": "index.cjs"}',
    'node_modules/acme/index.cjs': `module.exports = ${exporting('acme.package', 'acme').slice('export default '.length)}`,
  };
  await withProject(project, async (dir) => {
    await add(dir, await bringing(exporting('acme.ticket')), AGREED);
    assert.deepEqual(await patternsIn(dir), ['acme.ticket', 'acme.package']);
    const code = exporting('acme.other', 'other');
    const other = await readTestSkill({
      'skill.yaml': writeManifest({ plugins: ['plugins/ours.mjs'] }, '1.0.0', 'other'),
      'plugins/ours.mjs': code,
    });
    await assertRefused(add(dir, other, AGREED), 'conflict', /is of the skill `ours`/);
    const { effect } = await remove(dir, 'ours');
    assert.deepEqual(effect?.added, []);
    assert.deepEqual(await patternsIn(dir), ['acme.package']);
  });
});

test('a version of a registry that is another archive than before is refused', async () => {
  await withProject(PROJECT, async (dir) => {
    const files = {
      'skill.yaml': writeManifest({ policies: ['policies/ours.yaml'] }),
      'policies/ours.yaml': writePolicy('ours'),
    };
    const source = 'npm:ours@1.0.0';
    await add(dir, await readTestSkill(files, { source, integrity: 'sha512-a' }));
    const spiked = { ...files, 'policies/ours.yaml': writePolicy('ours', { action: 'flag' }) };
    const before = await readTree(dir);
    await assertRefused(
      add(dir, await readTestSkill(spiked, { source, integrity: 'sha512-b' })),
      'conflict',
      /another archive than the one of this version/,
    );
    assert.deepEqual(await readTree(dir), before);
    await add(dir, await readTestSkill(files, { source, integrity: 'sha512-a' }));
    const newer = await readTestSkill(spiked, { source: 'npm:ours@1.0.1', integrity: 'sha512-b' });
    assert.equal((await add(dir, newer)).files.changes.length, 1);
  });
});

test('agents and memory schemas come and go where the configuration names their folders', async () => {
  const project: Files = { 'service.yaml': 'paths: {identity_files: ["agents/*.yaml"]}\n' };
  await withProject(project, async (dir) => {
    const before = await readTree(dir);
    const files: Files = {
      'agents/ours.yaml': 'version: v1alpha1\nagent: {agent_id: ours}\n',
      'schemas/ours.yaml':
        'version: v1alpha1\nmemory: {name: ours, scope: user, fields: [{name: a, type: string, tag: internal}]}\n',
    };
    const skill = await readTestSkill({
      'skill.yaml': writeManifest({ agents: ['agents/ours.yaml'], schemas: ['schemas/ours.yaml'] }),
      ...files,
    });
    const { effect } = await add(dir, skill);
    assert.deepEqual(
      effect?.added.map(({ kind, name }) => `${kind} ${name}`),
      ['identity ours', 'memory schema ours'],
    );
    const made = await loadPolicy(await loadProjectConfig(dir));
    assert.ok(made.ok);
    assert.deepEqual(
      [made.policy.identities.length, made.policy.memory_schemas.length, made.policy.unknown_agents],
      [1, 1, 'block'],
    );
    await remove(dir, 'ours');
    assert.deepEqual(await readTree(dir), before);
  });
});

test('a file that is too large, or all of them together, is refused before anything is read of it', async () => {
  await withProject(PROJECT, async (dir) => {
    const before = await readTree(dir);
    const large = ' '.repeat(4 * 1024 * 1024 + 1);
    await assertRefused(bringing(large), 'skill_invalid', /is larger than \d+ bytes/);
    const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `plugins/${name}.mjs`);
    const half = ' '.repeat(2 * 1024 * 1024);
    const many = Object.fromEntries(names.map((name) => [name, half]));
    await assertRefused(
      readTestSkill({ 'skill.yaml': writeManifest({ plugins: names }), ...many }),
      'skill_invalid',
      /brings the skill over \d+ bytes|is larger than/,
    );
    assert.deepEqual(await readTree(dir), before);
  });
});
