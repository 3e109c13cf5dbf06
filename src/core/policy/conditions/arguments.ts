/** Reads a call's arguments for conditions: in bounded time, and never a value that a tool could read otherwise. */
import { getContentSource } from '../../json/source.ts';
import { countSteps } from '../../steps.ts';
import type { Content, Json } from '../../types/index.ts';
import type { JsonNode } from '../../types/json.ts';
import { convertDecimal, type Decimal, parseDecimal } from './decimal.ts';

/** The steps to a value: member names and item indexes. Empty for all arguments. */
export type ArgumentPath = readonly (string | number)[];

const PLAIN_NAME = /^[A-Za-z_]\w*$/;

/** Writes a path: `amount`, `items[0].id`, `["content-type"]`; empty for all arguments. */
export function formatArgumentPath(path: ArgumentPath): string {
  return path
    .map((step) => {
      if (typeof step === 'number') return `[${step}]`;
      return PLAIN_NAME.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
    })
    .join('')
    .replace(/^\./, '');
}

/** Reads what `formatArgumentPath` wrote. */
export function parseArgumentPath(text: string): ArgumentPath {
  return [...text.matchAll(/([A-Za-z_]\w*)|\[(\d+|"(?:[^"\\]|\\.)*")\]/g)].map(([, name, step]) =>
    name === undefined ? (JSON.parse(step as string) as string | number) : name,
  );
}

/** A value in a condition. Objects are maps, so that no member name has a special meaning. */
export type ConditionValue = string | boolean | bigint | number | null | readonly ConditionValue[] | ValueMap;
export interface ValueMap extends ReadonlyMap<string, ConditionValue> {}

/** A condition has no result: a value is missing, ambiguous or too large, or has another type. */
export class NoResult extends Error {
  constructor() {
    super('The condition has no result.');
    this.name = 'NoResult';
  }
}

/** The values in one list or object that a condition reads, at all depths. */
export const ARGUMENT_VALUES_MAX = 10_000;
/** Members per object in which a condition looks for a name, at most. */
const MEMBERS_MAX = 10_000;
const DEPTH_MAX = 32;

/** A call's value: a node in its text, which has exact numbers and duplicates, or a value that never was a text. */
type LocatedValue =
  | { readonly text: string; readonly node: JsonNode }
  | { readonly text: null; readonly value: Json };

/** Returns the value at a path. Throws `NoResult` if there is none, or not exactly one. */
export function readArgument(content: Content, path: ArgumentPath): ConditionValue {
  return convertValue(requireArgument(content, path));
}

/**
 * Returns whether a call has an argument. Throws `NoResult` if that is open: a member occurs twice, or a step leads
 * into something that is no object, such as a text that holds JSON.
 */
export function hasArgument(content: Content, path: ArgumentPath): boolean {
  return findArgument(content, path) !== null;
}

/**
 * Returns what a call adds to a total: the number in an argument, exactly as it is written, or one for a count. Throws
 * `NoResult` if there is no number, or a negative one, which would let larger ones pass.
 */
export function readCallValue(content: Content, argument: string | null): Decimal {
  if (argument === null) return ONE;
  const found = requireArgument(content, argument.split('.'));
  const decimal = parseDecimal(getNotation(found) ?? '');
  if (decimal === null || decimal.units < 0n) throw new NoResult();
  return decimal;
}

const ONE: Decimal = { units: 1n, scale: 0 };

/** Returns a number's notation; `null` for other values, and for numbers that a double may have rounded. */
function getNotation(found: LocatedValue): string | null {
  if (found.text !== null)
    return found.node.kind === 'number' ? found.text.slice(found.node.start, found.node.end) : null;
  const { value } = found;
  if (typeof value !== 'number' || (Number.isInteger(value) && !Number.isSafeInteger(value))) return null;
  return String(value);
}

/**
 * Returns an argument in the call's text. Throws `NoResult` if there is none, or not exactly one.
 */
export function findArgumentNode(content: Content, path: ArgumentPath): { text: string; node: JsonNode } {
  if (content.kind === 'text') throw new NoResult();
  const { text, root } = getContentSource(content);
  let node: JsonNode | null = root;
  for (const step of path) {
    const found = findInNode(text, node, step);
    if (found?.text == null) throw new NoResult();
    node = found.node;
  }
  return { text, node };
}

function requireArgument(content: Content, path: ArgumentPath): LocatedValue {
  const found = findArgument(content, path);
  if (found === null) throw new NoResult();
  return found;
}

function findArgument(content: Content, path: ArgumentPath): LocatedValue | null {
  if (content.kind === 'text') throw new NoResult();
  const { source, value } = content;
  let at: LocatedValue | null =
    source === undefined ? { text: null, value } : { text: source.text, node: source.root };
  for (const step of path) {
    at = at.text === null ? findInValue(at.value, step) : findInNode(at.text, at.node, step);
    if (at === null) return null;
  }
  return at;
}

function findInNode(text: string, node: JsonNode, step: string | number): LocatedValue | null {
  if (typeof step === 'number') {
    if (node.kind !== 'array') throw new NoResult();
    const item = node.items[step];
    return item === undefined ? null : { text, node: item };
  }
  if (node.kind !== 'object' || node.members.length > MEMBERS_MAX) throw new NoResult();
  let found: JsonNode | null = null;
  for (const { key, value } of node.members) {
    if (key.value !== step) continue;
    if (found !== null) throw new NoResult();
    found = value;
  }
  return found === null ? null : { text, node: found };
}

function findInValue(value: Json, step: string | number): LocatedValue | null {
  if (value === null || typeof value !== 'object') throw new NoResult();
  if (typeof step === 'number') {
    if (!Array.isArray(value)) throw new NoResult();
    return step < value.length ? { text: null, value: value[step] as Json } : null;
  }
  if (Array.isArray(value)) throw new NoResult();
  return Object.hasOwn(value, step)
    ? { text: null, value: (value as { readonly [name: string]: Json })[step] as Json }
    : null;
}

const converted = new WeakMap<object, ConditionValue>();

function convertValue(found: LocatedValue): ConditionValue {
  const holder = found.text === null ? found.value : found.node;
  if (!isContainer(found)) return convert(found, { left: 1 }, 0);
  let value = converted.get(holder as object);
  if (value === undefined) {
    value = convert(found, { left: ARGUMENT_VALUES_MAX }, 0);
    converted.set(holder as object, value);
  }
  return value;
}

function isContainer(found: LocatedValue): boolean {
  if (found.text === null) return found.value !== null && typeof found.value === 'object';
  return found.node.kind === 'object' || found.node.kind === 'array';
}

function convert(found: LocatedValue, budget: { left: number }, depth: number): ConditionValue {
  countSteps(1);
  budget.left -= 1;
  if (budget.left < 0 || depth > DEPTH_MAX) throw new NoResult();
  return found.text === null
    ? convertJson(found.value, budget, depth)
    : convertNode(found.text, found.node, budget, depth);
}

function convertNode(text: string, node: JsonNode, budget: { left: number }, depth: number): ConditionValue {
  switch (node.kind) {
    case 'string':
      return node.value;
    case 'number':
      return convertNumber(text.slice(node.start, node.end), node.value);
    case 'true':
    case 'false':
      return node.kind === 'true';
    case 'null':
      return null;
    case 'array':
      if (node.items.length > budget.left) throw new NoResult();
      return node.items.map((item) => convert({ text, node: item }, budget, depth + 1));
    case 'object': {
      if (node.members.length > budget.left) throw new NoResult();
      const map = new Map<string, ConditionValue>();
      for (const { key, value } of node.members) {
        if (map.has(key.value)) throw new NoResult();
        map.set(key.value, convert({ text, node: value }, budget, depth + 1));
      }
      return map;
    }
  }
}

function convertJson(value: Json, budget: { left: number }, depth: number): ConditionValue {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return BigInt(value);
    if (!Number.isFinite(value) || Number.isInteger(value)) throw new NoResult();
    return value;
  }
  if (value === null || typeof value !== 'object') return value;
  const members = Array.isArray(value) ? (value as readonly Json[]) : Object.entries(value);
  if (members.length > budget.left) throw new NoResult();
  if (Array.isArray(value))
    return value.map((item: Json) => convert({ text: null, value: item }, budget, depth + 1));
  return new Map(
    Object.entries(value as { readonly [name: string]: Json }).map(([name, member]) => [
      name,
      convert({ text: null, value: member }, budget, depth + 1),
    ]),
  );
}

/** The digits that a double always holds exactly. */
const EXACT_LENGTH = 15;

/** Converts a number by its notation. `1e3` and `1000.0` are the whole number 1000. */
function convertNumber(notation: string, value: number): bigint | number {
  if (notation.length <= EXACT_LENGTH && Math.abs(value) > 1e-100 && Number.isFinite(value)) {
    if (Number.isSafeInteger(value)) return BigInt(value);
    if (!Number.isInteger(value)) return value;
  }
  const decimal = parseDecimal(notation);
  const number = decimal === null ? null : convertDecimal(decimal);
  if (number === null) throw new NoResult();
  return number;
}
