import type { Json } from '../types/index.ts';
import type { JsonMember, JsonNode } from '../types/json.ts';
import { parseJsonTree } from './json-tree.ts';
import { quoteJson } from './splice.ts';
import type { WalkLimits } from './walk.ts';

/** Deeper or longer texts are not copied from; the whole value is serialized instead. */
const LIMITS: WalkLimits = { depth_max: 256, nodes_max: 5_000_000 };

/**
 * Serializes a value, reusing the JSON text that it was parsed from. Unchanged parts are copied character by
 * character, so numbers keep their digits and the layout stays. Of members with equal keys only the last one is
 * copied, because `JSON.parse` returns that one. If the text is not JSON, the value is serialized without it.
 */
export function rewriteJson(text: string, value: Json): string {
  const node = parseJsonTree(text, LIMITS);
  if (node.kind === 'problem') return JSON.stringify(value);
  const written = rewriteNode(text, node, value);
  return written === null ? text : text.slice(0, node.start) + written + text.slice(node.end);
}

/** Returns the new text of a node; `null` if it is unchanged. `LIMITS` bounds the recursion depth. */
function rewriteNode(text: string, node: JsonNode, value: Json): string | null {
  switch (node.kind) {
    case 'object':
      return isObject(value) ? rewriteObject(text, node, value) : JSON.stringify(value);
    case 'array':
      return Array.isArray(value) && value.length === node.items.length
        ? rewriteArray(text, node, value)
        : JSON.stringify(value);
    case 'string':
    case 'number':
      return node.value === value ? null : JSON.stringify(value);
    default:
      return text.slice(node.start, node.end) === String(value) ? null : JSON.stringify(value);
  }
}

function rewriteArray(
  text: string,
  node: JsonNode & { readonly kind: 'array' },
  value: readonly Json[],
): string | null {
  const items = node.items.map((item, at) => ({ item, written: rewriteNode(text, item, value[at]!) }));
  if (items.every(({ written }) => written === null)) return null;
  let made = '';
  let at = node.start;
  for (const { item, written } of items) {
    made += text.slice(at, item.start) + (written ?? text.slice(item.start, item.end));
    at = item.end;
  }
  return made + text.slice(at, node.end);
}

function rewriteObject(
  text: string,
  { members, start, end }: JsonNode & { readonly kind: 'object' },
  value: { readonly [key: string]: Json },
): string | null {
  const last = new Map(members.map((member) => [member.key.value, member]));
  const isKept = (member: JsonMember) =>
    last.get(member.key.value) === member && Object.hasOwn(value, member.key.value);
  const added = Object.keys(value).filter((key) => !last.has(key));
  let isChanged = added.length > 0;
  const parts: string[] = [];
  for (const [index, member] of members.entries()) {
    if (!isKept(member)) {
      isChanged = true;
      continue;
    }
    const written = rewriteNode(text, member.value, value[member.key.value]!);
    isChanged ||= written !== null;
    const before =
      parts.length === 0 ? text.slice(start, members[0]!.key.start) : getGapBefore(text, members, index);
    parts.push(
      before +
        text.slice(member.key.start, member.value.start) +
        (written ?? text.slice(member.value.start, member.value.end)),
    );
  }
  if (!isChanged) return null;
  for (const key of added)
    parts.push(`${parts.length === 0 ? '{' : ','}${quoteJson(key)}:${JSON.stringify(value[key])}`);
  const closing = members.length === 0 ? '}' : text.slice(members.at(-1)!.value.end, end);
  return parts.length === 0 ? '{}' : parts.join('') + closing;
}

/** Returns the comma and the whitespace before a member. */
function getGapBefore(text: string, members: readonly JsonMember[], index: number): string {
  const before = members[index - 1];
  return before === undefined ? ',' : text.slice(before.value.end, members[index]!.key.start);
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
