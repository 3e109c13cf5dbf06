import { findShellTexts, listCodeDeletions, listStoreCommands } from './code.ts';
import type { ShellState } from './effects.ts';
import { findEscapedScripts, hasShellEscape } from './escapes.ts';
import { findKnownFile } from './files.ts';
import { listFindCalls } from './find-calls.ts';
import { findSearchedPaths } from './found-paths.ts';
import { buildInnerCommand, buildInnerScript, deriveInner, quoteWord } from './inner.ts';
import { parseArguments } from './options.ts';
import { findInput } from './output.ts';
import { findPowerShellScript, findStartedProcess } from './powershell.ts';
import {
  type Command,
  getProgramName,
  type ShellDialect,
  type ShellScript,
  type ShellWord,
} from './syntax.ts';
import { findTaskScripts } from './task-files.ts';
import { spendWork, tryToSpend, type WorkBudget } from './work.ts';
import { skipOptions, unwrapWrapper } from './wrapped.ts';
import {
  findInterpreterFlags,
  OPTIONS_WITH_SCRIPT,
  RUN_VARIABLES,
  SHELL_OPTIONS_WITH_VALUE,
  SHELLS,
  TAKES_TEXT,
  WRAPPED_PROGRAMS,
  WRAPPERS,
} from './wrappers.ts';

/** The commands and scripts that a command runs. */
export interface WrappedCommands {
  readonly commands: readonly Command[];
  readonly scripts: readonly ShellScript[];
}

/** Programs that run a script of PowerShell or `cmd`. */
const WINDOWS_SHELLS = new Set(['cmd', 'powershell', 'pwsh', 'start-process', 'saps']);
const NO_COMMANDS: WrappedCommands = { commands: [], scripts: [] };
const ALTERNATIVES_MAX = 16;
const PIECES_MAX = 9;
/** The most recursive calls of a function that are followed. */
const CALLS_MAX = 2;

/**
 * Returns the commands and scripts that a command runs, one level deep: commands after `sudo` and `xargs`, the script
 * of `bash -c`, calls of `find -exec`, shell calls in source code, text piped into a shell, files written before.
 */
export function unwrapCommand(command: Command, shared: ShellState): WrappedCommands {
  const { work, functions } = shared;
  const parts = [
    unwrapByName(command, shared),
    buildScripts(command, findTaskScripts(command), 'posix'),
    shared.wrappers.includes(command.name) ? NO_COMMANDS : unwrapUnknown(command),
    unwrapVariables(command),
    unwrapFile(command),
    unwrapFunction(command, functions),
  ];
  const commands = parts.flatMap((part) => part.commands);
  const scripts = parts.flatMap((part) => part.scripts);
  for (const { words } of commands) spendWork(work, words.length);
  for (const { text } of scripts) spendWork(work, text.length);
  return { commands, scripts };
}

function unwrapByName(command: Command, { work, wrappers }: ShellState): WrappedCommands {
  const { name } = command;
  const isDeclared = wrappers.includes(name);
  if (name === 'find' || name === 'fd') return unwrapFind(command);
  if (SHELLS.has(name)) return unwrapShell(command);
  if (name === 'awk' || name === 'gawk' || name === 'mawk' || name === 'nawk') return unwrapAwk(command);
  if (name === 'xargs' || name === 'parallel') return unwrapWithInput(command, work);
  if (findInterpreterFlags(name) !== undefined && !hasShellEscape(name) && !WRAPPERS.has(name))
    return unwrapInterpreter(command);
  const found = [
    findInterpreterFlags(name) !== undefined ? unwrapInterpreter(command) : NO_COMMANDS,
    isDeclared || WRAPPERS.has(name) || OPTIONS_WITH_SCRIPT.has(name)
      ? unwrapWrapper(command, work, isDeclared)
      : NO_COMMANDS,
    hasShellEscape(name) ? buildScripts(command, findEscapedScripts(command), 'posix') : NO_COMMANDS,
  ];
  const script = findScript(command);
  if (script !== null)
    found.push(buildScripts(command, [script], WINDOWS_SHELLS.has(name) ? 'windows' : 'posix'));
  return { commands: found.flatMap((each) => each.commands), scripts: found.flatMap((each) => each.scripts) };
}

