import { files } from '../detectors/index.ts';
import { commandsInTextLate } from '../lazy.ts';
import type { Named } from '../matching/detector.ts';
import { type DetectorFile, type Roster, readRoster, rosterOf } from '../matching/roster.ts';

/** The build writes it from the detectors as they are (a `WrittenRoster` in JSON): in what it makes nobody edits them. */
declare const WRITTEN_ROSTER: string | undefined;

const written: string | null = typeof WRITTEN_ROSTER === 'undefined' ? null : WRITTEN_ROSTER;

/** True if what is built in was written ahead. */
export const is_written: boolean = written !== null;

/** The files of all that is built in and looks at a text, in one order. */
export const builtinFiles: readonly DetectorFile[] = [...files, commandsInTextLate];

/** All that is built in and looks at a text. */
export const builtin: Roster =
  written === null
    ? rosterOf(builtinFiles.flatMap((file) => file()))
    : readRoster(JSON.parse(written), builtinFiles);

/** What settings name all of it by. */
export function builtinNames(): readonly Named[] {
  return Array.from({ length: builtin.count }, (_, index) => builtin.nameAt(index));
}
