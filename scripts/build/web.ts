import { globSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOnly } from './vendor.ts';

/** The modules of the SDK that programs without Node import, below `dist/sdk`. */
const MODULES = ['browser.js', 'client/index.js', 'adapters/*.js'];

/**
 * Writes the SDK for browsers and workers to `dist/web`. The modules of `core` that Node loads on demand are part of it,
 * because a bundler must see each import. Call it before the modules of `core` are joined.
 *
 * @param packages - the packages that the files will contain
 */
export async function bundleWeb(dist: string, packages: readonly string[]): Promise<void> {
  const folder = join(dist, 'sdk');
  await build({
    entryPoints: MODULES.flatMap((name) => globSync(join(folder, name))),
    outdir: join(dist, 'web'),
    outbase: folder,
    chunkNames: 'joined-[hash]',
    bundle: true,
    // Modules that several entries need are in one file, so that there is one class of each error.
    splitting: true,
    format: 'esm',
    platform: 'browser',
    plugins: [bundleOnly(packages)],
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
}