/** The most words before the command of a wrapper that is not known. */
const UNKNOWN_WORDS_MAX = 4;

/** Unwraps a program that is not known and has a command in its words: `rtk proxy rm -rf a`. */
function unwrapUnknown(command: Command): WrappedCommands {
  const { name, words, code } = command;
  if (
    code !== null ||
    name === '' ||
    WRAPPERS.has(name) ||
    TAKES_TEXT.has(name) ||
    WRAPPED_PROGRAMS.has(name)
  )
    return NO_COMMANDS;
  const at = words
    .slice(0, UNKNOWN_WORDS_MAX)
    .findIndex(({ text, is_quoted }) => !is_quoted && WRAPPED_PROGRAMS.has(getProgramName(text)));
  const hasInput = at + 1 < words.length || command.redirections.length > 0;
  const inner = at < 0 || !hasInput ? null : buildInnerCommand(command, words.slice(at), name);
  return inner === null ? NO_COMMANDS : { commands: [inner], scripts: [] };
}

/** Returns the scripts in variables whose value a program runs: `PAGER='rm -rf /' man ls`. */
function unwrapVariables(command: Command): WrappedCommands {
  const { assignments, name, words } = command;
  const texts = assignments.flatMap((each) => (RUN_VARIABLES.test(each.name) ? each.value : []));
  if (/^(?:env|export|declare|typeset|readonly|local|sudo|doas)$/.test(name))
    for (const { text } of words) {
      const [, variable, value] = /^(\w+)=([\s\S]+)$/.exec(text) ?? [];
      if (variable !== undefined && RUN_VARIABLES.test(variable)) texts.push(value!);
    }
  return texts.length === 0
    ? NO_COMMANDS
    : buildScripts(
        command,
        texts.map((text) => text.replace(/^\|/, '')),
        'posix',
      );
}

/** Unwraps a program that the script wrote itself. */
function unwrapFile(command: Command): WrappedCommands {
  const { files, program, name } = command;
  if (files === null || program === '') return NO_COMMANDS;
  const path = name === '.' || name === 'source' ? command.words[0]?.text : program;
  const text = path === undefined ? null : (findKnownFile(command, path)?.text ?? null);
  const isPath = program.includes('/') || path !== program;
  return text === null || !isPath ? NO_COMMANDS : unwrapContent(command, text);
}

/** Unwraps the content of an executed file: a shell script, or the language that its first line names. */
function unwrapContent(command: Command, text: string): WrappedCommands {
  const [, line] = /^#!([^\n]{1,200})/.exec(text) ?? [];
  const interpreter =
    line === undefined
      ? undefined
      : line.split(/[\s/]+/).find((word) => findInterpreterFlags(word) !== undefined);
  if (interpreter === undefined) return buildScripts(command, [text], 'posix');
  return unwrapCode({ ...command, name: interpreter }, [text]);
}

