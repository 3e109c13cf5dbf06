import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../platform/files/folder.ts';
import { appendOwnFileSync, readOwnFile, readOwnFileSync } from '../../platform/files/own-file.ts';
import { getSystemCode } from './failure.ts';
import { DIR_MODE, FILE_MODE, isWriterName, listWriters } from './files.ts';

/** One step of the order in which events entered the index: the events of a writer, up to a number of its chain. */
export interface ArrivalStep {
  readonly writer: string;
  readonly seq: number;
  /** `false` if the order of these events among those of other writers is unknown. */
  readonly ordered: boolean;
}

/**
 * The order in which events entered the index. It is stored next to the journal, so that a rebuilt index keeps the
 * order.
 */
export interface ArrivalOrder {
  /** The steps from the file, in order; `null` if there was no file. */
  readonly kept: readonly ArrivalStep[] | null;
  /**
   * Appends a step. A number lower than the writer's last one revokes the steps after it. If the write fails, only the
   * order of earlier events is lost.
   */
  readonly note: (step: ArrivalStep) => void;
}

/** The name of the file in the journal. */
export const ORDER_NAME = 'order';
/**
 * The maximum file size; beyond it the order so far is dropped. It lasts half a day for a service that is never idle.
 */
const BYTES_MAX = 4_194_304;
const LINE = /^(\d{1,15}) (\S{1,64})( \*)?(?: #([0-9a-f]{16}))?$/;

const CUT_LINE = /^(?:\d{1,15}(?: (?:\S{1,64}(?: \*)?(?: (?:#[0-9a-f]{0,16})?)?)?)?)?$/;

/** Returns the check digits of a line: the beginning of a hash over all lines up to it. */
function computeDigest(before: string, line: string): string {
  return createHash('sha256').update(`${before}\n${line}`).digest('hex').slice(0, 16);
}

/**
 * Returns the number of the first line whose check digits do not fit; `null` if all fit. Lines of earlier versions have
 * none. The file is no evidence of events: a process that can write it can compute the digits.
 */
export async function findChangedStep(journalDir: string): Promise<number | null> {
  const text = await readOwnFile(join(journalDir, ORDER_NAME), BYTES_MAX * 2).catch((error) => {
    if (getSystemCode(error) === 'ENOENT') return '';
    throw error;
  });
  let before = '';
  const lines = text.split('\n');
  // A running service may be writing the last line, and a stop may have cut it.
  if (!CUT_LINE.test(lines.pop()!)) return lines.length + 1;
  for (const [at, line] of lines.entries()) {
    const found = LINE.exec(line);
    const digest = found?.[4];
    if (found === null || (digest === undefined && before !== '')) return at + 1;
    if (digest === undefined) continue;
    if (digest !== computeDigest(before, line.slice(0, -digest.length - 2))) return at + 1;
    before = digest;
  }
  return null;
}

/** Creates the order file of a journal without writers, which shows that the order is complete from the first event. */
export async function createOrder(journalDir: string): Promise<void> {
  try {
    if ((await listWriters(journalDir)).length > 0) return;
    makeFolder(journalDir, DIR_MODE);
    appendOwnFileSync(join(journalDir, ORDER_NAME), '', FILE_MODE);
  } catch {
    // The same cause prevents writing the journal, which reports it.
  }
}

/** Opens the order of a journal, for the process that owns it. `bytesMax` is for tests. */
export function openArrivalOrder(journalDir: string, bytesMax = BYTES_MAX): ArrivalOrder {
  const path = join(journalDir, ORDER_NAME);
  const text = readText(path);
  const kept = text === null ? null : parseSteps(text);
  const last = new Map((kept ?? []).map(({ writer, seq }) => [writer, seq]));
  let bytes = text?.length ?? 0;
  let digest = text === null ? '' : (LINE.exec(text.trimEnd().split('\n').at(-1)!)?.[4] ?? '');
  const sign = (line: string): string => {
    digest = computeDigest(digest, line);
    return `${line} #${digest}\n`;
  };
  // The next line would be appended to an unfinished one.
  let isWhole = text === null || text === '' || text.endsWith('\n');
  const restart = (): void => {
    digest = '';
    const lines = [...last].map(([writer, seq]) => sign(getLine({ writer, seq, ordered: false })));
    bytes = writeWhole(path, lines.join(''));
    isWhole = true;
  };
  return {
    kept,
    note: (step) => {
      last.set(step.writer, step.seq);
      try {
        if (!isWhole || bytes > bytesMax) return restart();
        const line = sign(getLine(step));
        appendOwnFileSync(path, line, FILE_MODE);
        bytes += line.length;
      } catch {
        isWhole = false;
      }
    },
  };
}

function getLine({ writer, seq, ordered }: ArrivalStep): string {
  return `${seq} ${writer}${ordered ? '' : ' *'}`;
}

/** Reads the file; `null` if it cannot be read, which counts as missing. */
function readText(path: string): string | null {
  try {
    return readOwnFileSync(path, 'latin1');
  } catch {
    return null;
  }
}

function parseSteps(text: string): ArrivalStep[] {
  const steps: ArrivalStep[] = [];
  const last = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, digits = '', writer = '', unordered] = LINE.exec(line) ?? [];
    if (!isWriterName(writer)) continue;
    const seq = Number(digits);
    if (seq < (last.get(writer) ?? 0)) revertSteps(steps, writer, seq);
    last.set(writer, seq);
    steps.push({ writer, seq, ordered: unordered === undefined });
  }
  return steps;
}

function revertSteps(steps: ArrivalStep[], writer: string, seq: number): void {
  for (const [at, step] of steps.entries())
    if (step.writer === writer && step.seq > seq) steps[at] = { ...step, seq };
}

function writeWhole(path: string, text: string): number {
  // Only the owner writes this file, so it may overwrite what a full disk left of the last attempt.
  const temporary = `${path}.tmp`;
  writeFileSync(temporary, text, { mode: FILE_MODE });
  renameSync(temporary, path);
  return text.length;
}
