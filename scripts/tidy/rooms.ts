import type { SourceFile } from './tree.ts';

/** The rooms of `src`, and which other rooms each may import from. */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  core: [],
  platform: [],
  drivers: ['core', 'platform'],
  runtime: ['core', 'platform', 'drivers'],
  operations: ['core', 'platform', 'runtime'],
  entry: ['core', 'platform', 'runtime', 'operations'],
  sdk: ['core'],
};

/** The room that a path is in; `null` outside `src`. */
export function roomOf(path: string): string | null {
  const [top, room, ...rest] = path.split('/');
  if (top !== 'src') return null;
  return rest.length === 0 ? '' : (room ?? '');
}

/** Source files that are no tests. */
export function programOf(sources: readonly SourceFile[]): SourceFile[] {
  return sources.filter((each) => each.path.startsWith('src/') && !each.is_test);
}
