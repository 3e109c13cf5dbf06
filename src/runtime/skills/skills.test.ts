import assert from 'node:assert/strict';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { SkillFailure } from '../packages/failure.ts';
import { lockSkillsFolder } from './apply.ts';
import { listSkills, planToAdd } from './skills.ts';
import {
  add,
  type Files,
  loadProjectConfig,
  readTestSkill,
  readTree,
  remove,
  SERVICE_VERSION,
  withProject,
  writeFiles,
  writeManifest,
  writePolicy,
} from './testing/projects.ts';

const OWN: Files = {
  'service.yaml': 'policies: [{name: own, boundary: input, data_tags: [secret], action: block}]\n',
  'policies/own.yaml': writePolicy('own-file', { boundary: 'input' }),
  'notes/a.txt': 'mine',
};
const FIRST = {
  'skill.yaml': writeManifest({
    policies: ['policies/ours.yaml'],
    contracts: ['contracts/ours.yaml'],
    schemas: ['schemas/ours.yaml'],
    tests: ['policies/tests/ours.yaml'],
  }),
  'policies/ours.yaml': writePolicy('ours'),
  'contracts/ours.yaml':
    'version: v1alpha1\ncontract: {tool_name: crm, accepts: {}, emits: {}, side_effects: {reversible: true, requires_approval: false}}\n',
  'schemas/ours.yaml':
    'version: v1alpha1\nmemory: {name: ours, scope: user, fields: [{name: a, type: string, tag: internal}]}\n',
  'policies/tests/ours.yaml':
    'version: v1alpha1\ntests: [{name: a, boundary: output, text: mail a.b@acme-mail.io, expect: {rule: ours}}]\n',
};

async function assertRefused(what: Promise<unknown>, code: string, words: RegExp): Promise<void> {
  await assert.rejects(what, (error) => {
    assert.ok(error instanceof SkillFailure, String(error));
    assert.equal(error.code, code);
    assert.match([error.message, ...error.problems.map(({ message }) => message)].join('\n'), words);
    return true;
  });
}

test('adding and removing a skill restores every byte, with and without other files', async () => {
  for (const files of [{}, OWN]) {
    await withProject(files, async (dir) => {
      const before = await readTree(dir);
      const { effect, cases, files: changed } = await add(dir, await readTestSkill(FIRST));
      assert.equal(changed.changes.length, 4);
      assert.deepEqual(
        effect?.added.map(({ kind, name }) => `${kind} ${name}`),
        ['rule ours', 'contract crm', 'memory schema ours'],
      );
      assert.deepEqual(
        cases.map(({ differences }) => differences),
        [[]],
      );
      const after = await readTree(dir);
      for (const path of Object.keys(before)) assert.equal(after[path], before[path]);
      assert.equal(after['policies/ours.yaml'], FIRST['policies/ours.yaml']);
      assert.deepEqual(
        (await listSkills(await loadProjectConfig(dir))).skills.map(({ name, state }) => [name, state]),
        [['ours', 'intact']],
      );
      await remove(dir, 'ours');
      assert.deepEqual(await readTree(dir), before);
    });
  }
});

test('another version takes its place, older ones too, and what it no longer brings goes', async () => {
  const second = {
    'skill.yaml': writeManifest({ policies: ['policies/ours.yaml'] }, '1.1.0'),
    'policies/ours.yaml': writePolicy('ours', { reason: 'New.' }),
  };
  await withProject(OWN, async (dir) => {
    const before = await readTree(dir);
    await add(dir, await readTestSkill(FIRST));
    const first = await readTree(dir);
    const { files, replaces } = await add(dir, await readTestSkill(second));
    assert.equal(replaces?.version, '1.0.0');
    assert.deepEqual(files.changes.map(({ action, path }) => `${action} ${path}`).sort(), [
      'delete contracts/ours.yaml',
      'delete policies/tests/ours.yaml',
      'delete schemas/ours.yaml',
      'replace policies/ours.yaml',
    ]);
    assert.deepEqual(
      Object.keys(await readTree(dir)).filter((path) => /contracts|schemas|tests/.test(path)),
      [],
    );
    await add(dir, await readTestSkill(FIRST));
    assert.deepEqual(await readTree(dir), first);
    await remove(dir, 'ours');
    assert.deepEqual(await readTree(dir), before);
  });
});

