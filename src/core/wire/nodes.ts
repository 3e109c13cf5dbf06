import type { JsonMember, JsonNode, StringNode } from './types.ts';

/** The members of an object; of anything else none. */
export function membersOf(node: JsonNode | null): readonly JsonMember[] {
  return node?.kind === 'object' ? node.members : [];
}

/** The items of an array; of anything else none. */
export function itemsOf(node: JsonNode | null): readonly JsonNode[] {
  return node?.kind === 'array' ? node.items : [];
}

/** The member's value; of several equal keys the last one, as clients and providers read them. */
export function memberOf(node: JsonNode | null, key: string): JsonNode | null {
  return membersOf(node).findLast((each) => each.key.value === key)?.value ?? null;
}

/** The member's value where it is a string. */
export function stringOf(node: JsonNode | null, key: string): StringNode | null {
  const value = memberOf(node, key);
  return value?.kind === 'string' ? value : null;
}

/** The text of a member; `null` where it is no string. */
export function textOf(node: JsonNode | null, key: string): string | null {
  return stringOf(node, key)?.value ?? null;
}

/** A member as a count, for tokens and places: a whole number from 0; else `null`. */
export function countOf(node: JsonNode | null, key: string): number | null {
  const value = memberOf(node, key);
  return value?.kind === 'number' && Number.isSafeInteger(value.value) && value.value >= 0
    ? value.value
    : null;
}

/** The largest of several counts: servers differ in which of them they read. `null` if there is none. */
export function largestCountOf(node: JsonNode | null, keys: readonly string[]): number | null {
  const counts = keys.map((key) => countOf(node, key)).filter((count) => count !== null);
  return counts.length === 0 ? null : Math.max(...counts);
}

/** Whether a member is `true`. */
export function isTrue(node: JsonNode | null, key: string): boolean {
  return memberOf(node, key)?.kind === 'true';
}

/** Whether a body or an event tells an error of the provider. Some have a member for it that is always there. */
export function tellsError(node: JsonNode | null): boolean {
  const error = memberOf(node, 'error');
  return error?.kind === 'object' || (error?.kind === 'string' && error.value !== '');
}

/**
 * The one text of a member that must not be told in two ways, such as the type of a part that decides whether
 * its data is looked at. `null` where there are several, or none.
 */
export function onlyTextOf(node: JsonNode | null, key: string): string | null {
  const found = membersOf(node).filter((each) => each.key.value === key);
  const value = found.length === 1 ? found[0]!.value : null;
  return value?.kind === 'string' ? value.value : null;
}
