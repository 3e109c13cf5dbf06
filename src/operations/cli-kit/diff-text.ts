import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { escapeControlsInLines, paintText, printLine, type Terminal } from './terminal.ts';

/** The texts of a file before and after a change; `null` if there is no file. */
interface TextChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Formats the change of a file in the format of `diff -u`. */
export function formatDiff({ path, before, after }: TextChange): string {
  const [from, to] = [before === null ? '/dev/null' : path, after === null ? '/dev/null' : path];
  return createTwoFilesPatch(from, to, before ?? '', after ?? '', undefined, undefined, {
    headerOptions: FILE_HEADERS_ONLY,
  });
}

/** Prints the diff, with colours on a terminal. */
export function printDiff(change: TextChange, terminal: Terminal): void {
  for (const line of escapeControlsInLines(formatDiff(change)).trimEnd().split('\n')) {
    const colour = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : null;
    printLine(terminal, colour === null ? line : paintText(terminal, colour, line));
  }
}
