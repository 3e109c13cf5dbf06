import { shellTextsIn } from './code.ts';
import type { Shared } from './effects.ts';
import { escapedScripts, hasWayOut } from './escapes.ts';
import { knownFile } from './files.ts';
import { commandOf, inner, quoted, scriptOfText } from './inner.ts';
import { argumentsOf } from './options.ts';
import { inputOf } from './output.ts';
import { powerShellScript, startedProcess } from './powershell.ts';
import { type Command, type Dialect, nameOf, type Script, type Word } from './syntax.ts';
import { afford, spend, type Work } from './work.ts';
import { afterOptions, wrapped } from './wrapped.ts';
import {
  interpreterOf,
  OPTIONS_WITH_SCRIPT,
  RUN_VARIABLES,
  SHELL_OPTIONS_WITH_VALUE,
  SHELLS,
  WRAPPERS,
} from './wrappers.ts';

/** What a command runs besides itself. */
export interface Unwrapped {
  readonly commands: readonly Command[];
  readonly scripts: readonly Script[];
}

/** Programs whose script is one of PowerShell or `cmd`. */
const WINDOWS_SHELLS = new Set(['cmd', 'powershell', 'pwsh', 'start-process', 'saps']);
const NOTHING: Unwrapped = { commands: [], scripts: [] };
const ALTERNATIVES_MAX = 16;
const PIECES_MAX = 9;
/** Calls of a function in itself that are followed. */
const CALLS_MAX = 2;

/**
 * The commands and scripts that a command runs: what is behind `sudo` and `xargs`, the script of `bash -c`, what
 * `find -exec` calls, what source code hands to a shell, what is piped into a shell, a file that was written before.
 * One level at a time.
 */
export function unwrap(command: Command, shared: Shared): Unwrapped {
  const { work, functions } = shared;
  const parts = [
    innerOf(command, work),
    ofVariables(command),
    ofFile(command),
    ofFunction(command, functions),
  ];
  const commands = parts.flatMap((part) => part.commands);
  const scripts = parts.flatMap((part) => part.scripts);
  for (const { words } of commands) spend(work, words.length);
  for (const { text } of scripts) spend(work, text.length);
  return { commands, scripts };
}

function innerOf(command: Command, work: Work): Unwrapped {
  const { name } = command;
  if (name === 'find' || name === 'fd') return ofFind(command);
  if (SHELLS.has(name)) return ofShell(command);
  if (name === 'awk' || name === 'gawk' || name === 'mawk' || name === 'nawk') return ofAwk(command);
  if (name === 'xargs' || name === 'parallel') return ofFed(command, work);
  if (interpreterOf(name) !== undefined && !hasWayOut(name) && !WRAPPERS.has(name))
    return ofInterpreter(command);
  const found = [
    interpreterOf(name) !== undefined ? ofInterpreter(command) : NOTHING,
    WRAPPERS.has(name) || OPTIONS_WITH_SCRIPT.has(name) ? wrapped(command) : NOTHING,
    hasWayOut(name) ? ofTexts(command, escapedScripts(command), 'posix') : NOTHING,
  ];
  const script = scriptOf(command);
  if (script !== null) found.push(ofTexts(command, [script], WINDOWS_SHELLS.has(name) ? 'windows' : 'posix'));
  return { commands: found.flatMap((each) => each.commands), scripts: found.flatMap((each) => each.scripts) };
}

/** `PAGER='rm -rf /' man ls`: variables whose value a program runs. */
function ofVariables(command: Command): Unwrapped {
  const { assignments, name, words } = command;
  const texts = assignments.flatMap((each) => (RUN_VARIABLES.test(each.name) ? each.value : []));
  if (/^(?:env|export|declare|typeset|readonly|local|sudo|doas)$/.test(name))
    for (const { text } of words) {
      const [, variable, value] = /^(\w+)=([\s\S]+)$/.exec(text) ?? [];
      if (variable !== undefined && RUN_VARIABLES.test(variable)) texts.push(value!);
    }
  return texts.length === 0
    ? NOTHING
    : ofTexts(
        command,
        texts.map((text) => text.replace(/^\|/, '')),
        'posix',
      );
}

