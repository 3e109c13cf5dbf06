import type { SourceFile } from './tree.ts';

/**
 * The layers of `src`, lowest first. A file may import from its own layer and from the lower ones. `sdk` is
 * separate: it imports `core` only, and only `sdk` imports it.
 */
export const LAYERS = [
  'core',
  'platform',
  'drivers',
  'runtime/config',
  'runtime/classifiers',
  'runtime/cluster',
  'runtime/access',
  'runtime/observability',
  'runtime/audit',
  'runtime/adapters',
  'runtime/packages',
  'runtime/plugins',
  'runtime/secrets',
  'runtime/managed-policy',
  'runtime/policies',
  'runtime/skills',
  'runtime/enforcement',
  'operations',
  'features',
  'gateways',
  'coding-agents',
  'server',
  'entry',
] as const;
const SDK = 'sdk';

/** Returns the layer of a path, `null` outside `src`, and `''` in `src` outside every layer. */
export function getLayer(path: string): string | null {
  if (!path.startsWith('src/')) return null;
  const inside = path.slice('src/'.length);
  return [...LAYERS, SDK].find((layer) => inside.startsWith(`${layer}/`)) ?? '';
}

/** Returns why a file of `from` may not import `to`; `null` if it may. Both are paths of files. */
export function importProblem(from: string, to: string): string | null {
  const [layer, other] = [getLayer(from), getLayer(to)];
  if (layer === null || layer === '') return null;
  if (other === null || other === '') return `${layer} must not import what is outside of the layers`;
  if (layer === SDK || other === SDK)
    return layer === SDK && (other === SDK || other === 'core') ? null : `${layer} must not import ${other}`;
  const order = LAYERS as readonly string[];
  if (order.indexOf(other) > order.indexOf(layer)) return `${layer} must not import the later layer ${other}`;
  return null;
}

/** Returns the feature that a file belongs to; `null` outside features. */
export function findFeature(path: string): string | null {
  return /^src\/features\/([^/]+)\//.exec(path)?.[1] ?? null;
}

/** Returns the source files that are not tests. */
export function getProgram(sources: readonly SourceFile[]): SourceFile[] {
  return sources.filter((each) => each.path.startsWith('src/') && !each.is_test);
}
