import { readFileSync } from 'node:fs';

/** The package's version, as its `package.json` says: three folders up, in `src` and in `dist` alike. */
export function packageVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
