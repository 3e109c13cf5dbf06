import { findNodeAtLocation, type Node } from 'jsonc-parser';
import type { Json } from '../../../core/types/index.ts';
import { parseSettingsTree, SettingsFailure } from '../settings-document.ts';
import type { DocumentPath, TextEdit } from './edit.ts';

type JsonFormat = 'json' | 'jsonc';

/**
 * Adds a member or an element after the others, in the layout of the file. Comments stay after the value that they
 * follow.
 */
export function insertInJson(
  text: string,
  format: JsonFormat,
  path: DocumentPath,
  value: Json,
): readonly TextEdit[] {
  const tree = parseSettingsTree(text, format);
  let depth = 0;
  let container = tree;
  for (; depth < path.length - 1; depth++) {
    const next = findNodeAtLocation(container, [path[depth]!]);
    if (next === undefined) break;
    container = next;
  }
  const key = path[depth]!;
  const isFitting = key === '-' ? container.type === 'array' : container.type === 'object';
  if (!isFitting) {
    const where = depth === 0 ? 'its outermost value' : `\`${path.slice(0, depth).join('.')}\``;
    throw new SettingsFailure(`has something other than ${key === '-' ? 'a list' : 'an object'} at ${where}`);
  }
  const whole = path
    .slice(depth + 1)
    .reduceRight<Json>((inner, each) => (each === '-' ? [inner] : { [each]: inner }), value);
  return appendTo(text, container, key === '-' ? null : String(key), whole);
}

/** Replaces a value. */
export function replaceInJson(
  text: string,
  format: JsonFormat,
  path: DocumentPath,
  value: Json,
): readonly TextEdit[] {
  const node = findNode(parseSettingsTree(text, format), path);
  const content = formatValue(
    value,
    readLineIndent(text, node.offset),
    readLayout(text),
    isOnOneLine(text, node),
  );
  return [{ offset: node.offset, length: node.length, content }];
}

/** Removes a member or an element and the one comma that belongs to it. */
export function removeFromJson(text: string, format: JsonFormat, path: DocumentPath): readonly TextEdit[] {
  const value = findNode(parseSettingsTree(text, format), path);
  const node = value.parent?.type === 'property' ? value.parent : value;
  const container = node.parent;
  if (container === undefined) throw new SettingsFailure('cannot lose its outermost value');
  const others = container.children ?? [];
  const index = others.indexOf(node);
  const end = node.offset + node.length;
  const close = container.offset + container.length - 1;
  const comma = findComma(text, end, others[index + 1]?.offset ?? close);
  const before = findBlankStart(text, node.offset);
  if (comma === -1) {
    const start = findRemovalStart(text, before, node.offset, text.slice(end, close));
    const previous = others[index - 1];
    if (previous === undefined) return removeOnlyChild(text, container, start, end);
    const at = findComma(text, previous.offset + previous.length, node.offset);
    const from = Math.max(at + 1, start);
    return [
      { offset: at, length: 1, content: '' },
      { offset: from, length: end - from, content: '' },
    ];
  }
  const line = /^[^\S\n]*/.exec(text.slice(comma + 1))![0].length;
  const endsLine = ['\n', '\r'].includes(text[comma + 1 + line] ?? '\n');
  const beginsLine = text.slice(before, node.offset).includes('\n');
  const isBare = text.slice(end, comma).trim() === '';
  if (beginsLine && endsLine && isBare)
    return [
      { offset: before, length: end - before, content: '' },
      { offset: comma, length: 1, content: '' },
    ];
  return [
    { offset: node.offset, length: node.length, content: '' },
    { offset: comma, length: 1 + line, content: '' },
  ];
}

/**
 * Returns the offset at which a removal begins: before the blanks, unless the rest of the line would then join a
 * comment.
 */
function findRemovalStart(text: string, before: number, offset: number, following: string): number {
  const line = text.slice(text.lastIndexOf('\n', before - 1) + 1, before);
  return line.includes('//') && !/^[^\S\n]*\n/.test(following) ? offset : before;
}

/** Removes the only child with the blanks around it. A comment stays. */
function removeOnlyChild(text: string, container: Node, before: number, end: number): readonly TextEdit[] {
  const open = container.offset + 1;
  const close = container.offset + container.length - 1;
  const isAlone = before === open && text.slice(end, close).trim() === '';
  return [{ offset: before, length: (isAlone ? close : end) - before, content: '' }];
}

function appendTo(text: string, container: Node, key: string | null, value: Json): readonly TextEdit[] {
  const style = readLayout(text);
  const others = container.children ?? [];
  const close = container.offset + container.length - 1;
  const last = others.at(-1);
  const from = last === undefined ? container.offset + 1 : last.offset + last.length;
  const at = from + text.slice(from, close).trimEnd().length;
  const outer = readLineIndent(text, container.offset);
  const label = key === null ? '' : `${JSON.stringify(key)}:`;
  if (last === undefined) {
    const indent = `${outer}${style.unit}`;
    const laidOut = `${label}${label && ' '}${formatValue(value, indent, style, false)}`;
    return [
      { offset: at, length: close - at, content: `${style.eol}${indent}${laidOut}${style.eol}${outer}` },
    ];
  }
  const compact = isOnOneLine(text, container);
  const indent = readFirstIndent(text, others[0]!) ?? `${outer}${style.unit}`;
  const comma = findComma(text, from, close);
  const content = [
    compact ? ' ' : `${style.eol}${indent}`,
    label,
    label && !compact ? ' ' : '',
    formatValue(value, indent, style, compact),
    comma === -1 ? '' : ',',
  ].join('');
  if (comma !== -1) return [{ offset: at, length: 0, content }];
  if (at === from) return [{ offset: at, length: 0, content: `,${content}` }];
  return [
    { offset: from, length: 0, content: ',' },
    { offset: at, length: 0, content },
  ];
}

interface Layout {
  readonly unit: string;
  readonly eol: string;
}

/** Reads the layout of a file from its first indented line. */
function readLayout(text: string): Layout {
  const unit = /\n(\t|[ ]{1,8})\S/.exec(text)?.[1] ?? '  ';
  return { unit, eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

function formatValue(value: Json, indent: string, { unit, eol }: Layout, compact: boolean): string {
  return compact
    ? JSON.stringify(value)
    : JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indent}`);
}

function isOnOneLine(text: string, { offset, length }: Node): boolean {
  return !text.slice(offset, offset + length).includes('\n');
}

function readLineIndent(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[\t ]*/.exec(text.slice(start, offset))![0];
}

/** Returns the indentation of a node that begins its line; `null` for any other node. */
function readFirstIndent(text: string, { offset }: Node): string | null {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(start, offset);
  return start > 0 && before.trim() === '' ? before : null;
}

function findBlankStart(text: string, offset: number): number {
  return text.slice(0, offset).trimEnd().length;
}

/**
 * Returns the offset of the comma between two offsets that are otherwise separated by blanks and comments; -1 if none.
 */
function findComma(text: string, from: number, to: number): number {
  const separator = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
  separator.lastIndex = from;
  separator.exec(text);
  return separator.lastIndex < to && text[separator.lastIndex] === ',' ? separator.lastIndex : -1;
}

function findNode(tree: Node, path: DocumentPath): Node {
  const node = findNodeAtLocation(tree, [...path]);
  if (node === undefined) throw new SettingsFailure(`has nothing at \`${path.join('.')}\``);
  return node;
}
