/**
 * Every bundled skill works as documented, alone and together with all others, and does not affect ordinary
 * work.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { policyPacks } from '../../core/policy/templates/index.ts';
import { loadPolicy } from '../policies/index.ts';
import { lintPolicy } from '../policies/lint.ts';
import { testPolicy } from '../policies/test-policy.ts';
import { isTemplate } from './skills.ts';
import { openBundledSkills } from './sources/bundled.ts';
import { add, loadProjectConfig, withProject } from './testing/projects.ts';

const skills = await openBundledSkills();
const NAMES = [
  'coding-agent',
  'finance',
  'gdpr',
  'healthcare',
  'hipaa',
  'information-flow',
  'lethal-trifecta',
  'pci-dss',
  'prompt-injection-shield',
  'support',
];

test('they are all there, and say what they are', async () => {
  assert.deepEqual(
    skills.map(({ name }) => name),
    NAMES,
  );
  for (const { name, files } of skills) {
    const folder = new URL(`../../../skills/${name}/`, import.meta.url);
    const readme = await readFile(new URL('README.md', folder), 'utf8');
    assert.ok(readme.includes(`customshouse skills add ${name}`), name);
    const there = (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.pathname.length).replace(/^\//, ''))
      .filter((path) => path !== 'README.md' && path !== 'skill.yaml' && !path.startsWith('examples/'));
    assert.deepEqual(there.sort(), files.map(({ path }) => path).sort(), `${name} lists all of its files`);
  }
});

test('every template of the service is one, word for word', () => {
  for (const { name, description } of policyPacks) {
    const skill = skills.find((each) => each.name === name);
    assert.equal(skill?.description, description);
    assert.ok(isTemplate(skill));
  }
  const bringMore = skills.filter((skill) => !isTemplate(skill)).map(({ name }) => name);
  assert.deepEqual(bringMore, ['gdpr', 'hipaa', 'information-flow']);
});

for (const skill of skills) {
  test(`${skill.name}: its cases hold, nothing is less strict, and no rule is dead`, async () => {
    await withProject({}, async (dir) => {
      const { cases, effect, warnings, files } = await add(dir, skill);
      assert.ok(cases.length >= 4, `only ${cases.length} cases`);
      for (const { name, differences } of cases) assert.deepEqual(differences, [], name);
      assert.deepEqual([effect?.strictness.less_strict, effect?.strictness.loosening, warnings], [0, [], []]);
      assert.ok(effect!.added.length > 0 && effect!.strictness.complete);
      assert.equal(files.changes.length, skill.files.length);
      const { remarks, records } = await lintPolicy(await loadProjectConfig(dir));
      assert.ok(records > 0);
      const reported = remarks.filter(({ id }) => id !== 'unknown-tag' && id !== 'safer-forbidden');
      assert.deepEqual(reported, []);
    });
  });
}

test('all together they are as strict as each alone: no skill takes a rule of another away', async () => {
  await withProject({}, async (dir) => {
    for (const skill of skills) {
      const { effect } = await add(dir, skill);
      assert.deepEqual([effect?.strictness.less_strict, effect?.strictness.examples], [0, []], skill.name);
    }
    const config = await loadProjectConfig(dir);
    const made = await loadPolicy(config);
    assert.ok(made.ok);
    const { results, files } = await testPolicy(made.policy, config, [], dir);
    assert.equal(files.length, skills.length);
    const lessStrict = results.flatMap(({ name, differences }) =>
      differences
        .filter(
          ({ field, expected, actual }) =>
            field === 'decision' && DECISIONS.indexOf(actual) < DECISIONS.indexOf(expected),
        )
        .map(() => name),
    );
    assert.deepEqual(lessStrict, []);
    assert.ok(results.length >= 80);
  });
});

/** From lax to strict. */
const DECISIONS = ['allow', 'modify', 'block'];
