import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { CATEGORY_FACTS, type Category } from './category.ts';

/** A part of a row's text that must be detected: UTF-16 offsets, end exclusive. */
export interface LabelledSpan {
  readonly start: number;
  readonly end: number;
  readonly type: string;
}

/** One labelled text. */
export interface CorpusRow {
  /** The line in the file, from 1. */
  readonly line: number;
  readonly id: string;
  readonly text: string;
  readonly label: string;
  readonly labels: readonly LabelledSpan[];
  /** The row's source, type and tier of difficulty; `type` and `tier` are `null` if the file does not state them. */
  readonly source: string;
  readonly type: string | null;
  readonly tier: string | null;
  /** The operating system of a command. */
  readonly os: string | null;
}

/** The limits of a file of labelled rows. A file that exceeds one is rejected. */
export const CORPUS_LIMITS = {
  /** Bytes of one line. */
  line_bytes_max: 16 * 1024 * 1024,
  rows_max: 1_000_000,
  /** Labelled spans in one row. */
  labels_max: 1_000,
  /** UTF-16 units of an id, a source, a type or a tier. */
  name_units_max: 200,
} as const;

/** An error in a corpus file: a message and the number of the invalid line. It contains no text of the file. */
export class CorpusError extends Error {
  readonly code = 'corpus_invalid';
  readonly details: readonly {
    readonly file: string;
    readonly path: string;
    readonly line?: number;
    readonly message: string;
  }[];

  constructor(file: string, line: number | null, message: string) {
    super(line === null ? `\`${file}\` ${message}` : `\`${file}\` is no file of labelled rows.`);
    this.name = 'CorpusError';
    this.details = line === null ? [] : [{ file, path: '', line, message }];
  }
}

/**
 * Reads the rows of a JSON Lines file one after the other, with at most one line in memory. Decompresses a file whose
 * name ends in `.gz`. Skips empty lines.
 * @param asGiven the file's name in messages
 * @throws CorpusError at the first line that is not a row of the category; the system's error if the file cannot be
 * read
 */
export async function* readCorpus(
  path: string,
  asGiven: string,
  category: Category,
): AsyncGenerator<CorpusRow> {
  const ids = new Set<string>();
  let number = 0;
  try {
    for await (const bytes of readLines(openBytes(path), asGiven)) {
      number += 1;
      if (bytes.every(isSpace)) continue;
      const row = parseRow(bytes, number, asGiven, category);
      if (ids.has(row.id)) throw new CorpusError(asGiven, number, 'The id is already on an earlier line.');
      ids.add(row.id);
      if (ids.size > CORPUS_LIMITS.rows_max)
        throw new CorpusError(asGiven, null, `has more than ${CORPUS_LIMITS.rows_max} rows.`);
      yield row;
    }
  } catch (error) {
    throw isGzipError(error)
      ? new CorpusError(asGiven, null, 'cannot be unpacked as gzip.')
      : addFileName(error, asGiven);
  }
  if (ids.size === 0) throw new CorpusError(asGiven, null, 'has no row.');
}

function openBytes(path: string): AsyncIterable<Buffer> {
  const file = createReadStream(path);
  if (!path.endsWith('.gz')) return file;
  const unpacked = createGunzip();
  // `pipe` does not forward errors.
  file.once('error', (error) => unpacked.destroy(error));
  unpacked.once('close', () => file.destroy());
  return file.pipe(unpacked);
}

function isGzipError(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code?.startsWith('Z_') ?? false;
}

/** Opening a folder fails only at the first read, and the error of Node then has no path. */
function addFileName(error: unknown, asGiven: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined || error instanceof CorpusError
    ? error
    : Object.assign(error as Error, { path: asGiven });
}

const LINE_FEED = 10;

function isSpace(byte: number): boolean {
  return byte === 13 || byte === 32 || byte === 9;
}

async function* readLines(stream: AsyncIterable<Buffer>, asGiven: string): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let number = 1;
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      pieces.push(chunk.subarray(from, end));
      yield Buffer.concat(pieces);
      pieces = [];
      bytes = 0;
      number += 1;
      from = end + 1;
    }
    pieces.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > CORPUS_LIMITS.line_bytes_max)
      throw new CorpusError(asGiven, number, `The line is over ${CORPUS_LIMITS.line_bytes_max} bytes.`);
  }
  if (bytes > 0) yield Buffer.concat(pieces);
}

function parseRow(bytes: Buffer, line: number, asGiven: string, category: Category): CorpusRow {
  const refuse = (message: string): never => {
    throw new CorpusError(asGiven, line, message);
  };
  const value = parseObject(bytes, refuse);
  const text = value.text;
  if (typeof text !== 'string') return refuse('`text` must be a string.');
  const { positive } = CATEGORY_FACTS[category];
  const label = value.label;
  if (
    typeof label !== 'string' ||
    !(label === positive || label === 'benign' || label.startsWith('benign-for:'))
  )
    return refuse(`\`label\` must be \`${positive}\` or \`benign\`.`);
  return {
    line,
    id: readName(value, 'id', refuse) || refuse('`id` must be a string of at least one character.'),
    text,
    label,
    labels: readLabels(value.labels, text.length, refuse),
    source: readName(value, 'source', refuse) ?? 'unnamed',
    type: readName(value, 'type', refuse),
    tier: readName(value, 'tier', refuse),
    os: readName(value, 'os', refuse),
  };
}

type Refuse = (message: string) => never;

/** The parser's own message would quote a part of the line. */
function parseObject(bytes: Buffer, refuse: Refuse): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return refuse('The line is not one JSON value in UTF-8.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse('The line is not a JSON object.');
  return value as Readonly<Record<string, unknown>>;
}

/**
 * Returns a name, or `null` if it is absent. Some corpora write a list as `tier`; a list is ignored, because it does
 * not name a group of figures.
 */
function readName(value: Readonly<Record<string, unknown>>, field: string, refuse: Refuse): string | null {
  const name = value[field];
  if (name === undefined || name === null || Array.isArray(name)) return null;
  if (typeof name !== 'string' || name.length > CORPUS_LIMITS.name_units_max)
    return refuse(`\`${field}\` must be a string of at most ${CORPUS_LIMITS.name_units_max} characters.`);
  return name;
}

function readLabels(labels: unknown, textUnits: number, refuse: Refuse): readonly LabelledSpan[] {
  if (labels === undefined || labels === null) return [];
  if (!Array.isArray(labels) || labels.length > CORPUS_LIMITS.labels_max)
    return refuse(`\`labels\` must be a list of at most ${CORPUS_LIMITS.labels_max}.`);
  return labels.map((label: Partial<LabelledSpan> | null, at) => {
    const { start, end, type } = label ?? {};
    if (!isOffset(start, textUnits) || !isOffset(end, textUnits) || start >= end)
      return refuse(`\`labels[${at}]\` must have \`start\` and \`end\` within the text, in UTF-16 units.`);
    if (typeof type !== 'string' || type.length > CORPUS_LIMITS.name_units_max)
      return refuse(
        `\`labels[${at}].type\` must be a string of at most ${CORPUS_LIMITS.name_units_max} characters.`,
      );
    return { start, end, type };
  });
}

function isOffset(value: unknown, textUnits: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= textUnits;
}