/** A program that the script wrote itself. */
function ofFile(command: Command): Unwrapped {
  const { files, program, name } = command;
  if (files === null || program === '') return NOTHING;
  const path = name === '.' || name === 'source' ? command.words[0]?.text : program;
  const text = path === undefined ? null : (knownFile(command, path)?.text ?? null);
  const is_path = program.includes('/') || path !== program;
  return text === null || !is_path ? NOTHING : ofContent(command, text);
}

/** The content of a file that is run: a script of the shell that its first line names, or of another language. */
function ofContent(command: Command, text: string): Unwrapped {
  const [, line] = /^#!([^\n]{1,200})/.exec(text) ?? [];
  const interpreter =
    line === undefined ? undefined : line.split(/[\s/]+/).find((word) => interpreterOf(word) !== undefined);
  if (interpreter === undefined) return ofTexts(command, [text], 'posix');
  return ofCode({ ...command, name: interpreter }, [text]);
}

/** A call of a function reads its body again, with what stands in the call. */
function ofFunction(command: Command, functions: ReadonlyMap<string, string>): Unwrapped {
  const { is_function, program, words, within } = command;
  const body = is_function ? functions.get(program) : undefined;
  const mark = `${program}()`;
  const times = within.filter((name) => name === mark).length;
  if (body === undefined || words.length === 0 || !/\$[{@*\d]/.test(body) || times >= CALLS_MAX)
    return NOTHING;
  const parameters = [program, ...words.map(({ text }) => text)];
  const script = scriptOfText(command, body, 'posix');
  return { commands: [], scripts: [{ ...script, within: [...within, mark], parameters }] };
}

/** Commands whose words are a script: joined, or the one behind a flag. */
function scriptOf(command: Command): string | null {
  const { name, words } = command;
  if (name === 'eval') return joined(words);
  if (name === 'trap') return trapped(words);
  if (name === 'alias') return /^[\w.-]+=(.+)$/s.exec(words[0]?.text ?? '')?.[1] ?? null;
  if (name === 'source' || name === '.') return sourced(command);
  if (name === 'at' || name === 'batch') return inputOf(command)[0] ?? null;
  if (name === 'cmd') return afterFlag(words, /^\/[ckr]$/i);
  if (name === 'powershell' || name === 'pwsh') return powerShellScript(command);
  if (name === 'start-process' || name === 'saps') return startedProcess(command);
  if (name === 'docker' || name === 'podman' || name === 'kubectl' || name === 'oc')
    return ofContainer(words);
  return null;
}

/** `trap 'rm a' EXIT` runs its first word. */
function trapped(words: readonly Word[]): string | null {
  const operands = words.filter(({ text }) => !/^-[lp-]?$/.test(text));
  return operands.length > 1 ? operands[0]!.text : null;
}

/** `source <(...)`, `. /dev/stdin`. */
function sourced(command: Command): string | null {
  const [first] = command.words;
  if (first === undefined) return null;
  return first.output ?? (IS_INPUT.test(first.text) ? (inputOf(command)[0] ?? null) : null);
}

/** Files that are a program's own input. */
const IS_INPUT = /^(?:-|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/;

function joined(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ');
}

function setValue(command: Command, ...flags: readonly string[]): string | null {
  const { values } = argumentsOf(command);
  const set = flags.find((flag) => values.has(flag));
  return set === undefined ? null : values.get(set)!;
}

function afterFlag(words: readonly Word[], flag: RegExp): string | null {
  const at = words.findIndex(({ text }) => flag.test(text));
  return at < 0 ? null : joined(words.slice(at + 1));
}

/** `docker exec web rm -rf /`: the first word that is a shell or an interpreter begins the script. */
function ofContainer(words: readonly Word[]): string | null {
  const verb = words[0]?.text;
  if (verb !== 'exec' && verb !== 'run') return null;
  const at = words.findIndex(
    ({ text }, index) => index > 0 && (text === '--' || SHELLS.has(nameOf(text)) || nameOf(text) === 'rm'),
  );
  if (at < 0) return null;
  const from = words[at]!.text === '--' ? at + 1 : at;
  return words.slice(from).map(quoted).join(' ');
}

/** What `{}` stands for where a search below one folder has one name without a pattern. */
function foundName(words: readonly Word[]): string | null {
  const names = words.filter((_, at) => words[at - 1]?.text === '-name');
  const [first, second] = words;
  const is_one = first !== undefined && !/^[-(!]/.test(first.text) && /^[-(!]/.test(second?.text ?? '-');
  const is_plain = !words.some(({ text }) => /^(?:!|-not|-o|-or)$/.test(text));
  const [name] = names;
  if (!is_one || !is_plain || names.length !== 1 || !/^[\w@.-]+$/.test(name!.text)) return null;
  return `${first.text.replace(/\/$/, '')}/${name!.text}`;
}

/** Every `-exec`, `-execdir`, `-ok` up to its `;` or `+`. */
function ofFind(command: Command): Unwrapped {
  const commands: Command[] = [];
  const { words } = command;
  const found = foundName(words);
  const foundNamed = (word: Word) => (found === null || word.text !== '{}' ? word : { ...word, text: found });
  for (let at = 0; at < words.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir|x|X)$/.test(words[at]!.text)) continue;
    let end = at + 1;
    while (end < words.length && words[end]!.text !== ';' && words[end]!.text !== '+') end += 1;
    const inner = commandOf(command, words.slice(at + 1, end).map(foundNamed), 'find');
    // What comes in is for the first of them.
    if (inner !== null)
      commands.push(commands.length === 0 ? inner : { ...inner, redirections: [], previous: null });
    at = end;
  }
  return { commands, scripts: [] };
}

function ofShell(command: Command): Unwrapped {
  const { words } = command;
  const { has_script, at } = shellOptions(words);
  const operand = words[at];
  const parameters = words.slice(at + 1).map(({ text }) => text);
  if (has_script) {
    if (operand === undefined) return NOTHING;
    const script = scriptOfText(command, operand.text, 'posix');
    return { commands: [], scripts: [parameters.length === 0 ? script : { ...script, parameters }] };
  }
  if (
    operand === undefined ||
    IS_INPUT.test(operand.text) ||
    words.some(({ text }) => /^-[a-z]*s$/.test(text))
  )
    return ofTexts(command, inputOf(command), 'posix');
  if (operand.output !== undefined) return ofTexts(command, [operand.output], 'posix');
  const text = knownFile(command, operand.text)?.text ?? null;
  if (text === null) return NOTHING;
  return {
    commands: [],
    scripts: [{ ...scriptOfText(command, text, 'posix'), parameters: [operand.text, ...parameters] }],
  };
}

/** Returns whether a shell has `-c` among its options, and where its first operand is. */
function shellOptions(words: readonly Word[]): { readonly has_script: boolean; readonly at: number } {
  let has_script = false;
  let at = 0;
  for (; at < words.length; at++) {
    const { text } = words[at]!;
    if (text === '--' || text === '-') return { has_script, at: has_script || text === '--' ? at + 1 : at };
    if (!/^[-+]./.test(text)) break;
    if (SHELL_OPTIONS_WITH_VALUE.test(text)) at += 1;
    if (text.startsWith('--')) continue;
    has_script ||= text.includes('c');
    // Each `o` takes the name of an option from behind: `-euo pipefail`.
    at += text.replace(/[^oO]/g, '').length;
  }
  return { has_script, at };
}

function ofTexts(command: Command, texts: readonly string[], dialect: Dialect): Unwrapped {
  return { commands: [], scripts: texts.map((text) => scriptOfText(command, text, dialect)) };
}

function ofInterpreter(command: Command): Unwrapped {
  const flags = interpreterOf(command.name)!;
  const { words } = command;
  const texts: string[] = [];
  for (const [at, { text }] of words.entries()) {
    const attached = /^--(?:eval|print|execute|run)=([\s\S]+)$/.exec(text)?.[1];
    if (attached !== undefined) texts.push(attached);
    if (!flags.includes(text) && !(flags.includes('-c') && /^-[a-zA-Z]{1,4}c$/.test(text))) continue;
    const code = words[at + 1]?.text;
    if (code !== undefined) texts.push(code);
  }
  if (words.every(({ text }) => text.startsWith('-') || IS_INPUT.test(text))) texts.push(...inputOf(command));
  const file = words.find(({ text }) => !text.startsWith('-'));
  const known = file === undefined ? null : (file.output ?? knownFile(command, file.text)?.text ?? null);
  if (known !== null) texts.push(known);
  return ofCode(command, texts);
}

/** Source code that is run, and what it hands to a shell. */
function ofCode(command: Command, texts: readonly string[]): Unwrapped {
  const { name } = command;
  const has_backticks = name === 'perl' || name === 'ruby' || name === 'php';
  return {
    commands: texts.map((code) => ({
      ...inner(command, name),
      name,
      code,
      words: [],
      previous: null,
      redirections: [],
    })),
    scripts: texts
      .flatMap((code) => shellTextsIn(code, has_backticks))
      .map((text) => scriptOfText(command, text, 'posix')),
  };
}

function ofAwk(command: Command): Unwrapped {
  const code = argumentsOf(command).operands[0] ?? '';
  const piped = [...code.slice(0, 4000).matchAll(/"((?:[^"\\]|\\.){1,1000})"\s{0,8}\|/g)].map(
    ([, script]) => script!,
  );
  const printed = [...code.slice(0, 4000).matchAll(/print\s{0,8}"((?:[^"\\]|\\.){1,1000})"\s{0,8}\|/g)].map(
    ([, script]) => script!,
  );
  return ofTexts(command, [...shellTextsIn(code, false), ...piped, ...printed], 'posix');
}

