import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { parseSync } from 'oxc-parser';

/** Folders of `dist` whose modules run in browsers, or are not ours. */
const NO_PROGRAM = /^dist\/(?:assets|console|guide|web)\//;
/** Folders of `dist` that also run where there is no Node. */
const PORTABLE = /^dist\/(?:core|sdk)\//;
/** Packages whose CommonJS files pass `require` on, which the bundler cannot follow. They have ECMAScript modules too. */
const MODULE_PACKAGES = ['jsonc-parser'];
/** The call that `lazy-modules.ts` writes into the joined files of this folder. */
const LAZY_IMPORT = /\brequired\((["'][^"']+["'])\)/g;
const LAZY_FOLDER = 'dist/core';
/** The bundler writes this where a package calls `require` for a Node module. */
const REQUIRES = 'typeof require';
const CREATE_REQUIRE =
  "import{createRequire}from'node:module';const require=createRequire(import.meta.url);\n";

/** The three ways in which the program's modules import packages: each has its own bundles. */
const FORMATS = {
  lazy: { format: 'cjs', platform: 'neutral', mainFields: ['main'] },
  node: { format: 'esm', platform: 'node', splitting: true },
  portable: {
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    splitting: true,
    chunkNames: 'portable-[hash]',
  },
} as const satisfies Readonly<Record<string, BuildOptions>>;
type Way = keyof typeof FORMATS;

interface PackageImport {
  readonly name: string;
  readonly is_lazy: boolean;
  /** The name's position, with its quotes. */
  readonly start: number;
  readonly end: number;
}

/** Returns the packages that the published program contains: those that a checkout installs to run. */
export function listVendoredPackages(): readonly string[] {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const ofCheckouts = ['@fastify/swagger-ui', 'esbuild'];
  return Object.keys({ ...dependencies, ...optionalDependencies }).filter(
    (name) => !ofCheckouts.includes(name),
  );
}

/** Returns the bundler's plugin that leaves all other packages to the user's `node_modules`. */
export function bundleOnly(packages: readonly string[]): Plugin {
  return {
    name: 'vendored',
    setup: ({ onResolve }) => {
      onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
        const isBundled = kind === 'entry-point' || importer.includes('node_modules') || isOf(packages, path);
        return isBundled ? null : { path, external: true };
      });
    },
  };
}

/**
 * Bundles the parts of `packages` that the built program imports into `dist/vendor`, with their licences, and changes the
 * program's imports to these files. The published package then needs no other, and has a third of their size.
 */
export async function vendorPackages(packages: readonly string[]): Promise<void> {
  const files = globSync('dist/**/*.js')
    .map((path) => path.replaceAll(sep, '/'))
    .filter((path) => !NO_PROGRAM.test(path));
  const found = files.map((path) => ({ path, imports: listImports(path, packages) }));
  const names: Record<Way, Set<string>> = { lazy: new Set(), node: new Set(), portable: new Set() };
  for (const { path, imports } of found)
    for (const { name, is_lazy } of imports)
      names[is_lazy ? 'lazy' : isPortable(path, name) ? 'portable' : 'node'].add(name);
  // A module that both import has one state.
  for (const name of names.portable) names.node.delete(name);
  const inputs: string[] = [];
  for (const way of Object.keys(FORMATS) as readonly Way[])
    inputs.push(...(await bundleImports([...names[way]], way)));
  for (const { path, imports } of found) renameImports(path, imports);
  writeLicences(inputs);
}

function isPortable(path: string, name: string): boolean {
  return PORTABLE.test(path) || MODULE_PACKAGES.includes(name);
}

function isOf(packages: readonly string[], path: string): boolean {
  return packages.some((name) => path === name || path.startsWith(`${name}/`));
}

