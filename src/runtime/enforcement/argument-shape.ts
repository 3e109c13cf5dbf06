/** The shape of a tool call's arguments: names, types and ranges. No value can be read from it. */
import { writeContentJson } from '../../core/json/source.ts';
import type { Content } from '../../core/types/index.ts';

/** The names of one call. */
const NAMES_MAX = 50;
/** A longer JSON text, in UTF-16 units, has no shape. */
const JSON_UNITS_MAX = 65_536;
const FIELD_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

export type ArgumentType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** One argument of a call. */
export interface ArgumentShape {
  readonly name: string;
  readonly type: ArgumentType;
  /**
   * The range of a number, or of the length of a string in code points: the decade of the number and the power of two above the length.
   * `null` for other types.
   */
  readonly range: readonly [low: number, high: number] | null;
}

/**
 * Returns the arguments of a call, each as `name type`, or `name type low high`. `masked` is the content with every
 * finding masked, so that a name with a finding in it is left out like all names that are not plain words.
 */
export function formatArgumentShapes(masked: Content): readonly string[] {
  if (masked.kind === 'text') return [];
  const json = writeContentJson(masked);
  if (json.length > JSON_UNITS_MAX) return [];
  return listArgumentShapes(JSON.parse(json)).map(({ name, type, range }) =>
    [name, type, ...(range ?? [])].join(' '),
  );
}

/** Reads what `formatArgumentShapes` wrote. */
export function parseArgumentShapes(lines: readonly string[]): readonly ArgumentShape[] {
  return lines.map((line) => {
    const [name = '', type, low, high] = line.split(' ');
    const range = low === undefined ? null : ([Number(low), Number(high)] as const);
    return { name, type: type as ArgumentType, range };
  });
}

/** Returns the shape of each member of an object; none for any other value. */
export function listArgumentShapes(value: unknown): readonly ArgumentShape[] {
  if (getType(value) !== 'object') return [];
  return Object.entries(value as object)
    .filter(([name]) => FIELD_NAME.test(name))
    .slice(0, NAMES_MAX)
    .map(([name, member]) => ({ name, type: getType(member), range: getRange(member) }));
}

function getType(value: unknown): ArgumentType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as 'string' | 'boolean' | 'object';
}

function getRange(value: unknown): ArgumentShape['range'] {
  if (typeof value === 'string') return [0, 2 ** Math.ceil(Math.log2(Math.max(1, [...value].length)))];
  if (typeof value !== 'number') return null;
  const bound = 10 ** `${Math.trunc(Math.abs(value))}`.length;
  return value < 0 ? [-bound, 0] : [0, bound];
}