/** Commands whose words come from their input. */
function ofFed(command: Command, work: Work): Unwrapped {
  const [form] = WRAPPERS.get(command.name)!;
  const rest = command.words.slice(afterOptions(command.words, form!.takes_value));
  return command.name === 'xargs' ? ofXargs(command, rest, work) : ofParallel(command, rest, work);
}

/** The words that `echo` pipes in are filled in for `{}`, or stand behind the command. */
function ofXargs(command: Command, rest: readonly Word[], work: Work): Unwrapped {
  const printed = inputOf(command).at(-1) ?? null;
  const mark = setValue(command, '-I', '-J') ?? markOf(command.words);
  const values =
    printed === null
      ? []
      : printed.split(separatorOf(command), ALTERNATIVES_MAX).filter((text) => text !== '');
  const found = commandOf(command, filled(rest, mark, values, work), 'xargs');
  return found === null ? NOTHING : { commands: [found], scripts: [] };
}

/** At what units the input of `xargs` is split. */
function separatorOf({ words }: Command): RegExp {
  if (words.some(({ text }) => /^(?:-[a-z]*0|--null)$/.test(text))) return /\0|\n$/;
  return words.some(({ text }, at) => /^-d$/.test(words[at - 1]?.text ?? '') && /n$/.test(text))
    ? /\n/
    : /[\s\0]+/;
}

