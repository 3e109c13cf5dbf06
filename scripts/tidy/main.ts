/** `npm run tidy`: checks the rules of the tree and prints its figures. */
import { resolve } from 'node:path';
import { extensions } from '../../tests/support/extensions.ts';
import scanPath from '../../tests/support/scan-path/scan-path.json' with { type: 'json' };
import { getFigures } from './figures.ts';
import { rules } from './rules/index.ts';
import { readTree } from './tree.ts';

const tree = readTree(resolve(import.meta.dirname, '..', '..'));
let remarks = 0;
for (const rule of rules) {
  const found = rule.examine(tree);
  remarks += found.length;
  if (found.length > 0) console.log(`${rule.name}: ${rule.reason}`);
  for (const { path, line, message } of found) console.log(`  ${path}:${line} ${message}`);
}
for (const [name, value] of Object.entries(getFigures(tree))) {
  printFigure(name.replaceAll('_', ' '), value);
}
for (const [kind, { files, lines }] of Object.entries(extensions))
  printFigure(`files for a new ${kind}`, Object.keys(files).length + Object.keys(lines).length);
printFigure('functions from socket to judge', scanPath.length);
console.log(`${rules.length} rules, ${tree.sources.length} TypeScript files, ${remarks} remarks`);
process.exitCode = remarks === 0 && tree.sources.length > 0 ? 0 : 1;

function printFigure(name: string, value: number): void {
  console.log(`${name.padEnd(32)} ${value}`);
}
