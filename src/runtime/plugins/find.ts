import { readFile, realpath } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';
import type { DocumentProblem } from '../../core/types/index.ts';
import { buildFileLabel, type EmptyPattern, findFiles } from '../config/document-files.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import type { Config } from '../config/schema.ts';
import type { PluginSource } from './types.ts';

/** The plug-ins that the configuration names, in its order, files first. */
export interface FoundPlugins {
  readonly sources: readonly PluginSource[];
  /** The named plug-ins that do not exist. Each is an excluded plug-in. */
  readonly missing: readonly { readonly source: PluginSource; readonly problem: DocumentProblem }[];
  readonly filled: readonly string[];
  readonly empty: readonly EmptyPattern[];
  readonly warnings: readonly DocumentProblem[];
}

const PLUGINS_MAX = 100;

/** Finds the files and packages that `plugins` names. Runs no plug-in and uses no network. */
export async function findPlugins({
  plugins,
  origin,
}: Pick<Config, 'plugins' | 'origin'>): Promise<FoundPlugins> {
  const sources = new Map<string, PluginSource>();
  const missing: FoundPlugins['missing'][number][] = [];
  const warnings: DocumentProblem[] = [];
  const filled: string[] = [];
  const empty: EmptyPattern[] = [];
  for (const [i, pattern] of plugins.files.entries()) {
    const steps = ['plugins', 'files', i];
    const { paths, wrong } = await findFiles(pattern, origin.base_dir, 'code');
    const id = `plugins.files ${pattern}`;
    if (wrong !== null)
      missing.push(buildMissingSource('file', pattern, buildConfigProblem(origin.label, steps, wrong)));
    else if (paths.length === 0)
      warnings.push(buildConfigProblem(origin.label, steps, 'matches no file', undefined, 'warning'));
    if (paths.length > 0) filled.push(id);
    else if (wrong === null) empty.push({ id, pattern, steps });
    for (const path of paths) await addSource(sources, 'file', buildFileLabel(path, origin.base_dir), path);
  }
  for (const [i, name] of plugins.packages.entries()) {
    const path = await getEntry(name, origin.base_dir);
    if (path !== null) await addSource(sources, 'package', name, path);
    else {
      const steps = ['plugins', 'packages', i];
      const wrong = 'is not an installed package with one import entry; install it next to the configuration';
      missing.push(buildMissingSource('package', name, buildConfigProblem(origin.label, steps, wrong)));
    }
  }
  const all = [...sources.values()];
  const over = all.slice(PLUGINS_MAX).map((source) => ({
    source,
    problem: buildConfigProblem(source.from, [], `comes after ${PLUGINS_MAX} others, and is one too many`),
  }));
  return { sources: all.slice(0, PLUGINS_MAX), missing: [...missing, ...over], filled, empty, warnings };
}

/** Finds the one plug-in that an operator names: a file, a folder with a package, or an installed package. */
export async function findPlugin(name: string, baseDir: string): Promise<PluginSource | null> {
  const here = resolve(baseDir, name);
  const inFolder = await findEntry(here);
  if (inFolder !== null) return { kind: 'package', from: name, path: inFolder };
  const file = await realpath(here).catch(() => null);
  if (file !== null) return { kind: 'file', from: name, path: file };
  const installed = await getEntry(name, baseDir);
  return installed === null ? null : { kind: 'package', from: name, path: installed };
}

function buildMissingSource(kind: PluginSource['kind'], from: string, problem: DocumentProblem) {
  return { source: { kind, from, path: '' }, problem };
}

/** A file that is reached twice is loaded once. */
async function addSource(
  sources: Map<string, PluginSource>,
  kind: PluginSource['kind'],
  from: string,
  path: string,
): Promise<void> {
  const real = await realpath(path).catch(() => path);
  if (!sources.has(real)) sources.set(real, { kind, from, path: real });
}

/** Returns the file that `import` loads for an installed package, or `null` if there is none. */
async function getEntry(name: string, baseDir: string): Promise<string | null> {
  try {
    const found = findPackageJSON(name, join(baseDir, 'service.yaml'));
    return found === undefined ? null : await findEntry(dirname(found));
  } catch {
    // The package is not installed, or its name is not valid.
    return null;
  }
}

async function findEntry(folder: string): Promise<string | null> {
  try {
    const { exports, main } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const entry = getTarget(exports) ?? (typeof main === 'string' ? main : 'index.js');
    const path = resolve(folder, entry);
    return path.startsWith(folder + sep) ? path : null;
  } catch {
    return null;
  }
}

const CONDITIONS = ['node', 'import', 'module-sync', 'default'];

/** Returns the target of `exports` for the package root, under the conditions of an import. */
function getTarget(exports: unknown): string | null {
  if (typeof exports === 'string') return exports;
  if (typeof exports !== 'object' || exports === null) return null;
  if (Object.hasOwn(exports, '.')) return getTarget((exports as Record<string, unknown>)['.']);
  for (const [condition, target] of Object.entries(exports)) {
    const found = CONDITIONS.includes(condition) ? getTarget(target) : null;
    if (found !== null) return found;
  }
  return null;
}
