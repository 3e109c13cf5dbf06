import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import type { SerializedDetectorTable } from '../../src/core/detect/matching/detector-table.ts';
import { listLazyEntries, loadLazily } from './lazy-modules.ts';

/** The module of `core` that most programs load. The modules that it needs become one file. */
const MAIN_MODULE = 'core/decision/judge.js';
/** An entry that needs this module needs nearly all of that file. */
const DETECTOR_LIST = 'core/detect/detectors/index.js';

/**
 * Joins the modules below `dist/<folder>` into few files, because each loaded file adds a third of a
 * millisecond to a start, and there are hundreds. Modules that are imported from elsewhere in `dist` keep
 * their paths, as do all types. No module is in two files.
 */
export async function joinModules(
  dist: string,
  folder: string,
  published: readonly string[],
  table: SerializedDetectorTable,
): Promise<void> {
  const inside = listModules(join(dist, folder));
  const named = listModules(dist)
    .filter((path) => !inside.includes(path))
    .flatMap((path) => listImportedPaths(path))
    .filter((path) => inside.includes(path));
  const modules = [...new Set([...named, ...published.map((path) => join(dist, path))])].sort();
  const entries = [
    ...modules.map((path) => ({ in: path, out: relative(dist, path).replace(/\.js$/, '') })),
    ...listLazyEntries(),
  ];
  const options = buildBundleOptions(dist, folder, table);
  const { metafile } = await build({ ...options, entryPoints: entries, write: false });
  const companions = getCompanions(metafile, dist, modules);
  const joined = await build({
    ...options,
    entryPoints: entries.map(({ in: input, out }) => ({ in: `entry:${input}`, out })),
    plugins: [...options.plugins, withCompanions(companions)],
  });
  const written = new Set(Object.keys(joined.metafile.outputs));
  for (const path of inside) if (!written.has(relative(process.cwd(), path))) rmSync(path);
  const { imports = [] } = joined.metafile.outputs[join(dist, MAIN_MODULE)] ?? {};
  for (const { path, external } of imports) if (external !== true) checkAscii(path);
}

/**
 * Throws if a file is not ASCII only. The engine reads ASCII in half the memory and nine tenths of the time.
 * The bundler escapes other characters in strings, but not in expressions and raw texts.
 */
function checkAscii(path: string): void {
  const found = /.{0,40}[^\0-\x7f].{0,40}/.exec(readFileSync(path, 'utf8'));
  if (found !== null)
    throw new Error(`write the letters beyond ASCII in expressions and raw texts as \\u....: ${found[0]}`);
}

function buildBundleOptions(dist: string, folder: string, table: SerializedDetectorTable) {
  return {
    outdir: dist,
    outbase: dist,
    chunkNames: `${folder}/joined-[hash]`,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    allowOverwrite: true,
    define: { DETECTOR_TABLE: JSON.stringify(JSON.stringify(table)) },
    plugins: [loadLazily(resolve(dist))],
    metafile: true,
    logLevel: 'warning',
  } satisfies BuildOptions & { readonly metafile: true };
}

/**
 * Returns the modules that each entry loads in addition to its own. The bundler makes one file for each set
 * of modules that the same entries need, which would be dozens. So entries that need `DETECTOR_LIST` load the whole
 * file and the modules that several lazy files need; other entries load the part of it that any of them
 * needs.
 */
function getCompanions(
  metafile: Metafile,
  dist: string,
  modules: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const needs = new Map(modules.map((path) => [path, collectStaticImports(metafile, path)]));
  const lazyNeeds = listLazyEntries().map(({ in: input }) => collectStaticImports(metafile, input));
  const isCommon = (path: string): boolean => lazyNeeds.filter((needed) => needed.has(path)).length > 1;
  const common = Object.keys(metafile.inputs).filter(isCommon);
  const whole = new Set([...collectStaticImports(metafile, join(dist, MAIN_MODULE)), ...common]);
  const needsDetectors = (needed: ReadonlySet<string>): boolean => needed.has(join(dist, DETECTOR_LIST));
  const others = [...needs.values()].filter((needed) => !needsDetectors(needed));
  const shared = [...whole].filter((path) => others.some((needed) => needed.has(path)));
  const withDetectors = [join(dist, MAIN_MODULE), ...common];
  return new Map([
    ...[...needs].map(([path, needed]) => [path, needsDetectors(needed) ? withDetectors : shared] as const),
    ...listLazyEntries().map(({ in: input }) => [input, withDetectors] as const),
  ]);
}

function collectStaticImports({ inputs }: Metafile, entry: string): ReadonlySet<string> {
  const needed = new Set<string>();
  const open = [entry];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (needed.has(path)) continue;
    needed.add(path);
    for (const each of inputs[path]?.imports ?? [])
      if (each.external !== true && each.kind !== 'dynamic-import') open.push(each.path);
  }
  return needed;
}

/** Returns the plugin of the bundler that loads the companions of each entry. */
function withCompanions(companions: ReadonlyMap<string, readonly string[]>): Plugin {
  return {
    name: 'companions',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^entry:/ }, ({ path }) => ({
        path: path.slice('entry:'.length),
        namespace: 'entry',
      }));
      onLoad({ filter: /./, namespace: 'entry' }, ({ path }) => {
        const imports = companions.get(path)!.map((each) => `import ${JSON.stringify(getName(each))};`);
        const own = `export * from ${JSON.stringify(getName(path))};`;
        return { contents: [...imports, own].join('\n'), resolveDir: process.cwd() };
      });
    },
  };
}

/**
 * Returns the name by which the bundler finds one of its own inputs again; inputs of plugins are
 * `namespace:name`.
 */
function getName(input: string): string {
  return input.includes(':') ? input : resolve(input);
}

function listModules(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name));
}

/** Returns the modules that a module imports by their paths. */
function listImportedPaths(path: string): readonly string[] {
  const named = readFileSync(path, 'utf8').matchAll(/(?:\bfrom|\bimport|\bimport\()\s*['"](\.[^'"]+)['"]/g);
  return [...named].map(([, name]) => join(dirname(path), name!));
}
