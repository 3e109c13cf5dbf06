import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Json } from '../../types/index.ts';

/**
 * Returns the canonical text of a JSON value (RFC 8785): no white space, members sorted by the UTF-16 units of
 * their names, numbers and strings as ECMAScript writes them. A lone surrogate is written as its escape.
 */
export function canonicalizeJson(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(canonicalizeJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const object = value as { readonly [name: string]: Json };
  // The default order of `sort` is the one that the RFC requires.
  const names = Object.keys(object).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalizeJson(object[name] as Json)}`).join(',')}}`;
}

/** Returns `sha256:` and 64 hex digits over the UTF-8 bytes of a value's canonical text. */
export function hashJson(value: Json): string {
  return `sha256:${bytesToHex(sha256(encodeUtf8(canonicalizeJson(value))))}`;
}

/** Encodes a text as UTF-8; `core` has no `TextEncoder`. */
function encodeUtf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (const character of text) {
    const point = character.codePointAt(0) as number;
    for (const byte of encodeCodePoint(point)) bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}

function encodeCodePoint(point: number): readonly number[] {
  const tail = (shift: number) => 0x80 | ((point >> shift) & 0x3f);
  if (point < 0x80) return [point];
  if (point < 0x800) return [0xc0 | (point >> 6), tail(0)];
  if (point < 0x10000) return [0xe0 | (point >> 12), tail(6), tail(0)];
  return [0xf0 | (point >> 18), tail(12), tail(6), tail(0)];
}