/** Reads the body of a function again, with the arguments of the call. */
function unwrapFunction(command: Command, functions: ReadonlyMap<string, string>): WrappedCommands {
  const { is_function, program, words, within } = command;
  const body = is_function ? functions.get(program) : undefined;
  const mark = `${program}()`;
  const times = within.filter((name) => name === mark).length;
  if (body === undefined || words.length === 0 || !/\$[{@*\d]/.test(body) || times >= CALLS_MAX)
    return NO_COMMANDS;
  const parameters = [program, ...words.map(({ text }) => text)];
  const script = buildInnerScript(command, body, 'posix');
  return { commands: [], scripts: [{ ...script, within: [...within, mark], parameters }] };
}

/** Returns the script in a command's words: all words joined, or the word after a flag. */
function findScript(command: Command): string | null {
  const { name, words } = command;
  if (name === 'eval') return joinTexts(words);
  if (name === 'trap') return findTrapScript(words);
  if (name === 'alias') return /^[\w.-]+=(.+)$/s.exec(words[0]?.text ?? '')?.[1] ?? null;
  if (name === 'source' || name === '.') return findSourcedScript(command);
  if (name === 'at' || name === 'batch') return findInput(command)[0] ?? null;
  if (name === 'cmd') return joinAfterFlag(words, /^\/[ckr]$/i);
  if (name === 'powershell' || name === 'pwsh') return findPowerShellScript(command);
  if (name === 'start-process' || name === 'saps') return findStartedProcess(command);
  if (name === 'docker' || name === 'podman' || name === 'kubectl' || name === 'oc')
    return findContainerScript(words);
  return null;
}

/** Returns the script of `trap 'rm a' EXIT`, which is its first word. */
function findTrapScript(words: readonly ShellWord[]): string | null {
  const operands = words.filter(({ text }) => !/^-[lp-]?$/.test(text));
  return operands.length > 1 ? operands[0]!.text : null;
}

/** Returns the script of `source <(...)` or `. /dev/stdin`. */
function findSourcedScript(command: Command): string | null {
  const [first] = command.words;
  if (first === undefined) return null;
  return first.output ?? (IS_INPUT.test(first.text) ? (findInput(command)[0] ?? null) : null);
}

/** Files that stand for a program's own input. */
const IS_INPUT = /^(?:-|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/;

function joinTexts(words: readonly ShellWord[]): string {
  return words.map(({ text }) => text).join(' ');
}

function findFlagValue(command: Command, ...flags: readonly string[]): string | null {
  const { values } = parseArguments(command);
  const set = flags.find((flag) => values.has(flag));
  return set === undefined ? null : values.get(set)!;
}

function joinAfterFlag(words: readonly ShellWord[], flag: RegExp): string | null {
  const at = words.findIndex(({ text }) => flag.test(text));
  return at < 0 ? null : joinTexts(words.slice(at + 1));
}

/**
 * Returns the script of `docker exec web rm -rf /`, which begins at the first word that is a shell or an
 * interpreter.
 */
function findContainerScript(words: readonly ShellWord[]): string | null {
  const verb = words[0]?.text;
  if (verb !== 'exec' && verb !== 'run') return null;
  const at = words.findIndex(
    ({ text }, index) =>
      index > 0 && (text === '--' || SHELLS.has(getProgramName(text)) || getProgramName(text) === 'rm'),
  );
  if (at < 0) return null;
  const from = words[at]!.text === '--' ? at + 1 : at;
  return words.slice(from).map(quoteWord).join(' ');
}

/** Unwraps every call of `find` or `fd`, with the paths that it finds for `{}`. */
function unwrapFind(command: Command): WrappedCommands {
  const { words } = command;
  const found = (findSearchedPaths(command) ?? []).map((text): ShellWord => ({ text, is_quoted: false }));
  const commands = listFindCalls(words).flatMap((call, at) => {
    const filled = call.flatMap((word) => (word.text === '{}' ? found : word));
    const isAdded = command.name !== 'find' && !call.some(({ text }) => text.includes('{'));
    const inner = buildInnerCommand(command, isAdded ? [...filled, ...found] : filled, 'find');
    if (inner === null) return [];
    // Only the first command reads the input.
    return at === 0 ? inner : { ...inner, redirections: [], previous: null };
  });
  return { commands, scripts: [] };
}

function unwrapShell(command: Command): WrappedCommands {
  const { words } = command;
  const { has_script, at } = readShellOptions(words);
  const operand = words[at];
  const parameters = words.slice(at + 1).map(({ text }) => text);
  if (has_script) {
    if (operand === undefined) return NO_COMMANDS;
    const script = buildInnerScript(command, operand.text, 'posix');
    return { commands: [], scripts: [parameters.length === 0 ? script : { ...script, parameters }] };
  }
  if (
    operand === undefined ||
    IS_INPUT.test(operand.text) ||
    words.some(({ text }) => /^-[a-z]*s$/.test(text))
  )
    return buildScripts(command, findInput(command), 'posix');
  if (operand.output !== undefined) return buildScripts(command, [operand.output], 'posix');
  const text = findKnownFile(command, operand.text)?.text ?? null;
  if (text === null) return NO_COMMANDS;
  return {
    commands: [],
    scripts: [{ ...buildInnerScript(command, text, 'posix'), parameters: [operand.text, ...parameters] }],
  };
}

/** Returns whether a shell has `-c` among its options, and where its first operand is. */
function readShellOptions(words: readonly ShellWord[]): {
  readonly has_script: boolean;
  readonly at: number;
} {
  let hasScript = false;
  let at = 0;
  for (; at < words.length; at++) {
    const { text } = words[at]!;
    if (text === '--' || text === '-')
      return { has_script: hasScript, at: hasScript || text === '--' ? at + 1 : at };
    if (!/^[-+]./.test(text)) break;
    if (SHELL_OPTIONS_WITH_VALUE.test(text)) at += 1;
    if (text.startsWith('--')) continue;
    hasScript ||= text.includes('c');
    // Each `o` takes the name of an option from the next word: `-euo pipefail`.
    at += text.replace(/[^oO]/g, '').length;
  }
  return { has_script: hasScript, at };
}

function buildScripts(command: Command, texts: readonly string[], dialect: ShellDialect): WrappedCommands {
  return { commands: [], scripts: texts.map((text) => buildInnerScript(command, text, dialect)) };
}

function unwrapInterpreter(command: Command): WrappedCommands {
  const flags = findInterpreterFlags(command.name)!;
  const { words } = command;
  const texts: string[] = [];
  for (const [at, { text }] of words.entries()) {
    const attached = /^--(?:eval|print|execute|run)=([\s\S]+)$/.exec(text)?.[1];
    if (attached !== undefined) texts.push(attached);
    if (!flags.includes(text) && !(flags.includes('-c') && /^-[a-zA-Z]{1,4}c$/.test(text))) continue;
    const code = words[at + 1]?.text;
    if (code !== undefined) texts.push(code);
  }
  if (words.every(({ text }) => text.startsWith('-') || IS_INPUT.test(text)))
    texts.push(...findInput(command));
  const file = words.find(({ text }) => !text.startsWith('-'));
  const known = file === undefined ? null : (file.output ?? findKnownFile(command, file.text)?.text ?? null);
  if (known !== null) texts.push(known);
  const unwrapped = unwrapCode(command, texts);
  const module = /^i?py/.test(command.name) ? findModuleCall(command) : null;
  return module === null ? unwrapped : { ...unwrapped, commands: [...unwrapped.commands, module] };
}

/** Returns the program that `python -m name` runs as a module. */
function findModuleCall(command: Command): Command | null {
  const { words } = command;
  const at = words.findIndex(({ text }) => !/^-[a-zA-Z]*[^m]$/.test(text));
  return words[at]?.text === '-m' ? buildInnerCommand(command, words.slice(at + 1), command.name) : null;
}

/** Unwraps source code, and what it passes to a shell. */
function unwrapCode(command: Command, texts: readonly string[]): WrappedCommands {
  const { name } = command;
  const hasBackticks = name === 'perl' || name === 'ruby' || name === 'php';
  const deletions = texts
    .flatMap(listCodeDeletions)
    .flatMap(({ path, is_recursive }) =>
      path === null ? [] : [['rm', ...(is_recursive ? ['-rf'] : []), '--', path]],
    );
  const sameEffect = [...deletions, ...texts.flatMap(listStoreCommands)].flatMap((words) => {
    const quoted = words.map((text): ShellWord => ({ text, is_quoted: true }));
    return buildInnerCommand({ ...command, previous: null, redirections: [] }, quoted, name) ?? [];
  });
  const codes = texts.map((code) => ({
    ...deriveInner(command, name),
    name,
    code,
    words: [],
    previous: null,
    redirections: [],
  }));
  return {
    commands: [...codes, ...sameEffect],
    scripts: texts
      .flatMap((code) => findShellTexts(code, hasBackticks))
      .map((text) => buildInnerScript(command, text, 'posix')),
  };
}

function unwrapAwk(command: Command): WrappedCommands {
  const code = parseArguments(command).operands[0] ?? '';
  const piped = [...code.slice(0, 4000).matchAll(/"((?:[^"\\]|\\.){1,1000})"\s{0,8}\|/g)].map(
    ([, script]) => script!,
  );
  const printed = [...code.slice(0, 4000).matchAll(/print\s{0,8}"((?:[^"\\]|\\.){1,1000})"\s{0,8}\|/g)].map(
    ([, script]) => script!,
  );
  return buildScripts(command, [...findShellTexts(code, false), ...piped, ...printed], 'posix');
}

