import { writeContentJson } from '../../core/json/source.ts';
import { quoteJson } from '../../core/json/splice.ts';
import type { Content } from '../../core/types/index.ts';
import type { Splice, StringNode } from '../../core/types/json.ts';

/** Several texts as what crosses: one is a text, more are a list, so that a change can be brought back to each. */
export function buildTextsContent(texts: readonly string[]): Content {
  const [first] = texts;
  return texts.length === 1 ? { kind: 'text', text: first! } : { kind: 'json', value: texts };
}

/** The texts in a content that was made of so many; `null` where it is no such list any more. */
export function extractTexts(content: Content, count: number): readonly string[] | null {
  if (content.kind === 'text') return count === 1 ? [content.text] : null;
  const { value } = content;
  if (!Array.isArray(value) || value.length !== count) return null;
  return value.every((each) => typeof each === 'string') ? (value as readonly string[]) : null;
}

/** A content as a text: a value as JSON. */
export function formatContent(content: Content): string {
  return content.kind === 'text' ? content.text : writeContentJson(content);
}

/** Writes the strings anew whose texts have changed. */
export function buildTextSplices(nodes: readonly StringNode[], texts: readonly string[]): Splice[] {
  return nodes.flatMap((node, at) => (texts[at] === node.value ? [] : [buildStringSplice(node, texts[at]!)]));
}

/** Another text in place of a string. */
export function buildStringSplice(
  { start, end }: { readonly start: number; readonly end: number },
  text: string,
): Splice {
  return { start, end, text: quoteJson(text) };
}
