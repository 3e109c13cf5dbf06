import { join, resolve } from 'node:path';
import type { DocumentProblem } from '../../core/types/index.ts';
import { buildFileLabel, findFiles } from '../config/document-files.ts';
import type { Config } from '../config/index.ts';
import { findFileKind } from '../packages/kinds.ts';
import type { LoadedPlugins } from '../plugins/index.ts';
import type { PluginReport } from '../plugins/types.ts';
import { loadConfiguredPlugins } from '../policies/index.ts';
import type { FileChange } from './change.ts';

/** The plug-ins after a change. */
interface PluginsAfter {
  readonly loaded: LoadedPlugins;
  /** The plug-ins of the change. */
  readonly brought: readonly PluginReport[];
  /** The reasons why one of these would be excluded. */
  readonly problems: readonly DocumentProblem[];
  /** The files of the change that the configuration names. */
  readonly seen: readonly string[];
  /** Patterns that match files now and would match none. */
  readonly emptied: readonly string[];
}

/**
 * Loads the plug-ins that a configuration would have after a change. Existing plug-ins are loaded from their
 * own folder, because their imports are relative to it. The plug-ins of the change are in `base_dir`.
 */
export async function loadPluginsAfter(
  config: Config,
  baseDir: string,
  changes: readonly FileChange[],
): Promise<PluginsAfter> {
  const changed = new Set(changes.filter(({ path }) => isCode(path)).map(({ path }) => path));
  const { files, seen, emptied } = await listFilesAfter(config, baseDir, changed);
  const loaded = await loadConfiguredPlugins(
    { ...config, plugins: { ...config.plugins, files } },
    { reviewed: listCodeHashes(changes) },
  );
  const named = loaded.plugins.map((report) => ({
    ...report,
    from: getInstalledPath(report.from, baseDir),
  }));
  const brought = named.filter(({ from }) => seen.includes(from));
  const problems = brought.flatMap((report) =>
    report.problems.map((problem) => ({ ...problem, file: report.from })),
  );
  return { loaded: { ...loaded, plugins: named }, brought, problems, seen, emptied };
}

/** Returns the code hashes in a change, to which the operator has agreed. */
export function listCodeHashes(changes: readonly FileChange[]): ReadonlySet<string> {
  return new Set(changes.flatMap(({ path, after }) => (after !== null && isCode(path) ? [after] : [])));
}

const isCode = (path: string): boolean => findFileKind(path)?.holds === 'code';

/** Returns the path that a file of the rehearsal folder will have after the change. */
function getInstalledPath(name: string, baseDir: string): string {
  return name.startsWith(`${baseDir}/`) ? name.slice(baseDir.length + 1) : name;
}

/** Returns the absolute paths of the files that patterns match. A pattern without a match stays as it is. */
async function listFilesAfter(config: Config, baseDir: string, changed: ReadonlySet<string>) {
  const from = config.origin.base_dir;
  const files: string[] = [];
  const seen: string[] = [];
  const emptied: string[] = [];
  for (const pattern of config.plugins.files) {
    const now = await findFiles(pattern, from, 'code');
    const kept = now.paths.map((path) => buildFileLabel(path, from)).filter((label) => !changed.has(label));
    const brought = (await findFiles(movePattern(config, pattern), baseDir, 'code')).paths
      .map((path) => buildFileLabel(path, baseDir))
      .filter((label) => changed.has(label));
    const after = [...new Set([...kept, ...brought])].sort();
    seen.push(...brought);
    if (now.wrong !== null && after.length === 0) files.push(resolve(from, pattern));
    else
      files.push(
        ...after.map((label) => (brought.includes(label) ? join(baseDir, label) : resolve(from, label))),
      );
    if (now.paths.length > 0 && after.length === 0) emptied.push(`plugins.files ${pattern}`);
  }
  return { files, seen, emptied };
}

/**
 * Returns a pattern for another base folder. A pattern that leads out of the folder still matches the same
 * files.
 */
export function movePattern({ origin }: Config, pattern: string): string {
  const from = origin.base_dir;
  if (pattern.startsWith(`${from}/`)) return pattern.slice(from.length + 1);
  return pattern.split('/')[0] === '..' ? resolve(from, pattern) : pattern;
}
