import { findFolderCycles } from './cycles.ts';
import { getProgram } from './layers.ts';
import { duplicateExports } from './rules/duplicate-exports.ts';
import { layers } from './rules/layers.ts';
import { isListed, lists } from './rules/lists.ts';
import type { SourceFile, Tree } from './tree.ts';

/** Figures about the tree, without test files. */
export interface Figures {
  readonly files: number;
  readonly lines: number;
  readonly lines_median_per_file: number;
  readonly functions: number;
  readonly lines_median_per_function: number;
  readonly lines_p90_per_function: number;
  readonly lines_max_per_function: number;
  /** Cycles among the children of any folder. */
  readonly import_cycles: number;
  readonly imports_against_the_order: number;
  /** Names that more than one file exports. */
  readonly duplicate_exported_names: number;
  /**
   * The files that name one plug-in, for the plug-in with the most: its own file, and those that import it.
   * Only plug-ins that are in lists count.
   */
  readonly files_per_plug_max: number;
}

/** Counts the program's own files: `src` without tests. */
export function getFigures(tree: Tree): Figures {
  const sources = getProgram(tree.sources);
  const files = sources.map(({ text }) => text.split('\n').length - 1);
  const functions = sources.flatMap((each) => each.functions.map(({ lines }) => lines));
  return {
    files: files.length,
    lines: files.reduce((total, lines) => total + lines, 0),
    lines_median_per_file: computeQuantile(files, 0.5),
    functions: functions.length,
    lines_median_per_function: computeQuantile(functions, 0.5),
    lines_p90_per_function: computeQuantile(functions, 0.9),
    lines_max_per_function: computeQuantile(functions, 1),
    import_cycles: findFolderCycles(sources).length,
    imports_against_the_order: layers.examine({ ...tree, sources }).length,
    duplicate_exported_names: duplicateExports.examine({ ...tree, sources }).length,
    files_per_plug_max: countFilesPerPlug(sources),
  };
}

function countFilesPerPlug(sources: readonly SourceFile[]): number {
  const plugs = sources.filter((each) => lists.some((list) => isListed(list, each)));
  const importers = ({ path }: SourceFile) =>
    sources.filter((each) => each.imports.some((one) => one.path === path));
  return Math.max(0, ...plugs.map((plug) => 1 + importers(plug).length));
}

function computeQuantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
