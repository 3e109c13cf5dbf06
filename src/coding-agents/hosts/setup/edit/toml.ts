import { stringify } from 'smol-toml';
import type { Json } from '../../../../core/types/index.ts';
import { SettingsFailure } from '../../document.ts';
import type { Edit, Path } from './edit.ts';

/** Adds a table at the end of the file, where it changes the meaning of nothing that stands before it. */
export function insertInToml(text: string, path: Path, value: Json): readonly Edit[] {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const table = path.reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
  const block = stringify(table).trim().replaceAll('\n', eol);
  const gap = text.trim() === '' ? '' : text.endsWith('\n') ? eol : `${eol}${eol}`;
  return [{ offset: text.length, length: 0, content: `${gap}${block}${eol}` }];
}

/** Takes a table out, with the tables below it and the blank line before it. */
export function removeFromToml(text: string, path: Path): readonly Edit[] {
  const edits: Edit[] = [];
  if (!path.every((key) => /^[\w-]+$/.test(String(key)))) throw unfit(path);
  const heads = [...text.matchAll(/^[\t ]*\[([^\n]*)/gm)];
  for (const [at, head] of heads.entries()) {
    if (!isBelow(head[1]!, path)) continue;
    const before = /(?:\r?\n)?$/.exec(text.slice(0, head.index).replace(/\r?\n$/, ''))![0].length;
    const start = head.index - before;
    const end = heads[at + 1]?.index ?? text.length;
    edits.push({ offset: start, length: end - start, content: '' });
  }
  if (edits.length === 0) throw unfit(path);
  return edits;
}

function unfit(path: Path): SettingsFailure {
  return new SettingsFailure(`has \`${path.join('.')}\` in a form that must be removed by hand`);
}

/** Whether the head of a table, without its first bracket, names the table at `path` or one below it. */
function isBelow(head: string, path: Path): boolean {
  const names = path.map((key) => `\\s*(?:${key}|"${key}"|'${key}')\\s*`);
  return new RegExp(`^${names.join('\\.')}[\\].]`).test(head);
}
