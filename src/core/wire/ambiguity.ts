import type { JsonNode } from '../types/json.ts';
import { toCamelCase } from './gemini-vocabulary.ts';
import type { MemberMeaning, WireVocabulary } from './vocabulary.ts';

/**
 * Returns whether all clients read the same values in an answer. JSON parsers differ in which of two members of one
 * name they use, some match names without regard to case, Gemini's accept each name in camel case and snake case,
 * and in JavaScript a member `__proto__` can become the prototype of the object it is copied to. Values that the
 * author of a call makes up, and members unknown to every protocol, are not checked: their texts are judged one by
 * one.
 */
export function isUnambiguous(root: JsonNode, vocabulary: WireVocabulary): boolean {
  const folded = getFoldedKeys(vocabulary);
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
        if (key.value === '__proto__' || folded.has(foldKey(key.value))) return false;
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

/** Returns the keys of a protocol in lower case, as a parser that ignores case reads them. */
function getFoldedKeys(vocabulary: WireVocabulary): ReadonlySet<string> {
  let folded = folds.get(vocabulary);
  if (folded === undefined) {
    folded = new Set([...vocabulary.keys()].map(foldKey));
    folds.set(vocabulary, folded);
  }
  return folded;
}

function foldKey(key: string): string {
  return key.normalize('NFKC').toLowerCase();
}
