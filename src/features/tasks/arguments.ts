import type { Content, Json } from '../../core/types/index.ts';
import type { TaskValue } from './types.ts';

/** Scalars that one argument may have in a call that is checked. */
const SCALARS_MAX = 1_000;

/**
 * Returns the argument of a call as it is sent; `undefined` if there is none, or more than one of that name, because
 * readers of JSON differ in which of them counts.
 */
export function findArgument(content: Content, name: string): Json | undefined {
  if (content.kind !== 'json') return undefined;
  const { value, source } = content;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const root = source?.root;
  if (root?.kind === 'object' && root.members.filter(({ key }) => key.value === name).length > 1)
    return undefined;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, Json>>)[name] : undefined;
}

/** Returns the values of an argument: itself, or the elements of a list; `null` if it holds anything else or too much. */
export function listScalars(value: Json): readonly TaskValue[] | null {
  if (!Array.isArray(value)) return isScalar(value) ? [value] : null;
  const isPlain = value.length > 0 && value.length <= SCALARS_MAX && value.every(isScalar);
  return isPlain ? (value as readonly TaskValue[]) : null;
}

function isScalar(value: Json): value is TaskValue {
  return typeof value !== 'object' || value === null;
}
