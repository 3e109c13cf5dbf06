/**
 * Builds the hook of a checkout into `node_modules/.cache/service-hook`, where `./service hook` looks for it.
 * The hook of a checkout must start as fast as the published one. `scripts/hook.sh` runs this when a source
 * is newer than the build.
 */
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { serializeDetectorTable } from '../../src/core/detect/matching/detector-table.ts';
import { builtinFiles } from '../../src/core/detect/registry/builtin-detectors.ts';
import { bundleHook } from '../build/hook.ts';
import { joinModules } from '../build/join.ts';

/** The bundler resolves names from the folder where it was loaded, so this must be started there. */
const root = process.cwd();
const CACHE = join('node_modules', '.cache', 'service-hook');
const CORE = globSync('src/core/**/*.ts').filter((path) => !/\.test\.ts$|\/testing\//.test(path));
const SCRIPTS = ['package.json', ...globSync('scripts/{build/{hook,join,late},hook/main}.ts')];
const BUILT_KEPT_MS = 600_000;

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const sources = [
  ...CORE,
  ...globSync(
    'src/{coding-agents,drivers,entry/hook,features,gateways,operations,platform,runtime,server}/**/*.ts',
  ),
  ...SCRIPTS,
].sort();
const digest = createHash('sha256');
for (const path of sources) digest.update(`${path}\n`).update(readFileSync(path));
const own = digest.digest('hex').slice(0, 16);
const began = join(CACHE, `${own}.${process.pid}`);
const built = join(CACHE, own);

mkdirSync(began, { recursive: true });
writeFileSync(join(CACHE, 'package.json'), `${JSON.stringify({ type: 'module', version })}\n`);
await translateCore(began);
const bundled = await bundleHook(began, `${version}+${own}`);
await joinModules(began, 'core', ['core/decision/judge.js'], serializeDetectorTable(builtinFiles));
// Modules that few calls need are not built.
writeFileSync(
  join(began, 'entry/hook/full-runtime.js'),
  `export * from '${root}/src/entry/hook/full-runtime.ts';\n`,
);
writeFileSync(
  join(began, 'entry/hook/run-daemon.js'),
  `export * from '${root}/src/entry/hook/run-daemon.ts';\n`,
);
writeFileSync(
  join(began, 'entry/hook/daemon-process.js'),
  `import '${root}/src/entry/hook/daemon-process.ts';\n`,
);
rmSync(built, { recursive: true, force: true });
renameSync(began, built);
const inputs = [...new Set([...CORE, ...bundled, ...SCRIPTS])].sort();
writeFileSync(join(CACHE, `${own}.sh`), `hook=${own}\ninputs='${inputs.join('\n')}'\n`);
renameSync(join(CACHE, `${own}.sh`), join(CACHE, 'built.sh'));
removeOld();

/** Compiles each module of `core` to JavaScript, at its own path. */
async function translateCore(out: string): Promise<void> {
  await build({
    entryPoints: CORE,
    outdir: out,
    outbase: 'src',
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
    plugins: [createExternalImportsPlugin()],
  });
}

function createExternalImportsPlugin(): Plugin {
  return {
    name: 'each-by-itself',
    setup: ({ onResolve }) => {
      onResolve({ filter: /./ }, ({ path, kind }) =>
        kind === 'entry-point' ? null : { path: path.replace(/\.ts$/, '.js'), external: true },
      );
    },
  };
}

/** Deletes old builds after a while, because a hook may still run from one. */
function removeOld(): void {
  for (const path of globSync(join(CACHE, '*/'))) {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && resolve(path) !== resolve(built) && Date.now() - stats.mtimeMs > BUILT_KEPT_MS)
      rmSync(path, { recursive: true, force: true });
  }
}
