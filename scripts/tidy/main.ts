/** `npm run tidy`: checks the rules of the tree and prints its figures. */
import { resolve } from 'node:path';
import { figuresOf } from './figures.ts';
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
for (const [name, value] of Object.entries(figuresOf(tree))) {
  console.log(`${name.replaceAll('_', ' ').padEnd(26)} ${value}`);
}
console.log(`${rules.length} rules, ${tree.sources.length} TypeScript files, ${remarks} remarks`);
process.exitCode = remarks === 0 && tree.sources.length > 0 ? 0 : 1;
