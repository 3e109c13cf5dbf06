import { glob, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type LinesRead, linesOf } from './lines.ts';
import type { Transcript, TranscriptForm } from './transcript.ts';

/** The newest files that are read for one host, and how many are looked at for it. */
const FILES_READ_MAX = 500;
const FILES_LOOKED_AT_MAX = 20_000;
/** Lines that are read whatever is in them: who the session is stands first. */
const FIRST_LINES = 20;
/** The largest file that is one JSON document, in bytes. */
const DOCUMENT_BYTES_MAX = 33_554_432;

/** The transcripts of a host that were written since a time. */
export interface TranscriptsRead {
  /** One for each file. */
  readonly transcripts: readonly Transcript[];
  readonly file_count: number;
  /** Files, lines and rests that could not be read, or are more than is read. */
  readonly left_out: number;
}

/**
 * Reads what a host wrote down of its sessions. Of what is in it, names and times are kept, and nothing else.
 * @param place - files below `folder` that fit a glob pattern
 */
export async function readTranscripts(
  form: TranscriptForm,
  place: { readonly folder: string; readonly pattern: string },
  since_ms: number,
): Promise<TranscriptsRead> {
  const { files, left_out } = await newFiles(place, since_ms);
  const read: LinesRead = { left_out };
  const transcripts: Transcript[] = [];
  for (const file of files) {
    const taker = form.open();
    try {
      for await (const value of valuesOf(file, form.marks, read)) taker.take(value);
    } catch {
      read.left_out += 1;
    }
    const transcript = taker.done();
    if (transcript !== null) transcripts.push(transcript);
  }
  return { transcripts, file_count: files.length, left_out: read.left_out };
}

async function newFiles(
  { folder, pattern }: { readonly folder: string; readonly pattern: string },
  since_ms: number,
): Promise<{ readonly files: readonly string[]; readonly left_out: number }> {
  const found: { path: string; mtime_ms: number }[] = [];
  let looked_at = 0;
  let left_out = 0;
  for await (const name of glob(pattern, { cwd: folder })) {
    looked_at += 1;
    if (looked_at > FILES_LOOKED_AT_MAX) {
      left_out += 1;
      break;
    }
    const path = join(folder, name);
    const stats = await stat(path).catch(() => null);
    if (stats === null) left_out += 1;
    else if (stats.isFile() && stats.mtimeMs >= since_ms) found.push({ path, mtime_ms: stats.mtimeMs });
  }
  found.sort((a, b) => b.mtime_ms - a.mtime_ms);
  const files = found.slice(0, FILES_READ_MAX).map(({ path }) => path);
  return { files, left_out: left_out + found.length - files.length };
}

async function* valuesOf(file: string, marks: readonly string[], read: LinesRead): AsyncGenerator<unknown> {
  if (file.endsWith('.json')) {
    const { size } = await stat(file);
    if (size > DOCUMENT_BYTES_MAX) read.left_out += 1;
    else yield JSON.parse(await readFile(file, 'utf8'));
    return;
  }
  let line_count = 0;
  for await (const { bytes, is_ended } of linesOf(file, read)) {
    line_count += 1;
    if (line_count > FIRST_LINES && !marks.some((mark) => bytes.includes(mark))) continue;
    if (bytes.length === 0) continue;
    const value = parsed(bytes);
    if (value !== undefined) yield value;
    else if (is_ended) read.left_out += 1;
  }
}

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}
