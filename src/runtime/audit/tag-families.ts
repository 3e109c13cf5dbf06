/** Limits for the tag index, because callers declare tags freely. The event keeps tags beyond them. */
const TAGS_MAX = 256;
const TAG_CHARS_MAX = 128;

/** Returns each tag and its ancestors, once: `personal.pii` also as `personal`. */
export function listTagFamilies(tags: readonly string[]): Set<string> {
  const all = new Set<string>();
  for (const tag of tags.slice(0, TAGS_MAX)) {
    if (tag.length > TAG_CHARS_MAX) continue;
    for (let end = tag.length; end > 0; end = tag.lastIndexOf('.', end - 1)) all.add(tag.slice(0, end));
  }
  return all;
}
