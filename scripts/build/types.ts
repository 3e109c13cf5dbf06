import { globSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Deletes the type declarations that no published entry imports. */
export function deleteInternalTypes(): void {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Readonly<Record<string, { readonly types?: string } | string | null>>;
  };
  const open = Object.values(exports).flatMap((entry) =>
    typeof entry === 'object' && entry?.types !== undefined ? globSync(normalize(entry.types)) : [],
  );
  const used = new Set<string>();
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (used.has(path)) continue;
    used.add(path);
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(
      /(?:\bfrom |\bimport\()["'](\.[^"']+)["']/g,
    ))
      open.push(join(dirname(path), name.replace(/\.[jt]s$/, '.d.ts')));
  }
  for (const path of globSync('dist/**/*.d.ts')) if (!used.has(path)) rmSync(path);
}