test('nothing is overwritten or deleted that is another’s or was changed', async () => {
  await withProject(OWN, async (dir) => {
    const before = await readTree(dir);
    const taken = await readTestSkill({
      'skill.yaml': writeManifest({ policies: ['policies/own.yaml'] }),
      'policies/own.yaml': OWN['policies/own.yaml']!,
    });
    await assertRefused(add(dir, taken), 'conflict', /own\.yaml` is there already/);
    assert.deepEqual(await readTree(dir), before);
    await add(dir, await readTestSkill(FIRST));
    const other = {
      'skill.yaml': writeManifest({ policies: ['policies/ours.yaml'] }, '1.0.0', 'other'),
      'policies/ours.yaml': writePolicy('other'),
    };
    await assertRefused(add(dir, await readTestSkill(other)), 'conflict', /is of the skill `ours`/);
    const changed = writePolicy('ours', { reason: 'By hand.' });
    await writeFile(join(dir, 'policies/ours.yaml'), changed);
    await rm(join(dir, 'contracts/ours.yaml'));
    const { skills } = await listSkills(await loadProjectConfig(dir));
    assert.deepEqual(
      [skills[0]?.state, skills[0]?.changed, skills[0]?.missing],
      ['missing', ['policies/ours.yaml'], ['contracts/ours.yaml']],
    );
    await assertRefused(add(dir, await readTestSkill(FIRST)), 'conflict', /was edited since/);
    const { files } = await remove(dir, 'ours');
    assert.deepEqual(files.kept, ['policies/ours.yaml']);
    assert.equal(await readFile(join(dir, 'policies/ours.yaml'), 'utf8'), changed);
    await assertRefused(add(dir, await readTestSkill(FIRST)), 'conflict', /is there already/);
    await rm(join(dir, 'policies/ours.yaml'));
    assert.deepEqual(await readTree(dir), before);
    await add(dir, await readTestSkill(FIRST));
    await writeFile(join(dir, 'policies/ours.yaml'), changed);
    assert.deepEqual((await remove(dir, 'ours', true)).files.kept, []);
    assert.deepEqual(await readTree(dir), before);
  });
});

test('what would not be valid, or not be read, is refused as a whole', async () => {
  const rows: readonly (readonly [string, Files, RegExp])[] = [
    ['a rule of a name that is taken', { 'policies/a.yaml': writePolicy('own') }, /own/],
    ['a mistake', { 'policies/a.yaml': writePolicy('a', { action: 'blok' }) }, /did you mean `block`/],
    [
      'a key that is none',
      { 'policies/a.yaml': writePolicy('a', { bondary: 'output' }) },
      /did you mean `boundary`/,
    ],
    [
      'a contract among the policies',
      { 'policies/a.yaml': FIRST['contracts/ours.yaml'] },
      /holds a tool-contract document/,
    ],
    [
      'agents that nobody reads',
      { 'agents/a.yaml': 'version: v1alpha1\nagent: {agent_id: a}\n' },
      /add `agents\/\*\.yaml` to `paths\.identity_files`/,
    ],
    [
      'cases among the policies',
      { 'policies/a.test.yaml': FIRST['policies/tests/ours.yaml'] },
      /would not be read/,
    ],
    [
      'a plug-in that nobody names',
      { 'plugins/a.mjs': 'export default {};' },
      /add `plugins\/\*\.mjs` to `plugins\.files`/,
    ],
  ];
  await withProject({ ...OWN, 'service.yaml': `${OWN['service.yaml']}` }, async (dir) => {
    const before = await readTree(dir);
    for (const [name, files, words] of rows) {
      const key = Object.keys(files)[0]!.split('/')[0]!;
      const skill = await readTestSkill({
        'skill.yaml': writeManifest({ [key]: Object.keys(files) }),
        ...files,
      });
      await assertRefused(add(dir, skill, { plugins: true }), 'policy_invalid', words);
      assert.deepEqual(await readTree(dir), before, name);
    }
    assert.equal(rows.length, 7);
  });
});

test('a less strict policy is reported, and a rule for a new tag is reported separately', async () => {
  const rows: readonly (readonly [Files, 'less_strict' | 'opened' | 'loosening' | 'nothing'])[] = [
    [{ 'policies/a.yaml': writePolicy('a', { action: 'allow' }) }, 'less_strict'],
    [
      {
        'policies/a.yaml': writePolicy('a', {
          action: 'allow',
          data_tags: ['secret'],
          condition: { when: 'findings > 3' },
        }),
      },
      'less_strict',
    ],
    [
      {
        'policies/a.yaml': writePolicy('a', {
          action: 'flag',
          data_tags: ['secret'],
          boundary: 'input',
          priority: 1,
        }),
      },
      'less_strict',
    ],
    [
      { 'policies/a.yaml': writePolicy('a', { action: 'flag', data_tags: ['secret'], boundary: 'input' }) },
      'nothing',
    ],
    [{ 'policies/a.yaml': writePolicy('a', { action: 'allow', data_tags: ['acme.tag'] }) }, 'opened'],
    [
      {
        'policies/a.yaml': writePolicy('a', {
          action: undefined,
          boundary: 'action',
          session: { reset: true },
        }),
      },
      'loosening',
    ],
    [
      {
        'policies/a.yaml': writePolicy('a', {
          action: 'block',
          condition: { tools: ['crm.*'] },
          boundary: 'action',
        }),
      },
      'nothing',
    ],
  ];
  await withProject(OWN, async (dir) => {
    const before = await readTree(dir);
    for (const [files, expected] of rows) {
      const skill = await readTestSkill({
        'skill.yaml': writeManifest({ policies: Object.keys(files) }),
        ...files,
      });
      const { plan, close } = await planToAdd(await loadProjectConfig(dir), skill, SERVICE_VERSION);
      await close();
      const { less_strict, opened, loosening } = plan.effect!.strictness;
      const found =
        less_strict > 0
          ? 'less_strict'
          : opened > 0
            ? 'opened'
            : loosening.length > 0
              ? 'loosening'
              : 'nothing';
      assert.equal(found, expected, JSON.stringify(files));
    }
    assert.equal(rows.length, 7);
    assert.deepEqual(await readTree(dir), before);
  });
});

test('nothing is written through a link, and a strange lock file or change is not believed', async () => {
  await withProject({ ...OWN, 'elsewhere/a.txt': 'a' }, async (outer) => {
    const dir = join(outer, 'project');
    await mkdir(dir);
    await symlink(join(outer, 'elsewhere'), join(dir, 'policies'));
    await assertRefused(add(dir, await readTestSkill(FIRST)), 'conflict', /leads out of the folder/);
    await rm(join(dir, 'policies'));
    await symlink(join(outer, 'elsewhere'), join(dir, '.skills-change'));
    await assertRefused(
      add(dir, await readTestSkill(FIRST)),
      'lock_invalid',
      /not in the form of this program/,
    );
    await rm(join(dir, '.skills-change'));
    const changes = [{ path: '../elsewhere/a.txt', action: 'create', before: null, after: 'a' }];
    const plan = {
      version: 'v1alpha1',
      changes,
      folders_made: [],
      folders_leaving: [],
      lock_before: null,
      lock_after: 'b',
    };
    await writeFiles(dir, { '.skills-change/plan.json': JSON.stringify(plan) });
    await assertRefused(
      add(dir, await readTestSkill(FIRST)),
      'lock_invalid',
      /not in the form of this program/,
    );
    await rm(join(dir, '.skills-change'), { recursive: true });
    const hash = 'a'.repeat(64);
    const locks: readonly (readonly [unknown, RegExp])[] = [
      [{ files: { '../elsewhere/a.txt': hash } }, /no skill may own/],
      [{ files: { 'service.yaml': hash } }, /no skill may own/],
      [{ files: { 'policies/a.yaml': 'x' } }, /written as it must be|files/],
      [{ files: {}, more: 1 }, /unknown key/],
    ];
    for (const [more, words] of locks) {
      const skill = { version: '1.0.0', source: 'bundled', ...(more as object) };
      await writeFiles(dir, {
        'skills.lock': JSON.stringify({ version: 'v1alpha1', skills: { ours: skill }, folders: [] }),
      });
      await assertRefused(remove(dir, 'ours'), 'lock_invalid', words);
    }
    assert.equal(await readFile(join(outer, 'elsewhere/a.txt'), 'utf8'), 'a');
    assert.equal(locks.length, 4);
  });
});

test('two do not change one folder at a time', async () => {
  await withProject(OWN, async (dir) => {
    const turn = await lockSkillsFolder(dir);
    await assertRefused(add(dir, await readTestSkill(FIRST)), 'busy', /Another command/);
    await turn.release();
    await add(dir, await readTestSkill(FIRST));
  });
});

test('what changed between the showing and the doing stops it', async () => {
  await withProject(OWN, async (dir) => {
    const open = await planToAdd(await loadProjectConfig(dir), await readTestSkill(FIRST), SERVICE_VERSION);
    await writeFile(
      join(dir, 'policies/own.yaml'),
      writePolicy('own-file', { boundary: 'input', action: 'flag' }),
    );
    const before = await readTree(dir);
    await assertRefused(open.carryOut(), 'conflict', /another file was changed/);
    await open.close();
    const left = await readTree(dir);
    assert.deepEqual(
      Object.keys(left),
      Object.keys(before).filter((path) => !path.startsWith('.skills')),
    );
  });
});
