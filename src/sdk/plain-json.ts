import type { Json } from '../core/types/index.ts';

/** The JSON form of a value, or the reason why it has none. */
export type PlainJson =
  | {
      readonly ok: true;
      readonly value: Json;
      /** `true` if the value itself is that JSON. If not, only the JSON form was judged, so only it may be used. */
      readonly is_exact: boolean;
    }
  | { readonly ok: false; readonly reason: string };

/** Deeper nesting is not converted. The scan limits of a policy are far below. */
const DEPTH_MAX = 1_000;

/**
 * Converts a value of a program to JSON, as it is judged and sent. Members that are `undefined` and methods are left
 * out. A value that JSON cannot express, such as a `Map`, has no JSON form: it would cross unseen.
 */
export function toPlainJson(value: unknown): PlainJson {
  const conversion: Conversion = { is_exact: true };
  try {
    const plain = convertValue(value ?? null, conversion, 0);
    return { ok: true, value: plain, is_exact: conversion.is_exact };
  } catch (error) {
    return { ok: false, reason: error instanceof NotJsonError ? error.message : UNREADABLE };
  }
}

const UNREADABLE = 'The value cannot be read as JSON. Pass plain objects, lists, texts and numbers.';

class NotJsonError extends Error {}

interface Conversion {
  is_exact: boolean;
}

function convertValue(value: unknown, conversion: Conversion, depth: number): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw new NotJsonError('A number that is not finite cannot be scanned. Pass it as text.');
  }
  if (typeof value !== 'object') throw buildNotJsonError(typeof value);
  if (depth >= DEPTH_MAX)
    throw new NotJsonError(`A value that nests deeper than ${DEPTH_MAX} levels cannot be scanned.`);
  if (Array.isArray(value)) return convertList(value, conversion, depth);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return convertObject(value, conversion, depth);
  return convertInstance(value, conversion, depth);
}

/** Copies nothing while all items are exact, because most values are. */
function convertList(list: readonly unknown[], conversion: Conversion, depth: number): Json {
  let copy: Json[] | null = null;
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    const plain = item === undefined ? null : convertValue(item, conversion, depth + 1);
    if (copy === null && plain !== item) copy = list.slice(0, i) as Json[];
    if (copy !== null) copy.push(plain);
  }
  if (copy !== null) conversion.is_exact = false;
  return copy ?? (list as readonly Json[]);
}

function convertObject(value: object, conversion: Conversion, depth: number): Json {
  const record = value as Record<string, unknown>;
  if (typeof record.toJSON === 'function') return convertInstance(value, conversion, depth);
  let isSame = true;
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(record)) {
    const member = record[key];
    if (member === undefined) continue;
    if (typeof member === 'function') {
      isSame = false;
      continue;
    }
    const plain = convertValue(member, conversion, depth + 1);
    if (plain !== member) isSame = false;
    if (key === '__proto__')
      Object.defineProperty(copy, key, {
        value: plain,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else copy[key] = plain;
  }
  if (!isSame) conversion.is_exact = false;
  return isSame && !hasUndefined(record) ? (value as Json) : copy;
}

function hasUndefined(record: Record<string, unknown>): boolean {
  for (const key of Object.keys(record)) if (record[key] === undefined) return true;
  return false;
}

/** Instances of classes cross as their JSON form, which is what was judged. */
function convertInstance(value: object, conversion: Conversion, depth: number): Json {
  conversion.is_exact = false;
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') {
    const json: unknown = toJSON.call(value);
    if (json === value) throw buildNotJsonError(getName(value));
    return convertValue(json ?? null, conversion, depth + 1);
  }
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (HIDDEN.some((type) => value instanceof type) || ArrayBuffer.isView(value))
    throw buildNotJsonError(getName(value));
  const copy: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value))
    if (member !== undefined && typeof member !== 'function')
      copy[key] = convertValue(member, conversion, depth + 1);
  return copy;
}

/** Types whose content is not in their members. */
const HIDDEN = [Map, Set, WeakMap, WeakSet, ArrayBuffer, Promise];

function getName(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && /^\w{1,40}$/.test(name) ? name : 'object';
}

function buildNotJsonError(type: string): NotJsonError {
  return new NotJsonError(
    `A value of type \`${type}\` cannot be scanned. Pass plain objects, lists, texts and numbers.`,
  );
}
