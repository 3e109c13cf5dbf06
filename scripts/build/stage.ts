import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The published package's folder: its files from the checkout, and a manifest without dependencies. */
export const STAGED_PACKAGE = join('release', 'npm');
/** Entries that only a checkout uses. The built program contains its packages. */
const UNPUBLISHED = ['private', 'scripts', 'dependencies', 'optionalDependencies', 'devDependencies'];

/** Copies what the built package consists of to `STAGED_PACKAGE`. */
export function stagePackage(): void {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, unknown>;
  rmSync(STAGED_PACKAGE, { recursive: true, force: true });
  mkdirSync(STAGED_PACKAGE, { recursive: true });
  for (const name of manifest.files as readonly string[])
    cpSync(name, join(STAGED_PACKAGE, name), {
      recursive: true,
      filter: (path) => !path.endsWith('__pycache__'),
    });
  const published = Object.entries(manifest).filter(([key]) => !UNPUBLISHED.includes(key));
  writeFileSync(
    join(STAGED_PACKAGE, 'package.json'),
    `${JSON.stringify(Object.fromEntries(published), null, 2)}\n`,
  );
}
