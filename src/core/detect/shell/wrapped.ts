import { buildInnerCommand, buildInnerScript, quoteWord } from './inner.ts';
import { findInput } from './output.ts';
import type { Command, ShellScript, ShellWord } from './syntax.ts';
import { exhaustWork, type WorkBudget } from './work.ts';
import {
  canBeProgram,
  OPTIONS_BEFORE_COMMAND,
  OPTIONS_WITH_SCRIPT,
  WRAPPERS,
  type Wrapper,
} from './wrappers.ts';

/** Returns the commands and scripts inside a command that wraps another one, by the tables in `wrappers.ts`. */
export function unwrapWrapper(
  command: Command,
  work: WorkBudget,
  isDeclared: boolean,
): {
  readonly commands: readonly Command[];
  readonly scripts: readonly ShellScript[];
} {
  const { name, words } = command;
  if (name === 'command' && /^-p?[vV]$/.test(words[0]?.text ?? '')) return { commands: [], scripts: [] };
  const split = name === 'env' ? findSplitScript(words) : null;
  if (split !== null) return { commands: [], scripts: [buildInnerScript(command, split, 'posix')] };
  const commands: Command[] = [];
  const texts: string[] = [...findOptionScripts(command), ...findRemoteScripts(command)];
  const seen = new Set<number>();
  for (const form of isDeclared ? [...(WRAPPERS.get(name) ?? []), DECLARED] : (WRAPPERS.get(name) ?? []))
    for (const at of findCommandStarts(words, form)) {
      const rest = words.slice(at);
      if (
        rest.length === 0 ||
        !canBeProgram(
          name,
          form,
          rest.map(({ text }) => text),
        )
      )
        continue;
      texts.push(...listScripts(rest, form));
      // A script of several words can also run as those words.
      if (seen.has(at) || form.holds === 'scripts' || (form.holds === 'script' && rest.length === 1))
        continue;
      seen.add(at);
      const found = buildInnerCommand(command, rest, name);
      if (found !== null) commands.push(found);
    }
  for (const rest of findOptionCommands(command, work)) {
    const found = buildInnerCommand(command, rest, name);
    if (found !== null) commands.push(found);
  }
  return { commands, scripts: texts.map((text) => buildInnerScript(command, text, 'posix')) };
}

/** A configured wrapper: options, then a command. */
const DECLARED: Wrapper = {
  path: [],
  takes_value: new Set(),
  skips: 0,
  has_assignments: true,
  holds: 'command',
};

/** Returns the scripts in the words after a wrapper: joined, one per word, or one word with blanks. */
function listScripts(rest: readonly ShellWord[], { holds }: Wrapper): readonly string[] {
  const words = rest.map(({ text }) => text);
  if (holds === 'scripts') return words.filter((text) => /\s/.test(text));
  if (holds === 'command') return words.length === 1 && /\s/.test(words[0]!) ? words : [];
  // The last key that `tmux send-keys` presses.
  if (words.length > 1 && /^(?:Enter|C-m|KPEnter)$/.test(words.at(-1)!)) words.pop();
  return [words.join(' ')];
}

function quoteGitWord(written: string): string {
  return quoteWord({ text: written.replaceAll('% ', ' '), is_quoted: true });
}

/** Returns the command that `ext::` names, read by git and by a shell. */
function listTransportScripts(text: string): readonly string[] {
  const script = /^ext::(.{1,1000})$/s.exec(text)?.[1];
  if (script === undefined) return [];
  // `% ` is a blank in a word.
  const words = script.split(/(?<!%) /).map(quoteGitWord);
  return [words.join(' '), script.replaceAll('% ', ' ')];
}

/** Settings of git whose value is a command, or one after a `!`. */
const RUN_SETTING =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|gitproxy|askpass)|diff\.external|credential\.helper|alias\.[\w-]+|filter\.[\w-]+\.(?:clean|smudge|process)|sequence\.editor|gpg\.(?:\w+\.)?program|diff\.[\w-]+\.(?:textconv|command)|merge\.[\w-]+\.driver|pager\.[\w-]+|(?:diff|merge)tool\.[\w-]+\.cmd|interactive\.difffilter|uploadpack\.packobjectshook|remote\.[\w-]+\.(?:uploadpack|receivepack))$/i;

/** Returns the values of such settings after `-c`, and after `git config`. */
function listSettingScripts(words: readonly ShellWord[]): readonly string[] {
  const texts = words.map(({ text }) => text);
  const isConfig = texts.includes('config');
  return texts.flatMap((text, at) => {
    const [, key = '', value] = /^([\w.-]{1,100})(?:=([\s\S]{1,1000}))?$/.exec(text) ?? [];
    if (!RUN_SETTING.test(key)) return [];
    const script = value ?? (isConfig ? texts[at + 1] : undefined);
    return script === undefined ? [] : script.replace(/^!/, '');
  });
}

/**
 * Returns the scripts that run on another machine, whose shell reads its input, and the command that `ext::`
 * of git names.
 */
function findRemoteScripts(command: Command): readonly string[] {
  const { name, words } = command;
  if (name === 'git')
    return [...words.flatMap(({ text }) => listTransportScripts(text)), ...listSettingScripts(words)];
  if (name !== 'ssh' && name !== 'autossh') return [];
  const [form] = WRAPPERS.get(name)!;
  const [at = 0] = findCommandStarts(words, form!);
  const remote = words
    .slice(at)
    .map(({ text }) => text)
    .join(' ');
  return remote === '' || /(?:^|[\s/])(?:ba|z|k|da)?sh(?:\s+-s?)?$/.test(remote) ? findInput(command) : [];
}