/** Unwraps commands whose words come from their input. */
function unwrapWithInput(command: Command, work: WorkBudget): WrappedCommands {
  const [form] = WRAPPERS.get(command.name)!;
  const rest = command.words.slice(skipOptions(command.words, form!.takes_value));
  return command.name === 'xargs' ? unwrapXargs(command, rest, work) : unwrapParallel(command, rest, work);
}

/** Replaces `{}` with the words that `echo` pipes in, or appends them to the command. */
function unwrapXargs(command: Command, rest: readonly ShellWord[], work: WorkBudget): WrappedCommands {
  const printed = findInput(command).at(-1) ?? null;
  const mark = findFlagValue(command, '-I', '-J') ?? findPlaceholder(command.words);
  const values =
    printed === null
      ? []
      : printed.split(findSeparator(command), ALTERNATIVES_MAX).filter((text) => text !== '');
  const filled = fillPlaceholders(rest, mark, values, work);
  // Words that are appended can hide the target that is written out: `ls | xargs cp a /dev/sda`.
  const hasBoth = filled.length > rest.length && !DELETES_WORDS.test(getProgramName(rest[0]?.text ?? ''));
  const commands = (hasBoth ? [filled, rest] : [filled]).flatMap(
    (words) => buildInnerCommand(command, words, 'xargs') ?? [],
  );
  return { commands, scripts: [] };
}

