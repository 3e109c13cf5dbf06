import { shellTextsIn } from './code.ts';
import { once } from './memo.ts';
import { argumentsOf } from './options.ts';
import { powerShellScript, startedProcess } from './powershell.ts';
import { type Command, type Dialect, nameOf, type Script, type Word } from './syntax.ts';
import { afford, spend, type Work } from './work.ts';
import { interpreterOf, SHELLS, WRAPPERS } from './wrappers.ts';

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

/**
 * The commands and scripts that a command runs: what is behind `sudo` and `xargs`, the script of `bash -c`, what
 * `find -exec` calls, what source code hands to a shell, what is piped into a shell. One level at a time.
 */
export function unwrap(command: Command, work: Work): Unwrapped {
  const unwrapped = innerOf(command, work);
  for (const { words } of unwrapped.commands) spend(work, words.length);
  for (const { text } of unwrapped.scripts) spend(work, text.length);
  return unwrapped;
}

function innerOf(command: Command, work: Work): Unwrapped {
  const { name } = command;
  if (name === 'find' || name === 'fd') return ofFind(command);
  if (SHELLS.has(name)) return ofShell(command);
  if (interpreterOf(name) !== undefined) return ofInterpreter(command);
  if (name === 'awk' || name === 'gawk' || name === 'mawk' || name === 'nawk') return ofAwk(command);
  if (WRAPPERS.has(name)) return ofWrapper(command, work);
  const script = scriptOf(command);
  if (script === null) return NOTHING;
  return ofTexts(command, [script], WINDOWS_SHELLS.has(name) ? 'windows' : 'posix');
}

/** Commands whose words are a script: joined, or the one behind a flag. */
function scriptOf(command: Command): string | null {
  const { name, words } = command;
  if (name === 'eval') return joined(words);
  if (name === 'trap') return words.length > 1 ? words[0]!.text : null;
  if (name === 'alias') return /^[\w.-]+=(.+)$/s.exec(words[0]?.text ?? '')?.[1] ?? null;
  if (name === 'su' || name === 'runuser' || name === 'script') return ofUser(words);
  if (name === 'cmd') return afterFlag(words, /^\/[ckr]$/i);
  if (name === 'powershell' || name === 'pwsh') return powerShellScript(command);
  if (name === 'start-process' || name === 'saps') return startedProcess(command);
  if (name === 'docker' || name === 'podman' || name === 'kubectl' || name === 'oc')
    return ofContainer(words);
  return null;
}

/** `su -c`, `script -qc`: the word behind the flag. */
function ofUser(words: readonly Word[]): string | null {
  const at = words.findIndex(({ text }) => /^(?:-[a-zA-Z]*c|--command)$/.test(text));
  return at < 0 ? null : (words[at + 1]?.text ?? null);
}

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

function quoted({ text }: Word): string {
  return /^[\w@%+=:,./~*$-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Every `-exec`, `-execdir`, `-ok` up to its `;` or `+`. */
function ofFind(command: Command): Unwrapped {
  const commands: Command[] = [];
  const { words } = command;
  for (let at = 0; at < words.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir|x|X)$/.test(words[at]!.text)) continue;
    let end = at + 1;
    while (end < words.length && words[end]!.text !== ';' && words[end]!.text !== '+') end += 1;
    const inner = commandOf(command, words.slice(at + 1, end), 'find');
    // What comes in is for the first of them.
    if (inner !== null)
      commands.push(commands.length === 0 ? inner : { ...inner, redirections: [], previous: null });
    at = end;
  }
  return { commands, scripts: [] };
}

function ofShell(command: Command): Unwrapped {
  const { words } = command;
  const at = words.findIndex(({ text }) => /^[-+](?!-)[a-zA-Z]*c[a-zA-Z]*$/.test(text));
  const first = words.findIndex(({ text }) => !text.startsWith('-') && !text.startsWith('+'));
  const end = words.findIndex(({ text }) => text === '--');
  const has_script = at >= 0 && (first < 0 || at < first) && (end < 0 || at < end);
  if (has_script) {
    const script = words.slice(at + 1).find(({ text }) => !/^[-+]/.test(text));
    return script === undefined ? NOTHING : ofTexts(command, [script.text], 'posix');
  }
  if (first >= 0 && words[first]!.text !== '/dev/stdin') return NOTHING;
  return ofTexts(command, inputOf(command), 'posix');
}

function ofTexts(command: Command, texts: readonly string[], dialect: Dialect): Unwrapped {
  return { commands: [], scripts: texts.map((text) => scriptOfText(command, text, dialect)) };
}

/** What is known of a program's input: here-documents, here-strings, and what `echo` pipes into it. */
export function inputOf(command: Command): readonly string[] {
  const texts = command.redirections
    .filter(({ operator }) => operator === '<<<' || operator === '<<' || operator === '<<-')
    .map(({ target }) => target);
  const printed = printedBy(command.previous);
  return printed === null ? texts : [...texts, printed];
}

/** What `echo`, `printf` or `cat` with a here-document prints; `null` for other commands. */
export function printedBy(command: Command | null): string | null {
  if (command === null) return null;
  if (command.name === 'cat')
    return command.words.length > 0
      ? null
      : (command.redirections.find(({ operator }) => operator.startsWith('<<'))?.target ?? null);
  return command.name === 'echo' || command.name === 'printf' ? printed(command) : null;
}

