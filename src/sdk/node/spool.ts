import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { CustomshouseError } from '../errors.ts';

/** A line that no service has confirmed. */
export interface SpooledLine {
  readonly line: string;
  /** UTF-8 bytes, with the newline. */
  readonly bytes: number;
  readonly segment: Segment;
}

interface Segment {
  path: string;
  /** `null` if no more lines are written to it. */
  descriptor: number | null;
  bytes: number;
  unconfirmed: number;
}

/** The unconfirmed decisions of one process, in memory and in a folder. */
export interface Spool {
  /** Writes a line to the folder and adds it to the queue. Throws if the folder is full or cannot be written. */
  readonly append: (line: string) => void;
  /** Returns the first lines of the queue, up to `linesMax` lines and `bytes_max` bytes, and at least one. */
  readonly peek: (linesMax: number, bytesMax: number) => readonly SpooledLine[];
  /** Removes the first lines of the queue, which a service has confirmed or refused. */
  readonly confirm: (lines: readonly SpooledLine[]) => void;
  /** Keeps a line that the service refused, up to 1 MiB in all. */
  readonly setAside: (line: string) => void;
  /** Adds the lines of one process that has died to the queue. Returns `false` if there is none. */
  readonly adopt: () => boolean;
  /** Marks the files as those of a process that is alive. */
  readonly touch: () => void;
  readonly length: () => number;
  /** Makes the rest durable, and removes files without a line. */
  readonly close: () => void;
}

const SEGMENT_BYTES_MAX = 1_048_576;
const REFUSED_BYTES_MAX = 1_048_576;
const REFUSED_FILE = 'refused.jsonl';
/** The files of a process that has not touched them for this time are those of a dead one, in milliseconds. */
const ABANDONED_MS = 120_000;
/** Name, process and a random part of the host, and the number of the file. */
const SEGMENT = /^([0-9a-f]{8})-(\d{1,10})-([0-9a-f]{16})-\d{1,10}\.jsonl$/;

/** The folder is full. */
export class SpoolFullError extends CustomshouseError {
  override name = 'SpoolFullError';
}

interface SpoolState {
  readonly dir: string;
  readonly bytes_max: number;
  readonly host: string;
  /** The random part of the names of its files. */
  readonly own: string;
  readonly segments: Set<Segment>;
  /** The file that lines are written to. */
  active: Segment | null;
  files: number;
  queue: SpooledLine[];
  queue_bytes: number;
  /** The size of the files of other processes. */
  others_bytes: number;
}

/**
 * Opens the spool of this process in a folder that several processes may share. Each line is handed to the operating
 * system before `append` returns, so the death of the process loses none.
 *
 * @throws CustomshouseError if the folder cannot be used
 */
export function openSpool(dir: string, bytesMax: number): Spool {
  makeSpoolFolder(dir);
  const state: SpoolState = {
    dir,
    bytes_max: bytesMax,
    host: createHash('sha256').update(hostname()).digest('hex').slice(0, 8),
    own: randomBytes(8).toString('hex'),
    segments: new Set(),
    active: null,
    files: 0,
    queue: [],
    queue_bytes: 0,
    others_bytes: 0,
  };
  measureOthers(state);
  return {
    append: (line) => appendToSpool(state, line),
    peek: (linesMax, batchBytesMax) => peekLines(state, linesMax, batchBytesMax),
    confirm: (lines) => confirmLines(state, lines),
    setAside: (line) => setLineAside(dir, line),
    adopt: () => adoptFile(state),
    touch: () => touchSegments(state),
    length: () => state.queue.length,
    close: () => closeSegments(state),
  };
}

function appendToSpool(state: SpoolState, line: string): void {
  const data = Buffer.from(`${line}\n`);
  if (state.queue_bytes + state.others_bytes + data.length > state.bytes_max)
    throw new SpoolFullError(
      `The spool has ${state.bytes_max} bytes, and the service confirms no decision. Check the service.`,
    );
  const { active } = state;
  if (active !== null && active.bytes + data.length > SEGMENT_BYTES_MAX) {
    closeSync(active.descriptor!);
    active.descriptor = null;
    state.active = null;
  }
  state.active ??= openSegment(state);
  const written = writeSync(state.active.descriptor!, data);
  state.active.bytes += written;
  // A reader skips the rest of a line after a full disk.
  if (written !== data.length) throw new CustomshouseError('The spool could not be written in full.');
  pushLine(state, state.active, line, data.length);
}

function openSegment(state: SpoolState): Segment {
  const path = nameNextFile(state);
  const opened = { path, descriptor: openSync(path, 'a', 0o600), bytes: 0, unconfirmed: 0 };
  state.segments.add(opened);
  return opened;
}

function nameNextFile(state: SpoolState): string {
  return join(state.dir, `${state.host}-${process.pid}-${state.own}-${state.files++}.jsonl`);
}

function pushLine(state: SpoolState, segment: Segment, line: string, bytes: number): void {
  state.queue.push({ line, bytes, segment });
  state.queue_bytes += bytes;
  segment.unconfirmed += 1;
}

