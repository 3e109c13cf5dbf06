/** What pages show, and whether it is so. */
import assert from 'node:assert/strict';

export interface Block {
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a Markdown text, in their order. */
export function blocksOf(markdown: string): Block[] {
  const found = markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm);
  return [...found].map(({ 1: language = '', 2: text = '', index }) => ({
    line: markdown.slice(0, index).split('\n').length,
    language,
    text: text.trim(),
  }));
}

/** Whether `actual` has all that `shown` has; lists have as many elements. */
export function assertShown(actual: unknown, shown: unknown, path: string): void {
  if (typeof shown !== 'object' || shown === null) {
    assert.deepEqual(actual, shown, path);
    return;
  }
  assert.ok(typeof actual === 'object' && actual !== null, path);
  if (Array.isArray(shown)) assert.equal((actual as unknown[]).length, shown.length, path);
  for (const [key, value] of Object.entries(shown)) {
    assertShown((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
  }
}
