import type { Json } from '../../types/index.ts';

/**
 * Returns the canonical text of a JSON value, or of a record of JSON values (RFC 8785): no white space, members sorted by the UTF-16 units of
 * their names, numbers and strings as ECMAScript writes them. A lone surrogate is written as its escape.
 */
export function canonicalizeJson(value: Json | object): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(canonicalizeJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const object = value as { readonly [name: string]: Json };
  // The default order of `sort` is the one that the RFC requires.
  const names = Object.keys(object).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalizeJson(object[name] as Json)}`).join(',')}}`;
}

/** Returns the SHA-256 of a text's UTF-8 bytes as 64 hex digits. */
export type HashText = (text: string) => string;

/** Returns `sha256:` and 64 hex digits over a value's canonical text. */
export function hashJson(value: Json | object, hashText: HashText): string {
  return `sha256:${hashText(canonicalizeJson(value))}`;
}
