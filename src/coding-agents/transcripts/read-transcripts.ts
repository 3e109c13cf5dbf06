import { glob, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TranscriptLocation } from '../record/settings.ts';
import type { Transcript, TranscriptFormat } from '../record/transcript.ts';
import { readLines, type SkipCounter } from './read-lines.ts';

/** The most files that are read for one agent: the newest ones. */
const FILES_READ_MAX = 500;
/** The most files whose times are compared for one agent. */
const FILES_LISTED_MAX = 20_000;
/** Lines that are always parsed, because the first ones identify the session. */
const FIRST_LINES = 20;
/** The largest file that is one JSON document, in bytes. */
const DOCUMENT_BYTES_MAX = 33_554_432;

/** The transcripts of an agent that were written since a time. */
export interface TranscriptsRead {
  /** One for each file. */
  readonly transcripts: readonly Transcript[];
  readonly file_count: number;
  /** The number of files and lines that could not be parsed or exceed a limit. */
  readonly skipped_count: number;
}

/**
 * Reads the transcripts of an agent. Only names and times are kept.
 */
export async function readTranscripts(
  format: TranscriptFormat,
  location: TranscriptLocation,
  since_ms: number,
): Promise<TranscriptsRead> {
  const { files, skipped_count } = await listNewFiles(location, since_ms);
  const counter: SkipCounter = { skipped_count };
  const transcripts: Transcript[] = [];
  for (const file of files) {
    const parser = format.open();
    try {
      for await (const value of parseValues(file, format.markers, counter)) parser.add(value);
    } catch {
      counter.skipped_count += 1;
    }
    const transcript = parser.finish();
    if (transcript !== null) transcripts.push(transcript);
  }
  return { transcripts, file_count: files.length, skipped_count: counter.skipped_count };
}

async function listNewFiles(
  { folder, pattern }: TranscriptLocation,
  since_ms: number,
): Promise<{ readonly files: readonly string[]; readonly skipped_count: number }> {
  const found: { path: string; mtime_ms: number }[] = [];
  let listed_count = 0;
  let skipped_count = 0;
  for await (const name of glob(pattern, { cwd: folder })) {
    listed_count += 1;
    if (listed_count > FILES_LISTED_MAX) {
      skipped_count += 1;
      break;
    }
    const path = join(folder, name);
    const stats = await stat(path).catch(() => null);
    if (stats === null) skipped_count += 1;
    else if (stats.isFile() && stats.mtimeMs >= since_ms) found.push({ path, mtime_ms: stats.mtimeMs });
  }
  found.sort((a, b) => b.mtime_ms - a.mtime_ms);
  const files = found.slice(0, FILES_READ_MAX).map(({ path }) => path);
  return { files, skipped_count: skipped_count + found.length - files.length };
}

async function* parseValues(
  file: string,
  markers: readonly string[],
  counter: SkipCounter,
): AsyncGenerator<unknown> {
  if (file.endsWith('.json')) {
    const { size } = await stat(file);
    if (size > DOCUMENT_BYTES_MAX) counter.skipped_count += 1;
    else yield JSON.parse(await readFile(file, 'utf8'));
    return;
  }
  let line_count = 0;
  for await (const { bytes, is_ended } of readLines(file, counter)) {
    line_count += 1;
    if (line_count > FIRST_LINES && !markers.some((marker) => bytes.includes(marker))) continue;
    if (bytes.length === 0) continue;
    const value = parseLine(bytes);
    if (value !== undefined) yield value;
    else if (is_ended) counter.skipped_count += 1;
  }
}

function parseLine(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}