function peekLines({ queue }: SpoolState, linesMax: number, batchBytesMax: number): SpooledLine[] {
  let bytes = 0;
  let count = 0;
  while (count < Math.min(linesMax, queue.length)) {
    bytes += queue[count]!.bytes;
    if (bytes > batchBytesMax && count > 0) break;
    count += 1;
  }
  return queue.slice(0, count);
}

function confirmLines(state: SpoolState, lines: readonly SpooledLine[]): void {
  state.queue = state.queue.slice(lines.length);
  for (const { bytes, segment } of lines) {
    state.queue_bytes -= bytes;
    segment.unconfirmed -= 1;
    if (segment.unconfirmed === 0) clearSegment(state, segment);
  }
}

/** Empties the file that is written to, and removes any other one. */
function clearSegment(state: SpoolState, segment: Segment): void {
  if (segment !== state.active || segment.descriptor === null) {
    removeSegment(state, segment);
    return;
  }
  ftruncateSync(segment.descriptor, 0);
  segment.bytes = 0;
}

function removeSegment(state: SpoolState, segment: Segment): void {
  if (segment.descriptor !== null) closeSync(segment.descriptor);
  state.segments.delete(segment);
  if (segment === state.active) state.active = null;
  rmSync(segment.path, { force: true });
}

function setLineAside(dir: string, line: string): void {
  const path = join(dir, REFUSED_FILE);
  if ((statFile(path)?.size ?? 0) + Buffer.byteLength(line) < REFUSED_BYTES_MAX) appendLine(path, line);
}

function adoptFile(state: SpoolState): boolean {
  const { dir, host } = state;
  const name = listOthers(state).find((each) => isAbandoned(join(dir, each), each, host));
  const adopted = name === undefined ? null : adoptSegment(join(dir, name), nameNextFile(state));
  if (adopted !== null) {
    const { segment, lines } = adopted;
    state.segments.add(segment);
    for (const line of lines) pushLine(state, segment, line, Buffer.byteLength(line) + 1);
    if (lines.length === 0) removeSegment(state, segment);
  }
  measureOthers(state);
  return adopted !== null;
}

function listOthers({ dir, own }: SpoolState): string[] {
  return readdirSync(dir).filter((name) => {
    const match = SEGMENT.exec(name);
    return match !== null && match[3] !== own;
  });
}

function measureOthers(state: SpoolState): void {
  const sizes = listOthers(state).map((name) => statFile(join(state.dir, name))?.size ?? 0);
  state.others_bytes = sizes.reduce((sum, size) => sum + size, 0);
}

function touchSegments({ segments }: SpoolState): void {
  const now = new Date();
  for (const { path } of segments) utimesSync(path, now, now);
}

function closeSegments(state: SpoolState): void {
  for (const segment of [...state.segments]) {
    if (segment.unconfirmed === 0) removeSegment(state, segment);
    else if (segment.descriptor !== null) {
      fsyncSync(segment.descriptor);
      closeSync(segment.descriptor);
      segment.descriptor = null;
    }
  }
  state.active = null;
}

function makeSpoolFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const { mode, uid } = statSync(dir);
    const isPrivate = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    if (!isPrivate)
      throw new CustomshouseError(
        `The spool folder ${dir} may be written by others. Make it your own, mode 0700.`,
      );
  } catch (error) {
    if (error instanceof CustomshouseError) throw error;
    throw new CustomshouseError(
      `The spool folder ${dir} cannot be created. Name another one in \`spool_dir\`.`,
    );
  }
}

/** Takes over a file of a dead process by a rename, which only one process can make. */
function adoptSegment(from: string, path: string): { segment: Segment; lines: readonly string[] } | null {
  try {
    renameSync(from, path);
  } catch {
    return null;
  }
  const lines = readFileSync(path, 'utf8').split('\n').filter(isWholeLine);
  return { segment: { path, descriptor: null, bytes: 0, unconfirmed: 0 }, lines };
}

/** A process that died while it wrote left a part of a line, whose decision was never given. */
function isWholeLine(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'event_id' in value;
  } catch {
    return false;
  }
}

function isAbandoned(path: string, name: string, host: string): boolean {
  const [, itsHost, pid] = SEGMENT.exec(name) as RegExpExecArray;
  const found = statFile(path);
  if (found === null) return false;
  if (Date.now() - found.mtimeMs > ABANDONED_MS) return true;
  if (itsHost !== host) return false;
  // A container gives each start the same number. Threads of this process have files of their own.
  if (Number(pid) === process.pid) return found.mtimeMs < Date.now() - process.uptime() * 1_000;
  return !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function statFile(path: string) {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

function appendLine(path: string, line: string): void {
  const descriptor = openSync(path, 'a', 0o600);
  try {
    if (fstatSync(descriptor).isFile()) writeSync(descriptor, `${line}\n`);
  } finally {
    closeSync(descriptor);
  }
}