/** Programs that delete each of their words. */
const DELETES_WORDS = /^(?:rm|unlink|rmdir|shred|srm|rimraf)$/;

/** Returns the separator of the input of `xargs`. */
function findSeparator({ words }: Command): RegExp {
  if (words.some(({ text }) => /^(?:-[a-z]*0|--null)$/.test(text))) return /\0|\n$/;
  return words.some(({ text }, at) => /^-d$/.test(words[at - 1]?.text ?? '') && /n$/.test(text))
    ? /\n/
    : /[\s\0]+/;
}

function findPlaceholder(words: readonly ShellWord[]): string {
  return (
    words.map(({ text }) => /^(?:-I|--replace=)(.+)$/.exec(text)?.[1]).find((mark) => mark !== undefined) ??
    '{}'
  );
}

function fillPlaceholders(
  words: readonly ShellWord[],
  mark: string,
  values: readonly string[],
  work: WorkBudget,
): readonly ShellWord[] {
  const value = values.join(' ');
  const sign = mark === '' || mark.startsWith('-') ? '{}' : mark;
  if (value === '') return words;
  if (!words.some(({ text }) => text.includes(sign)))
    return [...words, ...values.map((text) => ({ text, is_quoted: true }))];
  return words.map((word) => {
    const pieces = word.text.split(sign, PIECES_MAX);
    if (pieces.length === 1 || !tryToSpend(work, (pieces.length - 1) * value.length)) return word;
    return { ...word, text: pieces.join(value) };
  });
}

/** Fills in the words after `:::`; without a command each of them is a command. */
function unwrapParallel(command: Command, rest: readonly ShellWord[], work: WorkBudget): WrappedCommands {
  const at = rest.findIndex(({ text }) => text.startsWith(':::'));
  const values = (at < 0 ? [] : rest.slice(at + 1, at + 1 + ALTERNATIVES_MAX))
    .map(({ text }) => text)
    .filter((text) => !text.startsWith(':::'));
  const template = at < 0 ? rest : rest.slice(0, at);
  const printed = findInput(command).at(-1) ?? null;
  const all = printed === null ? values : [...values, ...printed.split('\n', ALTERNATIVES_MAX)];
  if (template.length === 0) return buildScripts(command, all, 'posix');
  const one = template.length === 1 ? template[0]!.text : null;
  if (one?.includes(' ')) return buildScripts(command, [one!, `${one} ${all.join(' ')}`], 'posix');
  const words = template.map((word) => ({ ...word, text: word.text.replace(/\{\d?[./]{0,2}\}/g, '{}') }));
  const found = buildInnerCommand(command, fillPlaceholders(words, '{}', all, work), 'parallel');
  return found === null ? NO_COMMANDS : { commands: [found], scripts: [] };
}
