import { parseJsonTree } from '../../core/json/json-tree.ts';
import type { JsonNode } from '../../core/types/json.ts';

/** Enough digits that a double may not hold them. A cheap look at the text, for most have none. */
const MANY_DIGITS = /\d(?:\.?\d){15}/;
const LIMITS = { depth_max: 256, nodes_max: 5_000_000 };

/**
 * The numbers of a JSON text whose digits are lost where it is read into doubles, as they stand in the text. What is
 * judged as a value has other digits than those that are sent, so that these are judged by themselves.
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
