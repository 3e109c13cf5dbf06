import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { escapeUnprintable } from '../../core/text/unprintable.ts';
import type { ProcessLineage } from '../../runtime/access/lineage.ts';
import type { ExitCode } from './command-failure.ts';

type Format = Parameters<typeof styleText>[0];

/** The user or script that runs a command: its streams, its environment, and the exit code. */
export interface Terminal {
  /** The words that start the program in the current folder: `./customshouse`, `customshouse`, `npx customshouse`. */
  readonly name: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: AsyncIterable<Buffer> & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** `true` if the user can answer questions. */
  readonly interactive: boolean;
  /** Lists the processes above this one; by default those of the system. */
  readonly readLineage?: () => ProcessLineage | null;
  /** Set by a command with a negative answer. */
  exit_code: ExitCode;
}

/** Rewrites the commands in a text to those that can be typed here: `customshouse logs` becomes `./customshouse logs`. */
export function replaceProgramName(terminal: Terminal, text: string): string {
  return text.replace(/([`(]|\$ )customshouse (?=[a-z-])/g, `$1${terminal.name} `);
}

/** Writes one line for people. Text that others chose must have passed through `escapeControls`. */
export function printLine(terminal: Terminal, line = ''): void {
  terminal.stdout.write(`${line}\n`);
}

/** Writes one line of warnings or progress to standard error, separate from the answer. */
export function printNotice(terminal: Terminal, line: string): void {
  terminal.stderr.write(`${line}\n`);
}

/** Colours text for standard output; plain if that is not a terminal or `NO_COLOR` is set. */
export function paintText(terminal: Terminal, format: Format, text: string): string {
  return styleText(format, text, { stream: terminal.stdout });
}

/** Colours text for standard error by the same rules. */
export function paintError(terminal: Terminal, format: Format, text: string): string {
  return styleText(format, text, { stream: terminal.stderr });
}

/** Makes text that others chose (agent IDs, tool names, rule names) safe to print: controls become `\u001b`. */
export function escapeControls(text: string): string {
  return escapeUnprintable(text);
}

/** Makes text of several lines safe to print; line ends and tabs are kept. */
export function escapeControlsInLines(text: string): string {
  return escapeUnprintable(text, '\n\t');
}

/** Writes one JSON value on one line. Control characters in its strings are escaped, which keeps the JSON equal. */
export function printJson(terminal: Terminal, value: unknown): void {
  printLine(terminal, escapeControls(JSON.stringify(value)));
}
