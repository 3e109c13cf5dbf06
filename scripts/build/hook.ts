import { dirname, relative, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

/**
 * Bundles the hook into two files. The first asks the daemon, and is all that most calls load. The second
 * decides without a daemon, with the modules of `core` that `joinModules` leaves in place. Returns the
 * sources in both.
 *
 * @param out - the folder of the built program; writes `entry/hook/main.cjs` and `entry/hook/decide-locally.js` in it
 */
export async function bundleHook(out: string, version: string): Promise<readonly string[]> {
  const options = {
    bundle: true,
    platform: 'node',
    packages: 'external',
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    allowOverwrite: true,
    define: { HOOK_VERSION: JSON.stringify(version) },
    metafile: true,
    logLevel: 'warning',
  } as const;
  const folder = `${out}/entry/hook`;
  const [main, local] = await Promise.all([
    build({
      ...options,
      entryPoints: ['src/entry/hook/main.ts'],
      outfile: `${folder}/main.cjs`,
      format: 'cjs',
      // To find one package on the disk costs as much as a request to the daemon.
      packages: 'bundle',
      // Only a program that is not built looks up its version.
      define: { ...options.define, 'import.meta.url': '""' },
      plugins: [
        createExternalPlugin(
          /\/(?:decide-locally|run-daemon)\.ts$|\/coding-agents\/[a-z-]+\/(?:settings|transcript|doctor|traces)\.ts$/,
        ),
      ],
    }),
    build({
      ...options,
      entryPoints: ['src/entry/hook/decide-locally.ts'],
      outfile: `${folder}/decide-locally.js`,
      format: 'esm',
      plugins: [createExternalPlugin(/\/src\/core\/|\/full-runtime\.ts$/)],
    }),
  ]);
  return [main, local].flatMap(({ metafile }) => Object.keys(metafile.inputs));
}

/** Leaves modules out of a bundle, and imports them by their names in the built program. */
function createExternalPlugin(modules: RegExp): Plugin {
  const from = resolve('src/entry/hook');
  return {
    name: 'outside',
    setup: ({ onResolve }) => {
      onResolve({ filter: /^\./ }, ({ path, importer, kind }) => {
        const file = resolve(dirname(importer), path);
        if (kind === 'entry-point' || !modules.test(file)) return null;
        const name = relative(from, file).replace(/\.ts$/, '.js');
        return { path: name.startsWith('.') ? name : `./${name}`, external: true };
      });
    },
  };
}
