import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { PACKAGE_NAME } from '../../src/core/names.ts';
import { getPackageVersion } from '../../src/platform/version.ts';

/** The lock files whose packages a release contains: those of the program, and those of the console's pages. */
const FOLDERS = ['.', 'console'];

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

interface Sbom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
}

/**
 * Builds the list of packages in a release as CycloneDX 1.5, from the lock files of a checkout by `npm sbom`. The same lock
 * files give the same text.
 * @param root - the checkout
 * @param time - the time in the document, as ISO 8601
 */
export function buildSbom(root: string, time: string): string {
  const [program, ...others] = FOLDERS.map((folder) => listPackages(join(root, folder)));
  const own = program!.metadata.component['bom-ref'];
  const components = new Map<string, Component>();
  const dependencies = new Map<string, readonly string[]>();
  for (const each of [program!, ...others]) {
    const of = each.metadata.component['bom-ref'];
    for (const component of each.components) components.set(component['bom-ref'], component);
    for (const { ref, dependsOn } of each.dependencies) {
      const name = ref === of ? own : ref;
      dependencies.set(name, [...new Set([...(dependencies.get(name) ?? []), ...dependsOn])].sort());
    }
  }
  const sorted = [...components.keys()].sort().map((ref) => components.get(ref)!);
  const digest = createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
  const document = {
    ...program!,
    serialNumber: `urn:uuid:${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`,
    metadata: { ...program!.metadata, timestamp: time },
    components: sorted,
    dependencies: [...dependencies].sort().map(([ref, dependsOn]) => ({ ref, dependsOn })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/**
 * Lists the packages of a lock file, without those of development. npm names the root by its folder, and needs its version.
 * Its own option `--omit dev` also leaves out packages that the program and a package of development both need.
 */
function listPackages(folder: string): Sbom {
  const dir = mkdtempSync(join(tmpdir(), 'sbom-'));
  try {
    const copy = join(dir, PACKAGE_NAME);
    mkdirSync(copy);
    const own = { name: PACKAGE_NAME, version: getPackageVersion(), devDependencies: {} };
    const write = (name: string, content: object) => writeFileSync(join(copy, name), JSON.stringify(content));
    const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
    write('package.json', { ...read('package.json'), ...own });
    const lock = read('package-lock.json') as { packages: Record<string, { dev?: boolean }> };
    const kept = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true);
    const packages = { ...Object.fromEntries(kept), '': { ...lock.packages[''], ...own } };
    write('package-lock.json', { ...lock, ...own, packages });
    const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
    const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`;
    const { status, stdout, stderr } = spawnSync('npm', words, {
      cwd: copy,
      encoding: 'utf8',
      env: { ...process.env, PATH: path },
      maxBuffer: 64 * 2 ** 20,
    });
    if (status !== 0) throw new Error(`npm sbom failed in ${folder}:\n${stderr}`);
    return JSON.parse(stdout);
  } finally {
    rmSync(dir, { recursive: true });
  }
}
