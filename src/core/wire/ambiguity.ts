import type { JsonNode } from '../types/json.ts';
import { toCamelCase } from './gemini-vocabulary.ts';
import type { MemberMeaning, WireVocabulary } from './vocabulary.ts';

/**
 * Whether all clients read the same values in an answer. Readers of JSON differ in which of two members of one name
 * they take, some match names without regard to case, Gemini's take each name in camel case and with underscores, and
 * in JavaScript a member `__proto__` can become the prototype of what it is copied to. What is made up by whoever
 * wrote a call, and members that no protocol knows, are not looked into: their texts are judged each by itself.
 */
export function isUnambiguous(root: JsonNode, vocabulary: WireVocabulary): boolean {
  const folded = foldedKeys(vocabulary);
  const ahead: { readonly node: JsonNode; readonly meaning: MemberMeaning }[] = [
    { node: root, meaning: 'said' },
  ];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { node, meaning } = next;
    if (node.kind === 'array') {
      for (const item of node.items)
        if (item.kind === 'object' || item.kind === 'array') ahead.push({ node: item, meaning });
    }
    if (node.kind !== 'object') continue;
    const names = new Set<string>();
    for (const { key, value } of node.members) {
      const known = meaning === 'map' ? 'said' : vocabulary.get(key.value);
      if (known === undefined) {
        if (key.value === '__proto__' || folded.has(fold(key.value))) return false;
        continue;
      }
      const name = toCamelCase(key.value);
      if (names.has(name)) return false;
      names.add(name);
      if (known === 'free') continue;
      if (value.kind === 'object' || value.kind === 'array') ahead.push({ node: value, meaning: known });
    }
  }
  return true;
}

const folds = new WeakMap<WireVocabulary, ReadonlySet<string>>();

/** The keys of a protocol as they look to who does not tell capital letters from small ones. */
function foldedKeys(vocabulary: WireVocabulary): ReadonlySet<string> {
  let folded = folds.get(vocabulary);
  if (folded === undefined) {
    folded = new Set([...vocabulary.keys()].map(fold));
    folds.set(vocabulary, folded);
  }
  return folded;
}

function fold(key: string): string {
  return key.normalize('NFKC').toLowerCase();
}
