import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { buildSync } from 'esbuild';

/**
 * Joins the modules below `dist/<room>` into few files, for each file that is loaded costs a start a third of a
 * millisecond, and there are hundreds. Those that modules elsewhere in `dist` name stay at their places, and so do all
 * types; no module is there twice.
 */
export function joinModules(dist: string, room: string, published: readonly string[]): void {
  const inside = modulesIn(join(dist, room));
  const named = modulesIn(dist)
    .filter((path) => !inside.includes(path))
    .flatMap((path) => namesIn(path))
    .filter((path) => inside.includes(path));
  const entries = [...new Set([...named, ...published.map((path) => join(dist, path))])].sort();
  const { metafile } = buildSync({
    entryPoints: entries,
    outdir: dist,
    outbase: dist,
    chunkNames: `${room}/joined-[hash]`,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    allowOverwrite: true,
    define: { IS_TREE_CHECKED: 'true' },
    metafile: true,
    logLevel: 'warning',
  });
  const written = new Set(Object.keys(metafile.outputs));
  for (const path of inside) if (!written.has(relative(process.cwd(), path))) rmSync(path);
}

function modulesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name));
}

/** The modules that one names by their paths. */
function namesIn(path: string): readonly string[] {
  const named = readFileSync(path, 'utf8').matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+)'/g);
  return [...named].map(([, name]) => join(dirname(path), name!));
}
