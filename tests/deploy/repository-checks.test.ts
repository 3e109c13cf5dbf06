/** The GitHub Action, the pre-commit hooks and the workflows: their formats are valid, and the action's step decides. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { ownNodeEnvironment, root } from '../support/checkout.ts';
import { DEPLOY, explainMissing, needProgram, run, runIn } from './support/programs.ts';

const ACTION = join(DEPLOY, 'github-action/action.yml');
const HOOKS = join(root, '.pre-commit-hooks.yaml');
const WORKFLOWS = globSync(join(root, '.github/workflows/*.yml')).sort();
const SECRET = ['sk-', 'ABCDEF1234567890'].join('');
const dir = mkdtempSync(join(tmpdir(), 'repository-'));
after(() => rmSync(dir, { recursive: true }));

const FILES = {
  'notes/clean.md': 'Good morning\n',
  'notes/key.md': `Use key ${SECRET}\n`,
  'name with space.md': 'Hello\n',
  'empty.md': '',
  'image.bin': Buffer.from([0, 255, 254, 10]),
  'service.yaml':
    'policies: [{name: mail, boundary: input, data_tags: [personal.pii.email], action: block}]\n',
  'wrong.yaml': 'policies: [{name: mail, boundary: inputt, data_tags: [personal], action: block}]\n',
  'mail.md': 'Write to jane@mailbox.org\n',
};

runIn(dir, 'git', 'init', '--quiet');
for (const [name, content] of Object.entries(FILES)) {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), content);
}
runIn(dir, 'git', 'add', '--all');

/** Runs the action's step with its inputs, as GitHub does. */
function check(inputs: Readonly<Record<string, string>>): { code: number | null; output: string } {
  const named = Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  const env = ownNodeEnvironment(Object.fromEntries(named));
  const program = join(DEPLOY, 'github-action/check.sh');
  const { status, stdout, stderr } = spawnSync(program, [], { cwd: dir, env, encoding: 'utf8' });
  return { code: status, output: `${stdout}${stderr}` };
}

test('the schemas of GitHub and pre-commit accept the files', {
  skip: explainMissing('deploy-python'),
}, () => {
  const program = needProgram('deploy-python', 'check-jsonschema');
  const accept = (schema: string, ...files: readonly string[]) => {
    assert.ok(files.length > 0);
    const { code, output } = run(program, ['--builtin-schema', schema, ...files]);
    assert.equal(code, 0, output);
  };
  accept('vendor.github-workflows', ...WORKFLOWS);
  accept('vendor.github-actions', ACTION);
  const wrong = join(dir, 'wrong.yml');
  writeFileSync(wrong, 'on: push\njobs: {test: {steps: []}}\n');
  assert.equal(run(program, ['--builtin-schema', 'vendor.github-workflows', wrong]).code, 1);
  rmSync(wrong);
  const manifest = run(needProgram('deploy-python', 'pre-commit'), ['validate-manifest', HOOKS]);
  assert.equal(manifest.code, 0, manifest.output);
});

test('workflows run pinned actions and our own scripts, with the rights that they need', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  let actions = 0;
  for (const file of WORKFLOWS) {
    const text = readFileSync(file, 'utf8');
    const { permissions, jobs } = parse(text);
    assert.ok(!('write-all' === permissions || permissions.contents === 'write'), file);
    for (const { steps } of Object.values<{ steps: { uses?: string; run?: string }[] }>(jobs))
      for (const { uses, run: command = '' } of steps) {
        if (uses !== undefined) assert.match(uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
        if (uses !== undefined) actions += 1;
        // A name in a command would be read as a part of it.
        assert.ok(!command.includes('${{'), command);
        for (const [, name = ''] of command.matchAll(/npm run (?:--silent )?([\w:]+)/g))
          assert.ok(name in scripts, name);
      }
  }
  assert.ok(actions >= 10);
});

test('hooks run programs of the checkout', () => {
  for (const { entry, language } of parse(readFileSync(HOOKS, 'utf8'))) {
    assert.equal(language, 'script');
    readFileSync(join(root, entry.split(' ')[0]));
  }
});

test('the step of the action refuses a blocked file and a wrong policy, and prints no secret', () => {
  const rows: readonly (readonly [
    inputs: Readonly<Record<string, string>>,
    code: number,
    expected: RegExp,
  ])[] = [
    [{}, 0, /^$/],
    [{ files: 'notes/clean.md\nname*' }, 0, /^2 files: 2 allowed/m],
    [
      { files: '*.md' },
      1,
      /^notes\/key\.md\nblock [\s\S]*^4 files: 2 allowed, 1 with redactions, 1 blocked/m,
    ],
    [{ files: 'mail.md' }, 0, /1 with redactions/],
    [{ files: 'mail.md', config: 'service.yaml' }, 1, /rule {3}mail \(block\)/],
    [{ files: 'image.bin' }, 1, /^::error::No text file/m],
    [{ config: 'service.yaml' }, 0, /valid/],
    [{ config: 'wrong.yaml' }, 1, /inputt|`input`/],
    [{ config: 'wrong.yaml', validate: 'false' }, 0, /^$/],
    [{ files: '$(touch ran).md\n; touch ran' }, 1, /No text file/],
  ];
  for (const [inputs, code, expected] of rows) {
    const ran = check(inputs);
    assert.equal(ran.code, code, `${JSON.stringify(inputs)}\n${ran.output}`);
    assert.match(ran.output, expected, JSON.stringify(inputs));
    assert.ok(!ran.output.includes(SECRET));
  }
  assert.equal(rows.length, 10);
  assert.deepEqual(globSync('ran', { cwd: dir }), []);
});