const printed = once(({ words }: Command): string =>
  joined(words.filter(({ text }) => !/^-[neE]+$/.test(text))).replaceAll('\\n', '\n'),
);

function ofInterpreter(command: Command): Unwrapped {
  const flags = interpreterOf(command.name)!;
  const { words, name } = command;
  const texts: string[] = [];
  for (const [at, { text }] of words.entries()) {
    if (!flags.includes(text) && !(flags.includes('-c') && /^-[a-zA-Z]{1,4}c$/.test(text))) continue;
    const code = words[at + 1]?.text;
    if (code !== undefined) texts.push(code);
  }
  if (words.every(({ text }) => text.startsWith('-'))) texts.push(...inputOf(command));
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
  return ofTexts(command, shellTextsIn(code, false), 'posix');
}

function ofWrapper(command: Command, work: Work): Unwrapped {
  const { name, words } = command;
  const { takes_value, skips, has_assignments } = WRAPPERS.get(name)!;
  if (name === 'command' && /^-p?[vV]$/.test(words[0]?.text ?? '')) return NOTHING;
  const split = name === 'env' ? splitOf(words) : null;
  if (split !== null) return ofTexts(command, [split], 'posix');
  let at = afterOptions(words, takes_value);
  if (has_assignments) while (at < words.length && /^[A-Za-z_]\w*=/.test(words[at]!.text)) at += 1;
  at += skips;
  if (name === 'ssh') {
    const remote = joined(words.slice(at));
    return remote === '' ? ofTexts(command, inputOf(command), 'posix') : ofTexts(command, [remote], 'posix');
  }
  const rest = words.slice(at);
  if (name === 'parallel') return ofParallel(command, rest, work);
  if (name === 'watch' && rest.length === 1) return ofTexts(command, [rest[0]!.text], 'posix');
  if (name === 'flock' && rest[0]?.text === '-c') return ofTexts(command, [joined(rest.slice(1))], 'posix');
  if (name === 'xargs') return ofXargs(command, rest, work);
  const found = commandOf(command, rest, name);
  return found === null ? NOTHING : { commands: [found], scripts: [] };
}

/** `env -S 'FOO=1' rm -rf /`: the value is split into words of its own. */
function splitOf(words: readonly Word[]): string | null {
  const at = words.findIndex(({ text }) => /^(?:-[a-z]*S|--split-string)/.test(text));
  const program = words.findIndex(({ text }) => !/^-|^[A-Za-z_]\w*=/.test(text));
  if (at < 0 || (program >= 0 && program < at)) return null;
  const attached = words[at]!.text.replace(/^(?:-[a-z]*S|--split-string=?)/, '');
  return [attached, ...words.slice(at + 1).map(quoted)].join(' ').trim();
}

function afterOptions(words: readonly Word[], takes_value: readonly string[]): number {
  let at = 0;
  while (at < words.length && words[at]!.text.startsWith('-')) {
    const { text } = words[at]!;
    at += takes_value.includes(text) ? 2 : 1;
    if (text === '--') break;
  }
  return Math.min(at, words.length);
}

/** The words that `echo` pipes in are filled in for `{}`, or stand behind the command. */
function ofXargs(command: Command, rest: readonly Word[], work: Work): Unwrapped {
  const printed = printedBy(command.previous);
  const mark = setValue(command, '-I', '-J') ?? markOf(command.words);
  const values = printed === null ? [] : printed.split(/\s+/, ALTERNATIVES_MAX).filter((text) => text !== '');
  const found = commandOf(command, filled(rest, mark, values, work), 'xargs');
  return found === null ? NOTHING : { commands: [found], scripts: [] };
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
  const printed = printedBy(command.previous);
  const all = printed === null ? values : [...values, ...printed.split('\n', ALTERNATIVES_MAX)];
  if (template.length === 0) return ofTexts(command, all, 'posix');
  const one = template.length === 1 ? template[0]!.text : null;
  if (one?.includes(' ')) return ofTexts(command, [`${one} ${all.join(' ')}`], 'posix');
  const words = template.map((word) => ({ ...word, text: word.text.replace(/\{\d?[./]{0,2}\}/g, '{}') }));
  const found = commandOf(command, filled(words, '{}', all, work), 'parallel');
  return found === null ? NOTHING : { commands: [found], scripts: [] };
}

/** The command that some words are, in the place of the one around it. */
function commandOf(around: Command, words: readonly Word[], wrapper: string): Command | null {
  const first = words[0];
  if (first === undefined) return null;
  return { ...inner(around, wrapper), name: nameOf(first.text), program: first.text, words: words.slice(1) };
}

function inner(around: Command, wrapper: string): Command {
  return {
    ...around,
    assignments: [],
    depth: around.depth + 1,
    within: [...around.within, wrapper],
    code: null,
    is_function: false,
  };
}

/** The script's place is that of the whole command: what was quoted has other offsets. */
function scriptOfText(around: Command, text: string, dialect: Dialect): Script {
  const { start, end, depth, within, name } = around;
  return {
    text,
    place: { start, end },
    depth: depth + 1,
    within: [...within, name],
    previous: around.previous,
    dialect,
  };
}
