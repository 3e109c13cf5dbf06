import { type ConditionValue, NoResult, readArgument } from '../../core/policy/conditions/arguments.ts';
import type { Content } from '../../core/types/index.ts';

/** Scalars that one argument may have in a call that is checked. */
const SCALARS_MAX = 1_000;

/** A value that an argument holds directly or as an element. */
export type ArgumentScalar = Extract<ConditionValue, string | boolean | bigint | number | null>;

/** Returns an argument as conditions read it; `undefined` if the call has none, has it twice, or holds no exact number. */
export function findArgument(content: Content, name: string): ConditionValue | undefined {
  try {
    return readArgument(content, [name]);
  } catch (fault) {
    if (fault instanceof NoResult) return undefined;
    throw fault;
  }
}

/** Returns an argument's values: itself, or a list's elements; `null` if it holds anything else or too much. */
export function listScalars(value: ConditionValue): readonly ArgumentScalar[] | null {
  if (!Array.isArray(value)) return isScalar(value) ? [value] : null;
  const items: readonly ConditionValue[] = value;
  return items.length > 0 && items.length <= SCALARS_MAX && items.every(isScalar) ? items : null;
}

function isScalar(value: ConditionValue): value is ArgumentScalar {
  return typeof value !== 'object' || value === null;
}
