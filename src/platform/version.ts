import { readFileSync } from 'node:fs';

/** Returns the package's version from its `package.json`, which is two folders up in `src` and in `dist`. */
export function getPackageVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
