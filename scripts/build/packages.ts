/**
 * Builds what a release consists of into `release/`: the npm package and the Python wheel. Shows how to install them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PACKAGE_NAME } from '../../src/core/names.ts';
import { getPackageVersion } from '../../src/platform/version.ts';
import { buildPythonCore } from './python.ts';
import { STAGED_PACKAGE } from './stage.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'release');
mkdirSync(folder, { recursive: true });

function run(program: string, ...words: string[]): void {
  execFileSync(program, words, { cwd: root, stdio: ['ignore', 2, 2] });
}

run('npm', 'run', '--silent', 'build:npm');
run('npm', 'pack', '--silent', '--pack-destination', folder, `./${STAGED_PACKAGE}`);
await buildPythonCore();
try {
  run('python3', '-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', folder, join(root, 'python'));
} catch {
  console.error('The wheel was not built: that needs `python3` (3.10 or later) with pip.');
  process.exitCode = 1;
}
for (const [installer, file] of [
  ['npm install', `${PACKAGE_NAME}-${getPackageVersion()}.tgz`],
  ['pip install', `${PACKAGE_NAME}-${getPackageVersion()}-py3-none-any.whl`],
] as const)
  if (existsSync(join(folder, file))) console.log(`${installer} ${join(folder, file)}`);
