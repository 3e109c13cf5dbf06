import { stringify } from 'smol-toml';
import type { Json } from '../../../core/types/index.ts';
import { SettingsFailure } from '../settings-document.ts';
import type { DocumentPath, TextEdit } from './edit.ts';

/** Appends a table. At the end of the file it cannot change the meaning of other tables. */
export function insertInToml(text: string, path: DocumentPath, value: Json): readonly TextEdit[] {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const table = path.reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
  const block = stringify(table).trim().replaceAll('\n', eol);
  const gap = text.trim() === '' ? '' : text.endsWith('\n') ? eol : `${eol}${eol}`;
  return [{ offset: text.length, length: 0, content: `${gap}${block}${eol}` }];
}

/** Removes a table with its subtables and the blank line before it. */
export function removeFromToml(text: string, path: DocumentPath): readonly TextEdit[] {
  const edits: TextEdit[] = [];
  if (!path.every((key) => /^[\w-]+$/.test(String(key)))) throw buildUnsupportedFormFailure(path);
  const heads = [...text.matchAll(/^[\t ]*\[([^\n]*)/gm)];
  for (const [at, head] of heads.entries()) {
    if (!isBelow(head[1]!, path)) continue;
    const before = /(?:\r?\n)?$/.exec(text.slice(0, head.index).replace(/\r?\n$/, ''))![0].length;
    const start = head.index - before;
    const end = heads[at + 1]?.index ?? text.length;
    edits.push({ offset: start, length: end - start, content: '' });
  }
  if (edits.length === 0) throw buildUnsupportedFormFailure(path);
  return edits;
}

function buildUnsupportedFormFailure(path: DocumentPath): SettingsFailure {
  return new SettingsFailure(
    `has \`${path.join('.')}\` in a form that setup cannot remove; remove it by hand`,
  );
}

/** Returns whether a table header, without its first bracket, names the table at `path` or a subtable. */
function isBelow(head: string, path: DocumentPath): boolean {
  const names = path.map((key) => `\\s*(?:${key}|"${key}"|'${key}')\\s*`);
  return new RegExp(`^${names.join('\\.')}[\\].]`).test(head);
}
