import { parseJsonTree } from '../../core/json/json-tree.ts';
import type { JsonNode } from '../../core/types/json.ts';

/** Matches numbers with more digits than a double may hold. This cheap test avoids parsing most texts. */
const MANY_DIGITS = /\d(?:\.?\d){15}/;
const LIMITS = { depth_max: 256, nodes_max: 5_000_000 };

/**
 * Finds the numbers of a JSON text that lose digits when parsed as doubles, as written in the text. The judged value
 * differs from the sent text in these digits, so they are judged separately.
 */
export function findUnjudgedDigits(text: string): string[] {
  if (!MANY_DIGITS.test(text)) return [];
  const root = parseJsonTree(text, LIMITS);
  if (root.kind === 'problem') return [];
  const lost = new Set<string>();
  const ahead: JsonNode[] = [root];
  for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
    if (node.kind === 'array') for (const item of node.items) ahead.push(item);
    else if (node.kind === 'object') for (const { value } of node.members) ahead.push(value);
    else if (node.kind === 'number') {
      const digits = text.slice(node.start, node.end);
      if (readSignificantDigits(digits) !== readSignificantDigits(String(node.value))) lost.add(digits);
    }
  }
  return [...lost];
}

function readSignificantDigits(number: string): string {
  return number
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '');
}
