import { writeContentJson } from '../../core/json/source.ts';
import { quoteJson } from '../../core/json/splice.ts';
import type { Content } from '../../core/types/index.ts';
import type { Splice, StringNode } from '../../core/types/json.ts';

/**
 * Builds one content of several texts: a single text stays a text, several become a list, so that each change can be
 * mapped back.
 */
export function buildTextsContent(texts: readonly string[]): Content {
  const [first] = texts;
  return texts.length === 1 ? { kind: 'text', text: first! } : { kind: 'json', value: texts };
}

/** Returns the texts of a content that was built of `count` texts; `null` if it is no longer such a list. */
export function extractTexts(content: Content, count: number): readonly string[] | null {
  if (content.kind === 'text') return count === 1 ? [content.text] : null;
  const { value } = content;
  if (!Array.isArray(value) || value.length !== count) return null;
  return value.every((each) => typeof each === 'string') ? (value as readonly string[]) : null;
}

/** Returns a content as text; JSON is serialized. */
export function formatContent(content: Content): string {
  return content.kind === 'text' ? content.text : writeContentJson(content);
}

/** Builds a splice for each string whose text has changed. */
export function buildTextSplices(nodes: readonly StringNode[], texts: readonly string[]): Splice[] {
  return nodes.flatMap((node, at) => (texts[at] === node.value ? [] : [buildStringSplice(node, texts[at]!)]));
}

/** Builds a splice that replaces a string. */
export function buildStringSplice(
  { start, end }: { readonly start: number; readonly end: number },
  text: string,
): Splice {
  return { start, end, text: quoteJson(text) };
}
