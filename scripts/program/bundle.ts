import { globSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin, transform } from 'esbuild';
import { serializeDetectorTable } from '../../src/core/detect/matching/detector-table.ts';
import { builtinFiles } from '../../src/core/detect/registry/builtin-detectors.ts';
import { isTreeCurrent } from '../build/current-tree.ts';
import { LAZY_FILES, withLookUps } from '../build/lazy-modules.ts';
import { joinStarts, type Starts } from './groups.ts';

/** The packages that a start loads, as hundreds of small files. All others are loaded from `node_modules`. */
const BUNDLED_PACKAGES = [
  '@cfworker/json-schema',
  '@noble/hashes',
  'commander',
  'fastest-levenshtein',
  'fastify',
  'ipaddr.js',
  'kysely',
  'pino',
  're2js',
  'typebox',
];
/** Packages of bundled packages that no start loads. */
const UNUSED_PACKAGES = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
];
const STARTS: Starts = {
  command: ['src/entry/cli/main.ts'],
  serve: [
    'src/entry/cli/commands/serve.ts',
    'src/entry/cli/operator-only.ts',
    'src/entry/cli/serve-until-stopped.ts',
  ],
  parent: [
    'src/core/policy/compile/index.ts',
    'src/drivers/stores/sqlite-store.ts',
    'src/entry/cli/start-report.ts',
    ...globSync('src/features/*/{jobs,queues,service}.ts').toSorted(),
    'src/platform/outbox/sender.ts',
    'src/platform/store/open.ts',
    'src/server/bring-up.ts',
    'src/server/maintenance-jobs.ts',
    'src/server/store-migrations.ts',
  ],
  worker: ['src/core/decision/judge.ts', 'src/entry/http/worker.ts', 'src/runtime/enforcement/enforce.ts'],
};
const ENTRIES = {
  'entry/cli/main': 'src/entry/cli/main.ts',
  'entry/http/worker': 'src/entry/http/worker.ts',
};
/** The file that names the worker's file relative to its own, which it also does in the bundle. */
const KEPT_PATHS = ['src/entry/cli/serve-until-stopped.ts'];

/**
 * Bundles the program and its worker from the sources of a checkout, which must be the current folder. Modules that
 * are imported on demand stay files of their own. Returns the sources in the bundle.
 *
 * @param out - the folder of the bundle; writes `entry/cli/main.mjs` and `entry/http/worker.mjs` in it
 */
export async function bundleProgram(out: string): Promise<readonly string[]> {
  const options = {
    entryPoints: ENTRIES,
    outdir: out,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'entry/cli/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    legalComments: 'none',
    metafile: true,
    define: serializeDetectors(),
    banner: { js: REQUIRE },
    logLevel: 'error',
  } as const;
  const plugins = [createPackagesPlugin(), createLazyPlugin(), createPathsPlugin()];
  const { metafile } = await build({ ...options, plugins, write: false });
  await build({ ...options, plugins: [joinStarts(metafile, STARTS), ...plugins] });
  return Object.keys(metafile.inputs).filter((path) => path.startsWith('src/'));
}

/** For packages in CommonJS. */
const REQUIRE =
  "import { createRequire as createOwnRequire } from 'node:module'; const require = createOwnRequire(import.meta.url);";

/**
 * Returns the table of the detectors, with which a start reads only the detectors that it needs. It is left out if a
 * detector was edited since the tree of anchors was generated: the program then makes the tree again.
 */
function serializeDetectors(): Record<string, string> {
  if (!isTreeCurrent()) return {};
  return { DETECTOR_TABLE: JSON.stringify(JSON.stringify(serializeDetectorTable(builtinFiles))) };
}

function createPackagesPlugin(): Plugin {
  return {
    name: 'packages',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: UNUSED_MODULES }, ({ path, importer }) =>
        importer.startsWith(resolve('node_modules/fastify')) ? { path, namespace: 'unused' } : null,
      );
      onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: '' }));
      onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
        if (kind === 'entry-point') return null;
        const isOf = (names: readonly string[]) =>
          names.some((name) => path === name || path.startsWith(`${name}/`));
        const isBundled = importer.startsWith(resolve('node_modules'))
          ? !isOf(UNUSED_PACKAGES)
          : isOf(BUNDLED_PACKAGES);
        return isBundled ? null : { path, external: true };
      });
    },
  };
}

/** Node's modules that Fastify requires for servers that this program never opens, 30 ms and 8 MB in each worker. */
const UNUSED_MODULES = /^node:http(?:s|2)$/;

/** Runs the modules of detectors at their first use. */
function createLazyPlugin(): Plugin {
  const lazyFiles = Object.keys(LAZY_FILES).map((name) => resolve('src', name.replace(/js$/, 'ts')));
  return {
    name: 'lazy',
    setup: ({ onLoad }) => {
      onLoad({ filter: /[/\\]core[/\\](?:detect|decision)[/\\].*\.ts$/ }, async ({ path }) => {
        if (!lazyFiles.includes(path)) return null;
        const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'ts' });
        return { contents: withLookUps(code, (from) => `require(${JSON.stringify(from)})`), loader: 'js' };
      });
    },
  };
}

/** Keeps the paths of the sources in modules that name other files relative to their own. */
function createPathsPlugin(): Plugin {
  return {
    name: 'paths',
    setup: ({ onLoad }) => {
      onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
        const source = readFileSync(path, 'utf8');
        if (!source.includes('import.meta.') || KEPT_PATHS.includes(relative(resolve(), path))) return null;
        const contents = source
          .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
          .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
        return { contents, loader: 'ts' };
      });
    },
  };
}
