import { memoize } from '../../memoize.ts';
import type { Command, ShellWord } from './syntax.ts';

/** The words of a command, split into flags and operands. */
export interface CommandArguments {
  /** Long flags without their value, and short flags also one by one: `-rf` is `-rf`, `-r`, `-f`. */
  readonly flags: ReadonlySet<string>;
  /** Values of `--name=value` and `--name value`, by name; the last of several. */
  readonly values: ReadonlyMap<string, string>;
  /** Words that do not begin with a dash, and all words after `--`. */
  readonly operands: readonly string[];
}

const CLUSTER_UNITS_MAX = 12;
/** `-Force` is one flag, not five. */
const POWERSHELL_FLAG = /^-[A-Z][a-z]{3,}$/;

/** Parses the arguments of a command. A value after a flag is also an operand. */
export const parseArguments: (command: Command) => CommandArguments = memoize(({ words }) =>
  sortWords(words),
);

function sortWords(words: readonly ShellWord[]): CommandArguments {
  const flags = new Set<string>();
  const values = new Map<string, string>();
  const operands: string[] = [];
  let isOver = false;
  for (const [at, { text }] of words.entries()) {
    if (isOver || !text.startsWith('-') || text === '-') operands.push(text);
    else if (text === '--') isOver = true;
    else addFlag(text, words[at + 1]?.text, flags, values);
  }
  return { flags, values, operands };
}

function addFlag(
  text: string,
  next: string | undefined,
  flags: Set<string>,
  values: Map<string, string>,
): void {
  const sign = text.indexOf('=');
  const name = sign < 0 ? text : text.slice(0, sign);
  flags.add(name);
  if (sign >= 0) values.set(name, text.slice(sign + 1));
  else if (next !== undefined) values.set(name, next);
  if (text.startsWith('--') || text.length > CLUSTER_UNITS_MAX || POWERSHELL_FLAG.test(text)) return;
  for (const letter of text.slice(1)) flags.add(`-${letter}`);
}

const TEXT_HEAD_UNITS = 2000;
const TEXT_TAIL_UNITS = 1000;

/**
 * Returns the words of a command with one blank around each. Of very long ones only the head and the tail, so that a
 * pattern with two parts is cheap for any length.
 */
export const joinWords: (command: Command) => string = memoize(({ words }) => {
  const whole = ` ${words.map(({ text }) => text).join(' ')} `;
  const isLong = whole.length > TEXT_HEAD_UNITS + TEXT_TAIL_UNITS;
  return isLong ? `${whole.slice(0, TEXT_HEAD_UNITS)} ${whole.slice(-TEXT_TAIL_UNITS)}` : whole;
});

/** Returns whether any of the flags is set. */
export function hasFlag(command: Command, ...names: readonly string[]): boolean {
  const { flags } = parseArguments(command);
  return names.some((name) => flags.has(name));
}

/** Returns the words that do not begin with a dash, including values of flags. */
export function listOperands(command: Command): readonly string[] {
  return parseArguments(command).operands;
}

/** A value that turns a switch off: `--dry-run=none`. */
const IS_OFF = /^(?:none|false|no|off|0)$/i;

/** Returns whether a command only prints help or a version, or is a dry run. */
export function isHarmlessCall(command: Command): boolean {
  const { flags, values } = parseArguments(command);
  // `gem yank x --version 1.0.0` names a version, and does not print one.
  if (flags.has('--version') && (values.get('--version') ?? '-').startsWith('-')) return true;
  return ['--help', '--dry-run', '--dryrun', '--whatif', '-WhatIf', '--simulate'].some(
    (flag) => flags.has(flag) && !IS_OFF.test(values.get(flag) ?? ''),
  );
}
