import type { JsonMember, JsonNode, StringNode } from '../types/json.ts';

/** Returns the members of an object; of any other node an empty list. */
export function getMembers(node: JsonNode | null): readonly JsonMember[] {
  return node?.kind === 'object' ? node.members : [];
}

/** Returns the items of an array; of any other node an empty list. */
export function getItems(node: JsonNode | null): readonly JsonNode[] {
  return node?.kind === 'array' ? node.items : [];
}

/**
 * Returns the value of a member. Of duplicate keys the last one counts, because clients and providers read that
 * one.
 */
export function getMember(node: JsonNode | null, key: string): JsonNode | null {
  return getMembers(node).findLast((each) => each.key.value === key)?.value ?? null;
}

/** Returns the node of a member if it is a string, else `null`. */
export function getStringNode(node: JsonNode | null, key: string): StringNode | null {
  const value = getMember(node, key);
  return value?.kind === 'string' ? value : null;
}

/** Returns the text of a member; `null` if it is not a string. */
export function getText(node: JsonNode | null, key: string): string | null {
  return getStringNode(node, key)?.value ?? null;
}

/** Returns a member as a count of tokens or an index: an integer from 0 on; else `null`. */
export function getCount(node: JsonNode | null, key: string): number | null {
  const value = getMember(node, key);
  return value?.kind === 'number' && Number.isSafeInteger(value.value) && value.value >= 0
    ? value.value
    : null;
}

/** Returns all strings in a value, including keys. */
export function listStrings(root: JsonNode): readonly StringNode[] {
  const found: StringNode[] = [];
  const ahead: JsonNode[] = [root];
  for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
    if (node.kind === 'string') found.push(node);
    for (const item of getItems(node)) ahead.push(item);
    for (const { key, value } of getMembers(node)) ahead.push(key, value);
  }
  return found;
}

/**
 * Returns a member as a list index: `absent` if the member is missing or `null`, and `null` if it is not a count.
 */
export function getListIndex(node: JsonNode | null, key: string, absent: number | null): number | null {
  const value = getMember(node, key);
  return value === null || value.kind === 'null' ? absent : getCount(node, key);
}

/**
 * Returns the largest count among all members with these names. Servers differ in which name of a limit they read,
 * and in which of several members. `null` if there is no such member, or if one of them is not a count: then the
 * limit is unknown.
 */
export function findLargestCount(
  holders: readonly (JsonNode | null)[],
  names: readonly string[],
  read: (holder: JsonNode, key: string) => number | null = getCount,
): number | null {
  const stated = holders
    .flatMap(getMembers)
    .filter(({ key, value }) => names.includes(key.value) && value.kind !== 'null');
  if (stated.length === 0) return null;
  const counts = stated.map((member) => read({ ...NO_OBJECT, members: [member] }, member.key.value));
  return counts.some((count) => count === null) ? null : Math.max(...counts.map(Number));
}

const NO_OBJECT = { kind: 'object', start: 0, end: 0 } as const;

/** Returns whether a member is `true`. */
export function isMemberTrue(node: JsonNode | null, key: string): boolean {
  return getMember(node, key)?.kind === 'true';
}

/**
 * Returns whether a body or an event carries an error of the provider. Some providers always send an `error`
 * member, so `null` and an empty string do not count.
 */
export function hasProviderError(node: JsonNode | null): boolean {
  const error = getMember(node, 'error');
  return error?.kind === 'object' || (error?.kind === 'string' && error.value !== '');
}

/**
 * Returns the text of a member that must be unambiguous, such as the type of a part, which decides whether its data
 * is scanned. `null` if the member is missing, duplicated or not a string.
 */
export function getUniqueText(node: JsonNode | null, key: string): string | null {
  const found = getMembers(node).filter((each) => each.key.value === key);
  const value = found.length === 1 ? found[0]!.value : null;
  return value?.kind === 'string' ? value.value : null;
}
