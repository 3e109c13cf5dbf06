/** The Python package: built as wheel and sdist, installed into an empty environment, type-checked and tested there. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { buildPythonCore } from '../../scripts/build/python.ts';
import { locateComponent } from '../../scripts/components/components.ts';
import { getPackageVersion } from '../../src/platform/version.ts';
import { type CheckoutRun, root, runProgram, userEnvironment } from '../support/checkout.ts';
import type { TestService } from '../support/service.ts';
import { runPackageTests, startPackageService } from './package-tests.ts';

const skip = locateComponent('sdk-python') === null && 'sdk-python is not installed';
const folder = mkdtempSync(join(tmpdir(), 'sdk-python-'));
const built = join(folder, 'built');
const clean = join(folder, 'clean', 'bin', 'python');
let service: TestService;

before(async () => {
  if (skip !== false) return;
  await buildPythonCore();
  service = await startPackageService();
});
after(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a program away from the checkout, so that only what is installed can be imported. */
async function run(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CheckoutRun> {
  const ran = await runProgram(words, {
    cwd: folder,
    env: userEnvironment({ PYTHONDONTWRITEBYTECODE: '1', ...env }),
  });
  assert.equal(ran.code, 0, `${words.join(' ')}\n${ran.stdout}\n${ran.stderr}`);
  return ran;
}

test('wheel and sdist are built, and hold the core and the types', { skip }, async () => {
  const python = locateComponent('sdk-python')!;
  await runProgram([python, '-m', 'hatchling', 'build', '-d', built], { cwd: join(root, 'python') });
  const version = getPackageVersion();
  assert.deepEqual(readdirSync(built).sort(), [
    `customshouse-${version}-py3-none-any.whl`,
    `customshouse-${version}.tar.gz`,
  ]);
  const list = 'import sys, zipfile; print("\\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))';
  const { stdout } = await run([python, '-c', list, join(built, `customshouse-${version}-py3-none-any.whl`)]);
  for (const name of ['customshouse/_core/core.js', 'customshouse/py.typed', 'customshouse/__init__.py'])
    assert.ok(stdout.split('\n').includes(name), name);
});

test('the package is strictly typed', { skip }, async () => {
  const { code, stdout } = await runProgram(
    [locateComponent('sdk-python')!, '-m', 'mypy', '--cache-dir', join(folder, 'mypy')],
    {
      cwd: join(root, 'python'),
    },
  );
  assert.equal(code, 0, stdout);
});

test('the wheel works in an empty environment, with the tests of the package', { skip }, async () => {
  const version = getPackageVersion();
  const wheel = join(built, `customshouse-${version}-py3-none-any.whl`);
  await run(['python3', '-m', 'venv', join(folder, 'clean')]);
  const pip = [clean, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  await run([...pip, wheel, 'pytest==9.2.0', 'mini-racer==0.14.1']);
  const first = 'import customshouse as a; print(a.__version__, a.quickstart().input("Hello").decision)';
  assert.equal((await run([clean, '-c', first])).stdout.trim(), `${version} allow`);
  await runPackageTests(run, clean, folder, service, { files: ['tests'], count: 83 });
  await run(['python3', '-m', 'venv', join(folder, 'source')]);
  const source = join(folder, 'source', 'bin', 'python');
  await run([source, '-m', 'pip', 'install', '--quiet', join(built, `customshouse-${version}.tar.gz`)]);
  assert.equal((await run([source, '-c', first])).stdout.trim(), `${version} allow`);
});
