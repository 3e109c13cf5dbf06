/**
 * Lints the prose of the tree: `npm run prose`. With `--list PATH...`, prints each remark below the paths; with
 * `--list-all`, warnings too. With `--write`, lowers the allowance to the present counts.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { lintProse, type ProseRemark } from './lint.ts';
import { compareWithAllowance, countErrors, type ErrorCounts, lowerAllowance } from './ratchet.ts';

const ALLOWANCE = join(import.meta.dirname, 'allowance.json');
const FILES = ['*.md', '{benchmarks,cases,docs,integrations,scripts,skills,src,tests}/**/*.{md,ts}'];
const SKIPPED = ['**/node_modules/**', '**/.*/**', '**/dist/**', '**/*.d.ts'];

const { values, positionals } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    'list-all': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const beginMs = performance.now();
process.chdir(resolve(import.meta.dirname, '..', '..'));
const paths = FILES.flatMap((pattern) => globSync(pattern, { exclude: SKIPPED })).sort();
if (values.list || values['list-all']) await listRemarks();
else await checkAllowance();

async function lintFiles(files: readonly string[]): Promise<ProseRemark[]> {
  const remarks: ProseRemark[] = [];
  for (const path of files) remarks.push(...(await lintProse(path, readFileSync(path, 'utf8'))));
  return remarks;
}

async function listRemarks(): Promise<void> {
  const wanted = paths.filter(
    (path) =>
      positionals.length === 0 ||
      positionals.some((each) => path === each || path.startsWith(`${each.replace(/\/$/, '')}/`)),
  );
  for (const { path, line, kind, message, is_error } of await lintFiles(wanted)) {
    if (is_error || values['list-all'])
      console.log(`${path}:${line} ${kind} ${is_error ? '' : 'warning: '}${message}`);
  }
}

async function checkAllowance(): Promise<void> {
  const remarks = await lintFiles(paths);
  const counts = countErrors(remarks);
  let allowance = JSON.parse(readFileSync(ALLOWANCE, 'utf8')) as ErrorCounts;
  if (values.write) {
    allowance = lowerAllowance(counts, allowance);
    writeFileSync(ALLOWANCE, `${JSON.stringify(allowance, null, 2)}\n`);
  }
  const { rises, falls } = compareWithAllowance(counts, allowance);
  for (const [folder, kinds] of Object.entries(counts)) console.log(folder.padEnd(12), JSON.stringify(kinds));
  printFigures(remarks);
  for (const sentence of falls)
    console.log(`${sentence} Lower the allowance with \`npm run prose -- --write\`.`);
  for (const sentence of rises)
    console.log(`${sentence} Find them with \`npm run prose -- --list PATH\` and fix them.`);
  process.exitCode = rises.length === 0 && paths.length > 0 ? 0 : 1;
}

function printFigures(remarks: readonly ProseRemark[]): void {
  for (const rule of ['refused-phrases', 'openings', 'long-sentences', 'passive-voice']) {
    console.log(rule.padEnd(26), remarks.filter((each) => each.rule === rule).length);
  }
  const seconds = ((performance.now() - beginMs) / 1000).toFixed(1);
  console.log(
    `${paths.length} files, ${remarks.filter((each) => each.is_error).length} errors, ${seconds} s`,
  );
}
