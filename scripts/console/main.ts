/**
 * `npm run console`: builds the pages of the console into `console/dist`. Its packages have a lock file of their own and are
 * installed at the first run; further runs need no network. A service that runs from this checkout serves the result at `/dashboard`.
 * With `--start`, as `npm start` runs it, a console that is not built is built in a temporary folder, together with its packages.
 * With `--check`, it also checks the types and the size of the first load. With `--package`, the pages name the program as the
 * npm package installs it, and are in `console/dist-package`, so that a service that runs from this checkout keeps its own.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { PACKAGE_NAME } from '../../src/core/names.ts';
import { findNpmProgram, installFromNpm } from '../components/npm.ts';
import { buildApart, replaceConsole } from './build-apart.ts';

const FOLDER = 'console';
const FIRST_LOAD_BYTES_MAX = 250_000;

process.chdir(resolve(import.meta.dirname, '..', '..'));
const isPackage = process.argv.includes('--package');
process.env.VITE_PROGRAM = isPackage ? PACKAGE_NAME : './customshouse';
process.exitCode = process.argv.includes('--start')
  ? buildApart((folder) => (installFromNpm(folder) ? buildPages(folder) : 1))
  : main(process.argv.includes('--check'));

function main(isCheck: boolean): number {
  if (findNpmProgram(FOLDER, 'vite') === null && !installFromNpm(FOLDER)) {
    console.error(
      'The packages of the console cannot be installed. Check the network, then run: npm ci --prefix console',
    );
    return 1;
  }
  if (isCheck) {
    const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
    const status = runProgram([tsc, '--checkers', '1', '-p', FOLDER]);
    if (status !== 0) return status;
  }
  if (isPackage) return buildPages(FOLDER, ['--outDir', 'dist-package', '--emptyOutDir']);
  const status = buildPages(FOLDER, ['--outDir', 'dist-built', '--emptyOutDir']);
  if (status === 0) replaceConsole(join(FOLDER, 'dist-built'));
  rmSync(join(FOLDER, 'dist-built'), { recursive: true, force: true });
  return status === 0 && isCheck ? checkFirstLoad() : status;
}

function buildPages(folder: string, options: readonly string[] = []): number {
  return runProgram([join(folder, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', folder, ...options]);
}

function runProgram(words: readonly string[]): number {
  return spawnSync(process.execPath, words, { stdio: 'inherit' }).status ?? 1;
}

interface ManifestEntry {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly isEntry?: boolean;
}

/** Checks the JavaScript that a browser loads before it shows the overview: the entry, that page, and all that they import. */
function checkFirstLoad(): number {
  const dist = join(FOLDER, 'dist');
  const manifest = JSON.parse(readFileSync(join(dist, '.vite', 'manifest.json'), 'utf8')) as Readonly<
    Record<string, ManifestEntry>
  >;
  const wanted = Object.keys(manifest).filter(
    (name) => manifest[name]?.isEntry === true || name === 'src/pages/overview-page.tsx',
  );
  for (const name of wanted)
    for (const each of manifest[name]?.imports ?? []) if (!wanted.includes(each)) wanted.push(each);
  const files = wanted.flatMap((name) => manifest[name]?.file ?? []).filter((file) => file.endsWith('.js'));
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file))).length, 0);
  console.log(
    `first load: ${bytes} bytes of JavaScript (gzip) in ${files.length} files, limit ${FIRST_LOAD_BYTES_MAX}`,
  );
  return files.length > 0 && bytes <= FIRST_LOAD_BYTES_MAX ? 0 : 1;
}
