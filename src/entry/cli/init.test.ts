import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse, parseDocument } from 'yaml';
import { buildConfigurationText } from './scaffold/configuration.ts';
import { runInProcess, runProcess, withFolder } from './testing/run.ts';

const MINIMAL = [
  'service.yaml',
  'policies/default.yaml',
  'policies/tests/default.yaml',
  'schemas/memory.yaml',
  'schemas/service.schema.json',
  'schemas/policy.schema.json',
  'schemas/memory.schema.json',
  'schemas/policy-test.schema.json',
];
const FULL = [
  ...MINIMAL,
  'contracts/example.yaml',
  'agents/default.yaml',
  'schemas/tool-contract.schema.json',
  'schemas/agent-identity.schema.json',
];

/** Asserts that the schema in the first line of a file exists, so that an editor finds it. */
async function assertNamesItsSchema(cwd: string, file: string): Promise<void> {
  if (!file.endsWith('.yaml')) return;
  const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(
    await readFile(join(cwd, file), 'utf8'),
  )?.[1];
  assert.ok(schema, file);
  JSON.parse(await readFile(join(cwd, file, '..', schema), 'utf8'));
}

test('init writes what validate accepts, keeps what is there, and turns nothing on', async () => {
  for (const [flags, files] of [
    [[], MINIMAL],
    [['--full'], FULL],
  ] as const) {
    await withFolder(async (cwd) => {
      const first = await runInProcess(['init', '--non-interactive', ...flags], { cwd });
      assert.equal(first.code, 0, first.stderr);
      for (const file of files) {
        assert.ok(first.stdout.includes(`created  ${file}\n`), file);
        await assertNamesItsSchema(cwd, file);
      }
      assert.equal(first.stdout.match(/^created/gm)?.length, files.length);
      const configuration = parse(await readFile(join(cwd, 'service.yaml'), 'utf8'));
      assert.deepEqual(configuration.intelligence, { enabled: false });
      assert.deepEqual(configuration.proxy, undefined);
      const valid = await runInProcess(['validate'], { cwd });
      assert.equal(valid.code, 0, valid.stderr);
      assert.equal(valid.stderr, '');
      const tested = await runInProcess(['policy', 'test'], { cwd });
      assert.match(tested.stdout, /^3 passed in 1 file/m, tested.stderr);
      assert.match(valid.stdout, /^valid {2}service\.yaml$/m);
      assert.match(
        valid.stdout,
        flags.length === 0 ? /^ {2}0 agent identity documents$/m : /^ {2}1 agent identity document$/m,
      );

      await writeFile(
        join(cwd, 'policies/default.yaml'),
        'version: v1alpha1\npolicies: [{name: mine, boundary: input, data_tags: [a], action: flag}]\n',
      );
      const again = await runInProcess(['init', ...flags], { cwd });
      assert.equal(again.code, 0, again.stderr);
      for (const file of files) assert.ok(again.stdout.includes(`kept     ${file}\n`), file);
      assert.match(await readFile(join(cwd, 'policies/default.yaml'), 'utf8'), /mine/);
    });
  }
});

test('init without a terminal asks nothing, also when answers are piped in', async () => {
  await withFolder(async (cwd) => {
    const { code, stdout } = await runProcess(['init', '--path', 'new/place'], { cwd, stdin: 'y\ny\ny\n' });
    assert.equal(code, 0);
    assert.match(stdout, /customshouse serve --config new\/place\/service\.yaml/);
    const text = await readFile(join(cwd, 'new/place/service.yaml'), 'utf8');
    assert.equal(parse(text).intelligence.enabled, false);
  });
});

test('init writes through no link and says what is wrong with what it kept', async () => {
  await withFolder(async (cwd) => {
    await symlink(join(cwd, 'elsewhere.yaml'), join(cwd, 'service.yaml'));
    await mkdir(join(cwd, 'policies'));
    const linked = await runProcess(['init', '--json'], { cwd });
    assert.deepEqual(JSON.parse(linked.stdout.split('\n')[0]!).kept, ['service.yaml']);
    assert.ok(!(await readdir(cwd)).includes('elsewhere.yaml'));
    assert.equal(linked.code, 1);

    await writeFile(join(cwd, 'elsewhere.yaml'), 'serverr: {}\n');
    const kept = await runProcess(['init'], { cwd });
    assert.equal(kept.code, 1);
    assert.match(kept.stderr, /`serverr`/);
  });
});

test('what a person answers is data, not YAML and not a variable', () => {
  const hostile = {
    provider: 'compatible-api',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: what a person may type.
    model: 'a: "b" #\n${HOME}',
    base_url: 'https://x.test',
    api_key_env: 'KEY',
  } as const;
  const document = parseDocument(buildConfigurationText(false, hostile));
  assert.deepEqual(document.errors, []);
  assert.deepEqual(document.toJS().intelligence, {
    enabled: true,
    backend: {
      provider: 'compatible-api',
      model: 'a: "b" #\n$${HOME}',
      base_url: 'https://x.test',
      api_key_env: 'KEY',
    },
  });
});