function markOf(words: readonly Word[]): string {
  return (
    words.map(({ text }) => /^(?:-I|--replace=)(.+)$/.exec(text)?.[1]).find((mark) => mark !== undefined) ??
    '{}'
  );
}

function filled(
  words: readonly Word[],
  mark: string,
  values: readonly string[],
  work: Work,
): readonly Word[] {
  const value = values.join(' ');
  const sign = mark === '' || mark.startsWith('-') ? '{}' : mark;
  if (value === '') return words;
  if (!words.some(({ text }) => text.includes(sign)))
    return [...words, ...values.map((text) => ({ text, is_quoted: true }))];
  return words.map((word) => {
    const pieces = word.text.split(sign, PIECES_MAX);
    if (pieces.length === 1 || !afford(work, (pieces.length - 1) * value.length)) return word;
    return { ...word, text: pieces.join(value) };
  });
}

/** What stands behind `:::` is filled in; without a command each of those is one. */
function ofParallel(command: Command, rest: readonly Word[], work: Work): Unwrapped {
  const at = rest.findIndex(({ text }) => text.startsWith(':::'));
  const values = (at < 0 ? [] : rest.slice(at + 1, at + 1 + ALTERNATIVES_MAX))
    .map(({ text }) => text)
    .filter((text) => !text.startsWith(':::'));
  const template = at < 0 ? rest : rest.slice(0, at);
  const printed = inputOf(command).at(-1) ?? null;
  const all = printed === null ? values : [...values, ...printed.split('\n', ALTERNATIVES_MAX)];
  if (template.length === 0) return ofTexts(command, all, 'posix');
  const one = template.length === 1 ? template[0]!.text : null;
  if (one?.includes(' ')) return ofTexts(command, [one!, `${one} ${all.join(' ')}`], 'posix');
  const words = template.map((word) => ({ ...word, text: word.text.replace(/\{\d?[./]{0,2}\}/g, '{}') }));
  const found = commandOf(command, filled(words, '{}', all, work), 'parallel');
  return found === null ? NOTHING : { commands: [found], scripts: [] };
}
