/** Reads the examples of pages and compares them with real output. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './checkout.ts';
import { matchesShown } from './shown-output.ts';

export interface Block {
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

/** Returns the fenced blocks of a Markdown text, in order. */
export function getBlocks(markdown: string): Block[] {
  const found = markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm);
  return [...found].map(({ 1: language = '', 2: text = '', index }) => ({
    line: markdown.slice(0, index).split('\n').length,
    language,
    text: text.trim(),
  }));
}

/** Asserts that `actual` has all members of `shown`, and lists of the same length. `...` in a text is any text. */
export function assertShown(actual: unknown, shown: unknown, path: string): void {
  if (typeof actual === 'string' && typeof shown === 'string' && shown.includes('...')) {
    assert.ok(matchesShown(actual, shown), `${path}: ${actual}`);
    return;
  }
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

export interface PageLink {
  readonly path: string;
  readonly anchor: string;
  readonly line: number;
}

/** Returns the Markdown files of the repository that people read: not those of tests or of installed packages. */
export function markdownFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((path) => path !== '' && !path.startsWith('tests/') && existsSync(join(root, path)));
}

/** Returns the links to files of the repository; links in code are examples. */
export function getLinks(markdown: string): PageLink[] {
  const text = withoutFences(markdown).replaceAll(/`[^`\n]*`(?!\])/g, (code) =>
    code.includes('](') ? '' : code,
  );
  const found = text.matchAll(
    /\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)|(?:src|href|srcset)="(?![a-z]+:)([^"#]+)"/g,
  );
  return [...found].map(({ 1: path, 2: anchor = '', 3: source, index }) => ({
    path: path ?? source ?? '',
    anchor,
    line: text.slice(0, index).split('\n').length,
  }));
}

/** Returns the anchors of the headings, as GitHub and the documentation site name them. */
export function getAnchors(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const { 1: title = '' } of withoutFences(markdown).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = title
      .replaceAll(/\]\([^)]*\)/g, '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Replaces fenced blocks by as many empty lines. */
function withoutFences(markdown: string): string {
  return markdown.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, (block) => block.replaceAll(/[^\n]/g, ''));
}
