/**
 * `npm run docs`: builds the documentation site from `docs/` into `docs/.vitepress/dist`. The generator has a lock file of its own and
 * is installed at the first run; further runs need no network. A service that runs from this checkout serves the result at `/docs/guide`.
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { findNpmProgram, installFromNpm } from '../components/npm.ts';

const FOLDER = 'docs';
const PROGRAM = 'vitepress';

process.chdir(resolve(import.meta.dirname, '..', '..'));
process.exitCode = buildSite();

function buildSite(): number {
  if (findNpmProgram(FOLDER, PROGRAM) === null && !installFromNpm(FOLDER)) {
    console.error(
      'The generator of the site cannot be installed. Check the network, then run: npm ci --prefix docs',
    );
    return 1;
  }
  const words = [`${FOLDER}/node_modules/${PROGRAM}/bin/${PROGRAM}.js`, 'build', FOLDER];
  return spawnSync(process.execPath, words, { stdio: 'inherit' }).status ?? 1;
}
