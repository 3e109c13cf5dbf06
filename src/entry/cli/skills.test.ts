import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess, withFolder } from './testing/run.ts';

test('a skill is shown, added with consent alone, listed and removed', async () => {
  await withFolder(async (cwd) => {
    const run = (...words: string[]) => runInProcess(words, { cwd });
    const unasked = await run('skills', 'add', 'pci-dss');
    assert.equal(unasked.code, 2);
    assert.match(unasked.stdout, /create {3}policies\/pci-dss\.yaml/);
    assert.match(unasked.stderr, /Not a terminal/);
    assert.equal((await run('skills', 'add', 'pci-dss', '--dry-run')).code, 0);
    assert.deepEqual(await readdir(cwd), []);
    const added = await run('skills', 'add', 'pci-dss', '--yes', '--json');
    const plan = JSON.parse(added.stdout);
    assert.deepEqual([added.code, plan.done, plan.files.changes.length], [0, true, 2]);
    assert.ok(plan.files.changes.every((change: object) => !('text' in change)));
    assert.match((await run('skills', 'add', 'pci-dss', '--yes')).stdout, /there already/);
    assert.match((await run('skills', 'list')).stdout, /^pci-dss {2}1\.0\.0 {4}intact/m);
    assert.equal((await run('policy', 'test')).code, 0);
    await writeFile(join(cwd, 'policies/pci-dss.yaml'), '# mine\n');
    const checked = await run('skills', 'list', '--check');
    assert.equal(checked.code, 1);
    assert.match(checked.stdout, /changed {2}policies\/pci-dss\.yaml/);
    const removed = await run('skills', 'remove', 'pci-dss', '--yes', '--force');
    assert.equal(removed.code, 0, removed.stderr);
    assert.deepEqual(await readdir(cwd), []);
    const unknown = await run('skills', 'remove', 'pci-dss', '--yes');
    assert.deepEqual([unknown.code, /No skill `pci-dss` was added/.test(unknown.stderr)], [1, true]);
    assert.match((await run('skills', 'add', 'finnance', '--yes')).stderr, /did you mean `finance`/);
  });
});

test('a less strict policy needs more than --yes', async () => {
  await withFolder(async (cwd) => {
    await mkdir(join(cwd, 'lax/policies'), { recursive: true });
    await writeFile(
      join(cwd, 'lax/skill.yaml'),
      'version: v1alpha1\nskill: {name: lax, version: 1.0.0, description: Lax., policies: [policies/lax.yaml]}\n',
    );
    await writeFile(
      join(cwd, 'lax/policies/lax.yaml'),
      'version: v1alpha1\npolicies: [{name: lax, boundary: output, data_tags: [secret], action: allow}]\n',
    );
    const refused = await runInProcess(['skills', 'add', './lax', '--yes'], { cwd });
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /output, secret: redact -> allow/);
    assert.match(refused.stderr, /--allow-less-strict/);
    assert.deepEqual(await readdir(cwd), ['lax']);
    const meant = await runInProcess(['skills', 'add', './lax', '--yes', '--allow-less-strict'], { cwd });
    assert.equal(meant.code, 0, meant.stderr);
  });
});

test('what brings code needs more than --yes', async () => {
  await withFolder(async (cwd) => {
    process.env.XDG_CONFIG_HOME = join(cwd, 'coded');
    await mkdir(join(cwd, 'coded/plugins'), { recursive: true });
    await writeFile(join(cwd, 'service.yaml'), 'plugins: {files: ["plugins/*.mjs"]}\n');
    await writeFile(
      join(cwd, 'coded/skill.yaml'),
      'version: v1alpha1\nskill: {name: coded, version: 1.0.0, description: Coded., plugins: [plugins/coded.mjs]}\n',
    );
    await writeFile(
      join(cwd, 'coded/plugins/coded.mjs'),
      "export default { name: 'coded', version: '1.0.0' };\n",
    );
    const refused = await runInProcess(['skills', 'add', './coded', '--yes'], { cwd });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /plugins\/coded\.mjs: .*is code of \d+ bytes.*SHA-256 [0-9a-f]{64}/);
    assert.match(refused.stderr, /--allow-plugins/);
    assert.deepEqual(await readdir(cwd), ['coded', 'service.yaml']);
    const looked = await runInProcess(['skills', 'add', './coded', '--allow-plugins', '--dry-run'], { cwd });
    assert.match(looked.stdout, /Code that will run in the service\n {2}plugins\/coded\.mjs: coded 1\.0\.0/);
    const meant = await runInProcess(['skills', 'add', './coded', '--yes', '--allow-plugins', '--json'], {
      cwd,
    });
    assert.equal(meant.code, 0, meant.stderr);
    assert.deepEqual(JSON.parse(meant.stdout).plugins[0].status, 'active');
    assert.match((await runInProcess(['plugins', 'list'], { cwd })).stdout, /^coded +1\.0\.0 +active/m);
    const template = await runInProcess(['templates', 'install', './coded', '--allow-plugins'], { cwd });
    assert.equal(template.code, 2, 'a template brings none');
    assert.equal((await runInProcess(['skills', 'remove', 'coded', '--yes'], { cwd })).code, 0);
    assert.deepEqual(await readdir(cwd), ['coded', 'service.yaml']);
  });
});

test('templates are looked for and installed, and nothing else is', async () => {
  await withFolder(async (cwd) => {
    const found = await runInProcess(['templates', 'search', '--json'], { cwd });
    const { count, templates } = JSON.parse(found.stdout);
    assert.deepEqual([count, templates.length], [7, 7]);
    const words = await runInProcess(['skills', 'search', 'health', 'compliance'], { cwd });
    assert.match(words.stdout, /^hipaa /m);
    assert.ok(!words.stdout.includes('pci-dss'));
    const more = await runInProcess(['templates', 'install', 'gdpr', '--yes'], { cwd });
    assert.deepEqual([more.code, /brings more than policies/.test(more.stderr)], [1, true]);
    assert.equal((await runInProcess(['templates', 'install', 'finance', '--yes'], { cwd })).code, 0);
    assert.deepEqual(await readdir(join(cwd, 'policies')), ['finance.yaml', 'tests']);
  });
});