const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/**
 * Returns where the command can begin: after sub-commands, options and operands. An unknown option can have a value
 * or none, so both offsets are returned.
 */
function findCommandStarts(words: readonly ShellWord[], form: Wrapper): readonly number[] {
  let at = 0;
  for (const step of form.path) {
    at = skipOptions(words, form.takes_value, at);
    if (!step.includes(words[at]?.text ?? '')) return [];
    at += 1;
  }
  const places = [at];
  let isUnsure = false;
  for (let skips = form.skips; ; skips--) {
    const from = at;
    at = skipOptions(words, form.takes_value, at);
    isUnsure ||= words
      .slice(from, at)
      .some(({ text }, index, all) => isUnknown(text, form) && index === all.length - 1);
    if (form.has_assignments) while (ASSIGNMENT.test(words[at]?.text ?? '')) at += 1;
    if (skips <= 0) break;
    at += 1;
  }
  places[0] = at;
  if (isUnsure) places.push(at + 1);
  const end = words.findIndex(({ text }, index) => index >= form.path.length && text === '--');
  if (end >= at) places.push(end + 1);
  return places;
}

function isUnknown(text: string, { takes_value }: Wrapper): boolean {
  return (
    /^-{1,2}[a-zA-Z][\w-]*$/.test(text) &&
    !takes_value.has(text) &&
    !/^--(?:rm|it|init|help|interactive|tty|detach|login|quiet|verbose|recursive|force|yes|silent|privileged)$/.test(
      text,
    )
  );
}

/** Returns the index of the first word after the options. */
export function skipOptions(words: readonly ShellWord[], takesValue: ReadonlySet<string>, from = 0): number {
  let at = from;
  while (at < words.length && /^(?:-|\+.)/.test(words[at]!.text)) {
    const { text } = words[at]!;
    at += 1;
    if (text === '--') break;
    if (takesValue.has(text)) at += 1;
  }
  return at;
}

/** Returns the script of `env -S 'FOO=1 rm' -rf /`, whose value is split into words. */
function findSplitScript(words: readonly ShellWord[]): string | null {
  const at = words.findIndex(({ text }) => /^(?:-[a-z]*S|--split-string)/.test(text));
  const program = words.findIndex(({ text }) => !/^-|^[A-Za-z_]\w*=/.test(text));
  if (at < 0 || (program >= 0 && program < at)) return null;
  const attached = words[at]!.text.replace(/^(?:-[a-z]*S|--split-string=?)/, '');
  const value = attached === '' ? (words[at + 1]?.text ?? '') : attached;
  return [value, ...words.slice(attached === '' ? at + 2 : at + 1).map(quoteWord)].join(' ').trim();
}

/** Returns the values of options that are scripts: `-c 'rm a'`, `--exec='rm a'`. */
function findOptionScripts({ name, words }: Command): readonly string[] {
  const options = OPTIONS_WITH_SCRIPT.get(name);
  if (options === undefined) return [];
  const found: string[] = [];
  for (const [at, { text }] of words.entries()) {
    const option = options.find((each) => isOption(text, each));
    if (option === undefined) continue;
    const attached =
      text.length > option.length && !isCluster(text, option)
        ? text.slice(option.length).replace(/^=/, '')
        : null;
    const value = attached ?? words[at + 1]?.text;
    if (value !== undefined)
      found.push(
        value.replace(
          /^(?:exec=|(?:ProxyCommand|LocalCommand|KnownHostsCommand|[A-Za-z:-]{1,60}Invoke(?:::)?)[= ])/i,
          '',
        ),
      );
  }
  return found;
}

/** Matches `-c`, `-qc` and `-ccmd`; `--command` and `--command=cmd`. */
function isOption(text: string, option: string): boolean {
  if (text === option || text.startsWith(`${option}=`)) return true;
  if (option.startsWith('--') || option.length !== 2) return false;
  return isCluster(text, option) || (text.startsWith(option) && !text.startsWith('--'));
}

function isCluster(text: string, option: string): boolean {
  return /^-[a-zA-Z]{2,5}$/.test(text) && text.endsWith(option[1]!);
}

/** The most options of one command that a command follows. */
const OPTION_COMMANDS_MAX = 4;

/** Returns the words after an option that a command follows. More such options than a command has end the reading. */
function findOptionCommands({ name, words }: Command, work: WorkBudget): readonly (readonly ShellWord[])[] {
  const options = OPTIONS_BEFORE_COMMAND.get(name);
  if (options === undefined) return [];
  const found: (readonly ShellWord[])[] = [];
  for (const [at, { text }] of words.entries()) {
    const option = options.find(
      (each) => text === each || (each.startsWith('--') && text.startsWith(`${each}=`)),
    );
    if (option === undefined) continue;
    if (found.length >= OPTION_COMMANDS_MAX) {
      exhaustWork(work);
      break;
    }
    const rest = words.slice(at + 1);
    const value = text.slice(option.length + 1);
    found.push(getWordsAfter(text === option ? rest : [{ text: value, is_quoted: true }, ...rest], option));
  }
  return found;
}

/** Returns the words after an option; in `docker run --entrypoint rm alpine -rf /` an image is between them. */
function getWordsAfter(words: readonly ShellWord[], option: string): readonly ShellWord[] {
  const [first, ...rest] = words;
  if (first === undefined) return [];
  return [first, ...rest.filter(({ text }, at) => text !== '--' && !(option === '--entrypoint' && at === 0))];
}
