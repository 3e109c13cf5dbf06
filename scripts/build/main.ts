/**
 * `npm run build`: writes the published program to `dist`, as JavaScript with types, with the files that the
 * docs pages load and their licences, and the npm package to `release/npm`.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { serializeDetectorTable } from '../../src/core/detect/matching/detector-table.ts';
import { builtinFiles } from '../../src/core/detect/registry/builtin-detectors.ts';
import { assets } from '../../src/entry/http/pages.ts';
import { getPackageVersion } from '../../src/platform/version.ts';
import { isTreeCurrent } from './current-tree.ts';
import { bundleHook } from './hook.ts';
import { joinModules } from './join.ts';
import { stagePackage } from './stage.ts';
import { deleteInternalTypes } from './types.ts';
import { listVendoredPackages, vendorPackages } from './vendor.ts';
import { bundleWeb } from './web.ts';

process.chdir(resolve(import.meta.dirname, '..', '..'));
rmSync('dist', { recursive: true, force: true });
const NOTICE = `The files swagger-ui* are Swagger UI, Copyright SmartBear Software Inc., under the Apache License 2.0
(the text is in LICENSE at the root of this package), taken unchanged from the package @fastify/swagger-ui.
`;

checkTree();
compileSources();
await bundleHook('dist', getPackageVersion());
const packages = listVendoredPackages();
await bundleWeb('dist', packages);
await joinModules(
  'dist',
  'core',
  ['core/index.js', 'core/detect/detect.js'],
  serializeDetectorTable(builtinFiles),
);
await vendorPackages(packages);
deleteInternalTypes();
copyAssets();
copyGuide();
copyConsole();
chmodSync('dist/entry/cli/bin.js', 0o755);
stagePackage();

/**
 * Checks that the tree of anchors is that of the detectors, because a built program does not check it again.
 */
function checkTree(): void {
  if (isTreeCurrent()) return;
  console.error('The tree of anchors is not that of the detectors. Run: npm run generate');
  process.exit(1);
}

function compileSources(): void {
  const words = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'];
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function copyAssets(): void {
  const folder = join('dist', 'assets');
  mkdirSync(folder, { recursive: true });
  for (const { file, package_path } of assets) {
    copyFileSync(join('node_modules', package_path), join(folder, file));
    copyLicences(package_path, folder);
  }
  writeFileSync(join(folder, 'NOTICE'), NOTICE);
}

/** Copies the documentation site if `npm run docs` has built it; a package without it has no `/docs/guide`. */
function copyGuide(): void {
  const site = join('docs', '.vitepress', 'dist');
  if (existsSync(site)) cpSync(site, join('dist', 'guide'), { recursive: true });
  else console.warn('The package has no documentation site. Run `npm run docs` first to include it.');
}

/** Copies the console's pages if they were built for the package; a package without them says so at `/dashboard`. */
function copyConsole(): void {
  const site = join('console', 'dist-package');
  if (existsSync(site)) cpSync(site, join('dist', 'console'), { recursive: true });
  else console.warn('The package has no console. Run `npm run console -- --package` first to include it.');
}

/**
 * Copies the licence of the package that a file comes from, and the licences of the packages bundled in it.
 */
function copyLicences(packagePath: string, folder: string): void {
  const parts = packagePath.split('/');
  const name = parts.slice(0, packagePath.startsWith('@') ? 2 : 1).join('/');
  cpSync(
    join('node_modules', name, 'LICENSE'),
    join(folder, `${name.replaceAll(/[@/]+/g, '-').replace(/^-/, '')}.LICENSE`),
  );
  const bundled = join('node_modules', `${packagePath}.LICENSE.txt`);
  if (existsSync(bundled)) copyFileSync(bundled, join(folder, `${parts.at(-1)}.LICENSE.txt`));
}
