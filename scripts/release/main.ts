/**
 * `npm run release`: writes what a release consists of to `release/`: the packages, the list of packages in them
 * (CycloneDX), and the checksums. With `--tag v1.2.3`, fails where the checkout has another version. SOURCE_DATE_EPOCH sets the time
 * in the documents; by default it is that of the last commit.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { PACKAGE_NAME } from '../../src/core/names.ts';
import { getPackageVersion } from '../../src/platform/version.ts';
import { buildSbom } from './sbom.ts';

const SUMS = 'SHA256SUMS';
const root = resolve(import.meta.dirname, '..', '..');
const folder = join(root, 'release');
const version = getPackageVersion();
process.chdir(root);

checkVersions();
const seconds = process.env.SOURCE_DATE_EPOCH ?? read('git', 'log', '-1', '--format=%ct');
execFileSync(process.execPath, ['scripts/build/packages.ts'], { stdio: 'inherit' });
writeFileSync(
  join(folder, `${PACKAGE_NAME}-${version}.cdx.json`),
  buildSbom(root, new Date(Number(seconds) * 1_000).toISOString()),
);
writeSums();

/** Ends with an error where the tag or the chart has another version than the program. */
function checkVersions(): void {
  const chart = parse(readFileSync('deploy/helm/customshouse/Chart.yaml', 'utf8')) as { appVersion: string };
  const tag = process.argv[process.argv.indexOf('--tag') + 1];
  const found = [
    ['deploy/helm/customshouse/Chart.yaml', chart.appVersion],
    ...(process.argv.includes('--tag') ? [['the tag', tag?.replace(/^v/, '')]] : []),
  ];
  const wrong = found.filter(([, each]) => each !== version);
  for (const [place, each] of wrong)
    console.error(`${place} has the version ${each}, and package.json ${version}.`);
  if (wrong.length > 0) process.exit(1);
}

/** Writes the checksums of all files, for `sha256sum --check`. */
function writeSums(): void {
  const files = readdirSync(folder).filter((name) => name !== SUMS && statSync(join(folder, name)).isFile());
  const lines = files.sort().map((name) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    return `${digest}  ${name}\n`;
  });
  writeFileSync(join(folder, SUMS), lines.join(''));
  process.stdout.write(lines.join(''));
}

function read(program: string, ...words: string[]): string {
  return execFileSync(program, words, { encoding: 'utf8' }).trim();
}
