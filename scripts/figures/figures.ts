import { findFeature } from '../tidy/layers.ts';
import type { SourceFile } from '../tidy/tree.ts';

/** Counts a pattern in the texts of files. */
export function countMatches(files: readonly Pick<SourceFile, 'text'>[], pattern: RegExp): number {
  return files.reduce((sum, { text }) => sum + [...text.matchAll(pattern)].length, 0);
}

export function countLines(files: readonly Pick<SourceFile, 'text'>[]): number {
  return files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
}

/** Returns the row of the budget that a file counts for. */
export function groupFolder(path: string): string {
  const [, layer = '', folder] = path.split('/');
  if (layer === 'runtime') return folder === 'config' ? 'runtime/config' : 'runtime, the rest';
  const groups = ['platform + drivers', 'operations + features', 'gateways + coding-agents + sdk'];
  return groups.find((group) => group.split(' + ').includes(layer)) ?? layer;
}

/** Lists the files outside each feature's folder that import from it: what its removal has to change. */
export function listFeatureUses(
  program: readonly Pick<SourceFile, 'path' | 'imports'>[],
): ReadonlyMap<string, readonly string[]> {
  const uses = new Map<string, string[]>();
  for (const { path } of program) if (findFeature(path) !== null) uses.set(findFeature(path)!, []);
  for (const { path, imports } of program) {
    const named = new Set(imports.map((one) => findFeature(one.path ?? '')));
    for (const feature of named)
      if (feature !== null && feature !== findFeature(path)) uses.get(feature)?.push(path);
  }
  return new Map([...uses].sort(([one], [other]) => (one < other ? -1 : 1)));
}
