import type { JsonMember, JsonNode, StringNode } from '../types/json.ts';

/** The members of an object; of anything else none. */
export function getMembers(node: JsonNode | null): readonly JsonMember[] {
  return node?.kind === 'object' ? node.members : [];
}

/** The items of an array; of anything else none. */
export function getItems(node: JsonNode | null): readonly JsonNode[] {
  return node?.kind === 'array' ? node.items : [];
}

/** The member's value; of several equal keys the last one, as clients and providers read them. */
export function getMember(node: JsonNode | null, key: string): JsonNode | null {
  return getMembers(node).findLast((each) => each.key.value === key)?.value ?? null;
}

/** The member's value where it is a string. */
export function getStringNode(node: JsonNode | null, key: string): StringNode | null {
  const value = getMember(node, key);
  return value?.kind === 'string' ? value : null;
}

/** The text of a member; `null` where it is no string. */
export function getText(node: JsonNode | null, key: string): string | null {
  return getStringNode(node, key)?.value ?? null;
}

/** A member as a count, for tokens and places: a whole number from 0; else `null`. */
export function getCount(node: JsonNode | null, key: string): number | null {
  const value = getMember(node, key);
  return value?.kind === 'number' && Number.isSafeInteger(value.value) && value.value >= 0
    ? value.value
    : null;
}

/** All strings in a value, keys included. */
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

/** A member as a place in a list: a count, `absent` if there is none, and `null` if it is anything else. */
export function getListIndex(node: JsonNode | null, key: string, absent: number | null): number | null {
  const value = getMember(node, key);
  return value === null || value.kind === 'null' ? absent : getCount(node, key);
}

/**
 * The largest count among all members with these names. Servers differ in which name of a limit they read, and which
 * member of several. `null` if there is none, or if one of them is no count: then nobody knows the limit.
 */
export function findLargestCount(
  holders: readonly (JsonNode | null)[],
  names: readonly string[],
  read: (holder: JsonNode, key: string) => number | null = getCount,
): number | null {
  const said = holders
    .flatMap(getMembers)
    .filter(({ key, value }) => names.includes(key.value) && value.kind !== 'null');
  if (said.length === 0) return null;
  const counts = said.map((member) => read({ ...NO_OBJECT, members: [member] }, member.key.value));
  return counts.some((count) => count === null) ? null : Math.max(...counts.map(Number));
}

const NO_OBJECT = { kind: 'object', start: 0, end: 0 } as const;

/** Whether a member is `true`. */
export function isMemberTrue(node: JsonNode | null, key: string): boolean {
  return getMember(node, key)?.kind === 'true';
}

/** Whether a body or an event tells an error of the provider. Some have a member for it that is always there. */
export function hasProviderError(node: JsonNode | null): boolean {
  const error = getMember(node, 'error');
  return error?.kind === 'object' || (error?.kind === 'string' && error.value !== '');
}

/**
 * The one text of a member that must not be told in two ways, such as the type of a part that decides whether
 * its data is looked at. `null` where there are several, or none.
 */
export function getUniqueText(node: JsonNode | null, key: string): string | null {
  const found = getMembers(node).filter((each) => each.key.value === key);
  const value = found.length === 1 ? found[0]!.value : null;
  return value?.kind === 'string' ? value.value : null;
}