function listImports(path: string, packages: readonly string[]): readonly PackageImport[] {
  const source = readFileSync(path, 'utf8');
  const { staticImports, staticExports, dynamicImports } = parseSync(path, source).module;
  const requests = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest),
    ...staticExports.flatMap(({ entries }) => entries.flatMap((each) => each.moduleRequest ?? [])),
    ...dynamicImports.map(({ moduleRequest }) => moduleRequest),
  ];
  const lazy = [...source.matchAll(LAZY_IMPORT)].map(({ index, 0: call, 1: quoted = '' }) => {
    const start = index + call.indexOf(quoted);
    return [start, { end: start + quoted.length, is_lazy: true }] as const;
  });
  const unique = new Map<number, { readonly end: number; readonly is_lazy: boolean }>([
    ...requests.map(({ start, end }) => [start, { end, is_lazy: false }] as const),
    ...lazy,
  ]);
  return [...unique].flatMap(([start, { end, is_lazy }]) => {
    const name = /^(["'])([^"']+)\1$/.exec(source.slice(start, end))?.[2];
    return name !== undefined && isOf(packages, name) ? [{ name, is_lazy, start, end }] : [];
  });
}

/** Returns the paths of all sources in the bundles. */
async function bundleImports(names: readonly string[], way: Way): Promise<readonly string[]> {
  const folder = join('dist', 'imports');
  mkdirSync(folder, { recursive: true });
  try {
    const entryPoints = [];
    for (const name of names) {
      // `.mjs`, so that the bundler imports CommonJS packages as Node does.
      const path = join(folder, `${getFileStem(name)}.${way === 'lazy' ? 'cjs' : 'mjs'}`);
      writeFileSync(path, await buildReExport(name, way));
      entryPoints.push({ in: path, out: getFileStem(name) });
    }
    const { metafile } = await build({
      ...FORMATS[way],
      entryPoints,
      outdir: 'dist/vendor',
      outExtension: { '.js': way === 'lazy' ? '.cjs' : '.js' },
      bundle: true,
      minifyWhitespace: true,
      minifySyntax: true,
      legalComments: 'none',
      metafile: true,
      // Compiled add-ons that a package tries to load, and does without.
      external: ['bufferutil', 'pg-native', 'utf-8-validate'],
      logLevel: 'warning',
    });
    if (way === 'node') for (const path of Object.keys(metafile.outputs)) addRequire(path);
    return Object.keys(metafile.inputs);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function buildReExport(name: string, way: Way): Promise<string> {
  const quoted = JSON.stringify(name);
  if (way === 'lazy') return `module.exports = require(${quoted});\n`;
  // The portable ones are ECMAScript modules.
  if (way === 'portable') return `export * from ${quoted};\n`;
  // The bundler does not know the names that a CommonJS package exports.
  const names = Object.keys(await import(name)).filter((each) => /^(?!__esModule$)[\w$]+$/.test(each));
  return `export { ${names.join(', ')} } from ${quoted};\n`;
}

function addRequire(path: string): void {
  const source = readFileSync(path, 'utf8');
  if (/\(__require\b(?!\()|__require\(["'`]\./.test(source))
    throw new Error(`${path} looks files of its package up at run time. Add the package to MODULE_PACKAGES.`);
  if (source.includes(REQUIRES)) writeFileSync(path, `${CREATE_REQUIRE}${source}`);
}

function getFileStem(name: string): string {
  return name
    .replace(/^@/, '')
    .replace(/\.js$/, '')
    .replaceAll(/[^\w-]/g, '-');
}

function renameImports(path: string, imports: readonly PackageImport[]): void {
  if (imports.length === 0) return;
  let source = readFileSync(path, 'utf8');
  for (const { name, is_lazy, start, end } of imports.toSorted((one, other) => other.start - one.start)) {
    const file = `dist/vendor/${getFileStem(name)}.${is_lazy ? 'cjs' : 'js'}`;
    const reference = relative(is_lazy ? LAZY_FOLDER : dirname(path), file).replaceAll(sep, '/');
    source = `${source.slice(0, start)}${JSON.stringify(reference)}${source.slice(end)}`;
  }
  writeFileSync(path, source);
}

/** Writes the names, versions and licences of the packages from which the bundles were made. */
function writeLicences(inputs: readonly string[]): void {
  const folders = new Set(
    inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []),
  );
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = globSync('{LICEN[CS]E,licen[cs]e,NOTICE,COPYING}*', { cwd: folder });
    const licences = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...licences].join('\n\n');
  });
  writeFileSync('dist/vendor/LICENSES.txt', `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
}
