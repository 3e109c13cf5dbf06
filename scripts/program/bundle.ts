import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { serializeDetectorTable } from '../../src/core/detect/matching/detector-table.ts';
import { builtinFiles } from '../../src/core/detect/registry/builtin-detectors.ts';
import { isTreeCurrent } from '../build/current-tree.ts';

/** Packages of hundreds of small files. All others are loaded from `node_modules`. */
const BUNDLED_PACKAGES = ['kysely', 'typebox'];
/** The file that names the worker's file relative to its own, which it also does in the bundle. */
const KEPT_PATHS = ['src/entry/cli/serve-until-stopped.ts'];

/**
 * Bundles the program and its worker from the sources of a checkout, which must be the current folder. Modules that
 * are imported on demand stay files of their own. Returns the sources in the bundle.
 *
 * @param out - the folder of the bundle; writes `entry/cli/main.mjs` and `entry/http/worker.mjs` in it
 */
export async function bundleProgram(out: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: {
      'entry/cli/main': 'src/entry/cli/main.ts',
      'entry/http/worker': 'src/entry/http/worker.ts',
    },
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
    logLevel: 'error',
    plugins: [createPackagesPlugin(), createPathsPlugin()],
  });
  return Object.keys(metafile.inputs).filter((path) => path.startsWith('src/'));
}

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
    setup: ({ onResolve }) => {
      onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
        const is_bundled = BUNDLED_PACKAGES.some((name) => path === name || path.startsWith(`${name}/`));
        return kind === 'entry-point' || is_bundled ? null : { path, external: true };
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
