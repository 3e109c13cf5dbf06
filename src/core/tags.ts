import type { Tag } from './types/index.ts';

const TAG = /^[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)*$/;
/** UTF-16 units of one tag. */
const TAG_LENGTH_MAX = 128;

/** Replaces a declared tag that is not valid. Only a rule that names `malformed` can allow it. */
const MALFORMED: Tag = 'malformed';

/** Returns whether a text is a valid tag: lower case, dotted, starting with a letter. */
export function isTag(text: string): boolean {
  return text.length <= TAG_LENGTH_MAX && TAG.test(text);
}

/** Returns a declared tag in lower case, or `malformed` if it is not a valid tag. */
export function normalizeTag(declared: unknown): Tag {
  const lower = typeof declared === 'string' ? declared.toLowerCase() : '';
  return isTag(lower) ? lower : MALFORMED;
}

/** Returns whether `tag` is `ancestor` or one of its dotted descendants. */
export function covers(ancestor: Tag, tag: Tag): boolean {
  return tag.startsWith(ancestor) && (tag.length === ancestor.length || tag[ancestor.length] === '.');
}

/** Returns whether any of the ancestors covers the tag. */
export function isCoveredBy(ancestors: readonly Tag[], tag: Tag): boolean {
  return ancestors.some((ancestor) => covers(ancestor, tag));
}

/** Tag families that describe the source or target of data. They are not findings: only a rule acts on them. */
const FACTS: readonly Tag[] = ['egress', 'untrusted', 'host', 'path', 'sql'];

/** Returns whether a tag is a fact tag. Built-in rules and the default action ignore fact tags. */
export function isFactTag(tag: Tag): boolean {
  return isCoveredBy(FACTS, tag);
}

/** Tag family for sources that are private to the person. As the only family in a contract it marks the session. */
const PRIVATE: Tag = 'private';

/** Returns whether a tag describes a source: a fact tag, or `private.*`. */
export function isSourceTag(tag: Tag): boolean {
  return isFactTag(tag) || covers(PRIVATE, tag);
}

/**
 * Returns the tags that limit a result, from a contract's `emits.tags`; `null` if none limits it. Tags that only describe the
 * source mark the session and limit nothing. An empty list permits no tag.
 */
export function listLimitingTags(emitted: readonly Tag[] | null): readonly Tag[] | null {
  if (emitted === null || (emitted.length > 0 && emitted.every(isSourceTag))) return null;
  return emitted.filter((tag) => !isFactTag(tag));
}

/**
 * Returns whether a name matches a pattern. `*` matches any run of characters; all other characters match exactly, in
 * the same case. The parts between the stars are searched from left to right, so the time is linear.
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
 * Returns whether a name matches any of the patterns, ignoring case. Only restrictions use it: a tool cannot escape
 * them with another spelling of its name, and a permission never covers a name that it does not spell exactly.
 */
export function matchesAnyCase(patterns: readonly string[], name: string): boolean {
  const folded = foldCase(name);
  return patterns.some((pattern) => matchesName(foldCase(pattern), folded));
}

/**
 * Returns a name with its case folded. Converts to upper case first, because `\u017F` and `\u0131` are their own
 * lower case.
 */
export function foldCase(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** Returns whether a name matches any of the patterns. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesName(pattern, name));
}
