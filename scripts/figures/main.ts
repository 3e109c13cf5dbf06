/** `npm run figures`: prints how far the tree is from its laws on structure. Nothing here fails a check. */
import { resolve } from 'node:path';
import scanPath from '../../tests/support/scan-path/scan-path.json' with { type: 'json' };
import { getProgram } from '../tidy/layers.ts';
import { FEATURE_LISTS } from '../tidy/rules/features.ts';
import { listLazyImports } from '../tidy/rules/lazy-borders.ts';
import { readTree } from '../tidy/tree.ts';
import budget from './budget.json' with { type: 'json' };
import { countLines, countMatches, groupFolder, listFeatureUses } from './figures.ts';

const program = getProgram(readTree(resolve(import.meta.dirname, '..', '..')).sources);
const without = (...folders: readonly string[]) =>
  program.filter(({ path }) => !folders.some((folder) => path.startsWith(`src/${folder}`)));

const casts = program.flatMap((each) => each.casts);
for (const kind of ['as never', 'as unknown as'] as const)
  print(`\`${kind}\``, casts.filter((each) => each.kind === kind).length);
print('casts of an answer', countMatches(program, /\(await (?:run\w*|call\w*)\([^;]*?\)\) as [A-Z{]/g));
print(
  'access checks outside operations/call.ts',
  // `subject.ts` resolves the tenant that an input names. Without a name it resolves all tenants.
  countMatches(
    without('operations/call.ts', 'operations/subject.ts'),
    /(?<!function )\brequire(?:Operator|AllTenants)\(/g,
  ),
);
print(
  'dynamic imports',
  program.flatMap(({ imports }) => imports.filter(({ is_dynamic }) => is_dynamic)).length,
);
print('  at the borders of features, of their own modules', listLazyImports(program).length);
print('functions from socket to judge', scanPath.length);
for (const each of scanPath) console.log(`  ${each}`);

const uses = listFeatureUses(program);
const others = [...uses].map(
  ([feature, files]) => [feature, files.filter((file) => !FEATURE_LISTS.includes(file)).length] as const,
);
const removable = others.filter(([, files]) => files === 0).length;
print('features that only the lists name', `${removable} of ${uses.size}`);
for (const [feature, files] of others) if (files > 0) print(`  other files that name ${feature}`, files);

const folders = Map.groupBy(program, ({ path }) => groupFolder(path));
for (const [name, { lines }] of Object.entries(budget)) {
  const files = folders.get(name) ?? [];
  print(`${name}: lines of budget, files`, `${countLines(files)} of ${lines}, ${files.length}`);
}
const lengths = program.map(({ text }) => text.split('\n').length - 1);
const functions = program.flatMap((each) => each.functions.map(({ lines }) => lines));
print('files over 400 lines', lengths.filter((lines) => lines > 400).length);
print('files under 40 lines', lengths.filter((lines) => lines < 40).length);
print('functions over 40 lines', functions.filter((lines) => lines > 40).length);

function print(name: string, value: string | number): void {
  console.log(`${name.padEnd(52)} ${value}`);
}
