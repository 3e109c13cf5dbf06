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
  sinceMs: number,
): Promise<TranscriptsRead> {
  const { files, skipped_count } = await listNewFiles(location, sinceMs);
  const counter: SkipCounter = { skipped_count };
  const transcripts: Transcript[] = [];
  for (const { path } of files) {
    const transcript = await readTranscript(path, format, counter);
    if (transcript !== null) transcripts.push(transcript);
  }
  return { transcripts, file_count: files.length, skipped_count: counter.skipped_count };
}

/** Limits for reading one file. */
export interface ReadLimits {
  readonly keeps_calls: boolean;
  readonly bytes_max: number;
  /** Returns whether to stop in the middle of the file. */
  readonly isLate: () => boolean;
}

/** Reads one file, by default names and times only; `null` if it is no transcript. */
export async function readTranscript(
  path: string,
  format: TranscriptFormat,
  counter: SkipCounter,
  limits?: ReadLimits,
): Promise<Transcript | null> {
  const parser = format.open(limits?.keeps_calls);
  try {
    for await (const value of parseValues(path, format.markers, counter, limits?.bytes_max)) {
      parser.add(value);
      if (limits?.isLate()) break;
    }
  } catch {
    counter.skipped_count += 1;
  }
  return parser.finish();
}

/** A transcript file. */
export interface TranscriptFile {
  readonly path: string;
  readonly mtime_ms: number;
}

/** Lists the files that were written since a time, newest first. */
export async function listNewFiles(
  { folder, pattern }: TranscriptLocation,
  sinceMs: number,
): Promise<{ readonly files: readonly TranscriptFile[]; readonly skipped_count: number }> {
  const found: TranscriptFile[] = [];
  let listedCount = 0;
  let skippedCount = 0;
  for await (const name of glob(pattern, { cwd: folder })) {
    listedCount += 1;
    if (listedCount > FILES_LISTED_MAX) {
      skippedCount += 1;
      break;
    }
    const path = join(folder, name);
    const stats = await stat(path).catch(() => null);
    if (stats === null) skippedCount += 1;
    else if (stats.isFile() && stats.mtimeMs >= sinceMs) found.push({ path, mtime_ms: stats.mtimeMs });
  }
  found.sort((a, b) => b.mtime_ms - a.mtime_ms);
  const files = found.slice(0, FILES_READ_MAX);
  return { files, skipped_count: skippedCount + found.length - files.length };
}

async function* parseValues(
  file: string,
  markers: readonly string[],
  counter: SkipCounter,
  bytesMax?: number,
): AsyncGenerator<unknown> {
  if (file.endsWith('.json')) {
    const { size } = await stat(file);
    if (size > DOCUMENT_BYTES_MAX) counter.skipped_count += 1;
    else yield JSON.parse(await readFile(file, 'utf8'));
    return;
  }
  let lineCount = 0;
  for await (const { bytes, is_ended } of readLines(file, counter, bytesMax)) {
    lineCount += 1;
    if (lineCount > FIRST_LINES && !markers.some((marker) => bytes.includes(marker))) continue;
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
