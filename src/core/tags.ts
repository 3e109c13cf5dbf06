import type { Tag } from './types/index.ts';

const TAG = /^[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)*$/;
/** UTF-16 units of one tag. */
const TAG_LENGTH_MAX = 128;

/** What a declared tag that is none becomes: no rule but one of its own name can let it through. */
const MALFORMED: Tag = 'malformed';

/** Whether a text is a tag as it stands: dotted, lower case, letters first. */
export function isTag(text: string): boolean {
  return text.length <= TAG_LENGTH_MAX && TAG.test(text);
}

/** A declared tag as rules see it: lower case; one that is no tag at all becomes `malformed`. */
export function normalizeTag(declared: unknown): Tag {
  const lower = typeof declared === 'string' ? declared.toLowerCase() : '';
  return isTag(lower) ? lower : MALFORMED;
}

/** Whether `tag` is `ancestor` itself or one of its dotted descendants. */
export function covers(ancestor: Tag, tag: Tag): boolean {
  return tag.startsWith(ancestor) && (tag.length === ancestor.length || tag[ancestor.length] === '.');
}

/** Whether any of the ancestors covers the tag. */
export function isCoveredBy(ancestors: readonly Tag[], tag: Tag): boolean {
  return ancestors.some((ancestor) => covers(ancestor, tag));
}

/** Families that say where something comes from or goes to. They are no findings: only a rule acts on them. */
const FACTS: readonly Tag[] = ['egress', 'untrusted', 'host', 'path', 'sql'];

/** Whether a tag is a fact, on which neither built-in rules nor the default action have a say. */
export function isFactTag(tag: Tag): boolean {
  return isCoveredBy(FACTS, tag);
}

/**
 * Whether a name fits a pattern: exact, or with `*` for any run of characters. Letters count as they stand.
 * The parts between the stars are looked for from left to right, so the time is linear.
 */
export function matchesName(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  const first = parts[0] as string;
  if (parts.length === 1) return pattern === name;
  const last = parts[parts.length - 1] as string;
  const end = name.length - last.length;
  if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const at = name.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}

/**
 * Whether a name fits any of the patterns, whatever the case of its letters. Only restrictions compare so: a tool that is
 * called by another spelling of its name does not escape them, and no permission reaches a name that it does not write.
 */
export function matchesAnyCase(patterns: readonly string[], name: string): boolean {
  const folded = foldCase(name);
  return patterns.some((pattern) => matchesName(foldCase(pattern), folded));
}

/** A name without the case of its letters. Upper case first: `\u017F` and `\u0131` are letters whose lower case is their own. */
export function foldCase(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** Whether a name fits any of the patterns. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesName(pattern, name));
}
