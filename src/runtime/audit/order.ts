import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../platform/files/folder.ts';
import { DIR_MODE, FILE_MODE, isWriterName, listWriters } from './files.ts';

/** One step of the order in which events came into the index: those of a writer, up to a number of its chain. */
export interface ArrivalStep {
  readonly writer: string;
  readonly seq: number;
  /** `false`: how they stand among those of other writers is not known. */
  readonly ordered: boolean;
}

/** The order in which events came into the index, kept beside the journal: an index that is made again has it too. */
export interface ArrivalOrder {
  /** What was kept before, one step after the other; `null`: nothing was. */
  readonly kept: readonly ArrivalStep[] | null;
  /**
   * Keeps one step more; a lower number than before takes back what stood behind it. What cannot be kept costs the order
   * of what came before, and no more.
   */
  readonly note: (step: ArrivalStep) => void;
}

const FILE_NAME = 'order';
/** Past this size nothing is kept of the order up to there: half a day of a service that is never idle. */
const BYTES_MAX = 4_194_304;
const LINE = /^(\d{1,15}) (\S{1,64})( \*)?$/;

/** Says of a journal that has no writer yet that its order is kept from the first event on. */
export async function createOrder(journal_dir: string): Promise<void> {
  try {
    if ((await listWriters(journal_dir)).length > 0) return;
    makeFolder(journal_dir, DIR_MODE);
    appendFileSync(join(journal_dir, FILE_NAME), '', { mode: FILE_MODE });
  } catch {
    // What keeps it from being written keeps the journal, too, and there it is told.
  }
}

/** Opens the order of a journal, for the process that owns it. `bytes_max` is for tests. */
export function openArrivalOrder(journal_dir: string, bytes_max = BYTES_MAX): ArrivalOrder {
  const path = join(journal_dir, FILE_NAME);
  const text = readText(path);
  const kept = text === null ? null : stepsIn(text);
  const last = new Map((kept ?? []).map(({ writer, seq }) => [writer, seq]));
  let bytes = text?.length ?? 0;
  // A line that was never finished would swallow the next one.
  let is_whole = text === null || text === '' || text.endsWith('\n');
  const beginAnew = (): void => {
    bytes = writeWhole(
      path,
      [...last].map(([writer, seq]) => lineOf({ writer, seq, ordered: false })).join(''),
    );
    is_whole = true;
  };
  return {
    kept,
    note: (step) => {
      last.set(step.writer, step.seq);
      try {
        if (!is_whole || bytes > bytes_max) return beginAnew();
        const line = lineOf(step);
        appendFileSync(path, line, { mode: FILE_MODE });
        bytes += line.length;
      } catch {
        is_whole = false;
      }
    },
  };
}

function lineOf({ writer, seq, ordered }: ArrivalStep): string {
  return `${seq} ${writer}${ordered ? '' : ' *'}\n`;
}

/** One that cannot be read is as good as none. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}

function stepsIn(text: string): ArrivalStep[] {
  const steps: ArrivalStep[] = [];
  const last = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, digits = '', writer = '', unordered] = LINE.exec(line) ?? [];
    if (!isWriterName(writer)) continue;
    const seq = Number(digits);
    if (seq < (last.get(writer) ?? 0)) takeBack(steps, writer, seq);
    last.set(writer, seq);
    steps.push({ writer, seq, ordered: unordered === undefined });
  }
  return steps;
}

function takeBack(steps: ArrivalStep[], writer: string, seq: number): void {
  for (const [at, step] of steps.entries())
    if (step.writer === writer && step.seq > seq) steps[at] = { ...step, seq };
}

function writeWhole(path: string, text: string): number {
  // One owner writes it: what a full disk left of the last try is overwritten.
  const temporary = `${path}.tmp`;
  writeFileSync(temporary, text, { mode: FILE_MODE });
  renameSync(temporary, path);
  return text.length;
}
