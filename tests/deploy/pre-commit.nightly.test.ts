/** The hooks in a repository, run by pre-commit itself, which installs them as it does from a code host. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ownNodeEnvironment } from '../support/checkout.ts';
import { copyTrackedFiles } from './support/package-copy.ts';
import { installForTests, needProgram, runIn } from './support/programs.ts';

const SECRET = ['sk-', 'ABCDEF1234567890'].join('');
const dir = mkdtempSync(join(tmpdir(), 'pre-commit-'));
const hooks = join(dir, 'customshouse');
const repository = join(dir, 'repository');
after(() => rmSync(dir, { recursive: true, force: true }));

function commitAll(folder: string): string {
  runIn(folder, 'git', 'init', '--quiet');
  runIn(folder, 'git', 'add', '--all');
  const author = ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.com'];
  runIn(folder, 'git', ...author, 'commit', '--quiet', '--no-verify', '--message', 'Files');
  return runIn(folder, 'git', 'rev-parse', 'HEAD').trim();
}

before(() => {
  installForTests('deploy-python');
  copyTrackedFiles(hooks);
  const rev = commitAll(hooks);
  mkdirSync(repository);
  const own = [{ id: 'customshouse-scan' }, { id: 'customshouse-validate', args: ['service.yaml'] }];
  writeFileSync(
    join(repository, '.pre-commit-config.yaml'),
    JSON.stringify({ repos: [{ repo: hooks, rev, hooks: own }] }),
  );
  writeFileSync(join(repository, 'service.yaml'), 'policy: {default_action: block}\n');
  writeFileSync(join(repository, 'notes.md'), 'Good morning\n');
  commitAll(repository);
});

/** Runs all hooks on all files, as `pre-commit run --all-files` in a pipeline. */
function runHooks(): { readonly code: number | null; readonly output: string } {
  const env = ownNodeEnvironment({ PRE_COMMIT_HOME: join(dir, 'cache') });
  const words = ['run', '--all-files', '--color=never'];
  const program = needProgram('deploy-python', 'pre-commit');
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: repository, env, encoding: 'utf8' });
  return { code: status, output: `${stdout}${stderr}` };
}

test('pre-commit passes clean files, and stops a secret and a wrong policy without printing them', () => {
  const clean = runHooks();
  assert.equal(clean.code, 0, clean.output);
  assert.equal(clean.output.match(/\.{3,}Passed/g)?.length, 2, clean.output);

  writeFileSync(join(repository, 'notes.md'), `Use key ${SECRET}\n`);
  const blocked = runHooks();
  assert.equal(blocked.code, 1, blocked.output);
  assert.match(blocked.output, /^notes\.md\nblock /m);
  assert.ok(!blocked.output.includes(SECRET));

  writeFileSync(join(repository, 'notes.md'), 'Good morning\n');
  writeFileSync(join(repository, 'service.yaml'), 'policy: {default_action: blok}\n');
  const wrong = runHooks();
  assert.equal(wrong.code, 1, wrong.output);
  assert.match(wrong.output, /policy\.default_action/);
  // The hooks leave nothing behind in the repository.
  assert.equal(runIn(repository, 'git', 'status', '--short').trim(), 'M service.yaml');
});
