import { hasDuplicateKeys } from '../../core/json/source.ts';
import { EARLIER_NAME } from '../../core/names.ts';
import { canonicalizeJson } from '../../core/policy/compile/canonical-json.ts';
import type { Crossing, Json } from '../../core/types/index.ts';
import { openPlaceHash } from '../../operations/place-hash.ts';
import { hasLongNumbers } from './binding.ts';

/** A tool call that a grant can cover: its arguments have plain names and exact values. */
export interface NamedCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, Json>>;
}

/** Arguments of a call that a grant can cover. */
const ARGUMENTS_MAX = 64;
/** Other names could hold text that must not be shown or stored. */
const PLAIN_NAME = /^[A-Za-z_][\w.-]{0,63}$/;

/**
 * Reads a call’s arguments. Returns `null` if it is no tool call, or if two readers could take its arguments for
 * different values: duplicate names, or numbers that a double does not hold.
 */
export function readNamedCall({ boundary, phase, tool, memory, content }: Crossing): NamedCall | null {
  if (boundary !== 'action' || phase !== 'request' || tool === null || memory !== undefined) return null;
  if (content.kind !== 'json') return null;
  const { value, source } = content;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const names = Object.keys(value);
  if (names.length > ARGUMENTS_MAX || !names.every((name) => PLAIN_NAME.test(name))) return null;
  if (source !== undefined && hasDuplicateKeys(source.root)) return null;
  if (hasLongNumbers(content)) return null;
  return { tool, arguments: value as Readonly<Record<string, Json>> };
}

/**
 * Returns keyed hashes of argument values, by name: HMAC-SHA-256 over the canonical JSON (RFC 8785) with the tool and
 * the name. Each tenant has another key.
 */
export function hashArguments(
  { tool, arguments: values }: NamedCall,
  names: readonly string[],
  secret: string,
  tenantId: string,
): Readonly<Record<string, string>> {
  const hash = openPlaceHash(secret, `${EARLIER_NAME} approval arguments 1\n${tenantId}`);
  return Object.fromEntries(
    names.map((name) => [name, hash(JSON.stringify([tool, name]), canonicalizeJson(values[name]!))]),
  );
}
