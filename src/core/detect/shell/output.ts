import { memoize } from '../../memoize.ts';
import { decodeBase64 } from '../../text/base64.ts';
import { findPrintedText } from './code.ts';
import { findKnownFile } from './files.ts';
import { findSearchedPaths } from './found-paths.ts';
import type { Command, ShellWord } from './syntax.ts';

/**
 * Computes what commands print, as far as it is known without running them: printed text, files that the same script
 * wrote, and programs that copy, decode or reverse their input.
 */

/** Programs that print lines of their input. Which lines does not matter to a search for commands. */
const COPIES =
  /^(?:cat|tee|head|tail|sort|uniq|tac|grep|egrep|fgrep|fold|expand|unexpand|fmt|column|shuf|pv|dos2unix|iconv|strings|nl|sponge|less|more|bat|xargs)$/;
/** Programs that print settings for the shell, which ordinary start-up files run. */
const SETS_UP =
  /^(?:ssh-agent|direnv|dircolors|brew|starship|pyenv|rbenv|nodenv|goenv|jenv|fnm|zoxide|opam|mise|conda|thefuck|keychain|lesspipe|luarocks|atuin|fzf|minikube)$/;
/** Programs that print literals of the code in their words. */
const PRINTS_FROM_CODE = /^(?:python[\d.]*|node|nodejs|perl|ruby|php|[gmn]?awk)$/;
/** The most commands before one in its pipeline that are read. */
const PIPELINE_MAX = 12;

/** Returns the known input of a program: here-documents, here-strings, known files, and piped text. */
export function findInput(command: Command): readonly string[] {
  const texts = command.redirections.flatMap(({ operator, target }) => {
    if (operator === '<<<' || operator === '<<' || operator === '<<-') return target;
    return operator === '<' ? (findKnownFile(command, target)?.text ?? []) : [];
  });
  texts.push(...findSubstitutedInput(command.words));
  const printed = computeOutput(command.previous);
  return printed === null ? texts : [...texts, printed];
}

/** Returns what a command prints; `null` if unknown. */
export function computeOutput(command: Command | null): string | null {
  return command === null ? null : computeCachedOutput(command);
}

let depth = 0;

const computeCachedOutput = memoize((command: Command): string | null => {
  if (depth >= PIPELINE_MAX) return null;
  depth += 1;
  try {
    return computeCommandOutput(command);
  } finally {
    depth -= 1;
  }
});

function computeCommandOutput(command: Command): string | null {
  const { name, words } = command;
  if (name === 'echo') return formatEcho(words);
  if (name === 'printf') return words[0]?.text === '-v' ? null : formatPrintf(words.map(({ text }) => text));
  if (name === 'which' || name === 'type')
    return words.find(({ text }) => !text.startsWith('-'))?.text ?? null;
  if (name === 'command' && /^-[vV]$/.test(words[0]?.text ?? '')) return words[1]?.text ?? null;
  if (name === 'basename') return words[0]?.text.replace(/^.*\//, '') ?? null;
  if (SETS_UP.test(name)) return '';
  if (name === 'pwd') return command.folder ?? '.';
  if (name === 'mktemp') return formatTemporaryPath(words.map(({ text }) => text));
  const searched = findSearchedPaths(command);
  if (searched !== null) return searched.join('\n');
  if (name === '') return readFileOperands(command);
  if (COPIES.test(name)) return readFileOperands(command);
  if (PRINTS_FROM_CODE.test(name)) return findPrintedText(words.map(({ text }) => text).join('\n'));
  return decodeInput(command) ?? computeWrappedOutput(command);
}

/** The most words before a program whose output a wrapper passes on. */
const WRAPPER_WORDS_MAX = 6;
const LISTS = /^(?:find|fd|ls|git|echo|printf|cat)$/;

/** Returns what `sudo find a` prints, or another wrapper that leaves the output of its program. */
function computeWrappedOutput(command: Command): string | null {
  const at = command.words
    .slice(0, WRAPPER_WORDS_MAX)
    .findIndex(({ text, is_quoted }) => !is_quoted && LISTS.test(text));
  if (at < 0) return null;
  const { text } = command.words[at]!;
  return computeOutput({ ...command, name: text, program: text, words: command.words.slice(at + 1) });
}

/** `mktemp` makes a new path in the folder for temporary files, or from a template with a folder. */
function formatTemporaryPath(texts: readonly string[]): string {
  const template = texts.find((text) => !text.startsWith('-') && text.includes('/'));
  const isElsewhere = texts.some((text) => /^(?:-p|--tmpdir=)/.test(text));
  return template === undefined || isElsewhere ? `${template ?? '$TMPDIR'}/tmp.x` : template;
}

/** Returns what a program reads: the files and substitutions that it names, or else its input. */
function readFileOperands(command: Command): string | null {
  const { name, words } = command;
  const texts: string[] = [];
  const isFile = name !== 'tee' && name !== 'xargs' && name !== '';
  for (const { text, output } of isFile ? words : []) {
    const known = output ?? findKnownFile(command, text)?.text ?? null;
    if (known !== null) texts.push(known);
  }
  const hasFiles = isFile && words.some(({ text }) => !/^[-+]|^\d+$/.test(text) && text !== '<()');
  if (texts.length === 0 && hasFiles && !/grep$|^(?:fold|iconv|head|tail)$/.test(name)) return null;
  if (texts.length === 0) texts.push(...findInput(command), ...findSubstitutedInput(words));
  return texts.length === 0 ? null : texts.join('\n');
}

/** Returns what the substitution in `< <(...)` prints. */
function findSubstitutedInput(words: readonly ShellWord[]): readonly string[] {
  return words.flatMap(({ output }) => output ?? []);
}

function decodeInput(command: Command): string | null {
  const { name, words } = command;
  const change = findTransformation(
    name,
    words.map(({ text }) => text),
  );
  if (change === null) return null;
  const texts = [
    ...findInput(command),
    ...findSubstitutedInput(words),
    ...words.flatMap(({ text }) => findKnownFile(command, text)?.text ?? []),
  ];
  return texts.length === 0 ? null : change(texts.join('\n'));
}

/** Returns the transformation that a program applies to its input. */
function findTransformation(
  name: string,
  texts: readonly string[],
): ((input: string) => string | null) | null {
  const has = (pattern: RegExp) => texts.some((text) => pattern.test(text));
  if (name === 'base64' && has(/^(?:-[a-z]*[dD]|--d\w*)/))
    return (input) => decodeBase64(input.replace(/\s+/g, ''));
  if (name === 'openssl' && has(/^(?:base64|-base64|-a)$/) && has(/^-d$/))
    return (input) => decodeBase64(input.replace(/\s+/g, ''));
  if (name === 'xxd' && has(/r/) && has(/p/)) return decodeHex;
  if (name === 'rev')
    return (input) =>
      input
        .split('\n')
        .map((line) => [...line].reverse().join(''))
        .join('\n');
  if (name === 'tr') return (input) => translateUnits(input, texts);
  if (name === 'sed') return (input) => applySed(input, texts);
  return null;
}

function decodeHex(input: string): string {
  return input
    .replace(/\s+/g, '')
    .replace(/[0-9a-f]{2}/gi, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
}

/** Applies `tr a-z A-Z` or `tr -d x`. */
function translateUnits(input: string, texts: readonly string[]): string {
  const [from = '', to = ''] = texts.filter((text) => !/^-[a-z]+$/i.test(text)).map(expandUnits);
  const isDeleting = texts.some((text) => /^-[a-z]*d/.test(text));
  const map = new Map([...from].map((char, at) => [char, isDeleting ? '' : (to[at] ?? to.at(-1) ?? char)]));
  return [...input].map((char) => map.get(char) ?? char).join('');
}

/** Returns the units that `a-z` stands for. */
function expandUnits(set: string): string {
  return decodeCEscapes(
    set
      .replace(/\[:lower:\]/g, 'a-z')
      .replace(/\[:upper:\]/g, 'A-Z')
      .replace(/^\[(.*)\]$/, '$1'),
  ).replace(/([\s\S])-([\s\S])/g, (whole, first: string, last: string) => {
    const [from, to] = [first.charCodeAt(0), last.charCodeAt(0)];
    if (to < from || to - from > 255) return whole;
    return Array.from({ length: to - from + 1 }, (_, at) => String.fromCharCode(from + at)).join('');
  });
}

/** Applies `sed s/a/b/g` with plain texts; other `sed` commands are ignored. */
function applySed(input: string, texts: readonly string[]): string {
  const script = texts.find((text) => /^s[^\w\s]/.test(text));
  if (script === undefined) return input;
  const [, from, to] = script.split(script[1]!, 4);
  if (from === undefined || to === undefined || from === '' || /[.*[\]^$+?(){}|\\]/.test(from)) return input;
  return /g[^/]*$/.test(script) ? input.replaceAll(from, () => to) : input.replace(from, () => to);
}

/** Returns what `echo` prints. Not all shells read escapes; a line break counts either way. */
function formatEcho(words: readonly ShellWord[]): string {
  const texts = words.map(({ text }) => text);
  const at = texts.findIndex((text) => !/^-[neE]+$/.test(text));
  const isEscaped = texts.slice(0, Math.max(0, at)).some((text) => text.includes('e'));
  const line = texts.filter((text) => !/^-[neE]+$/.test(text)).join(' ');
  return isEscaped ? decodeCEscapes(line) : line.replaceAll('\\n', '\n');
}

const FORMATS_MAX = 40;
const FORMAT = /%(?:%|[-+ #0]{0,3}\d{0,3}(?:\.\d{0,3})?([a-zA-Z]))/g;

/** Returns what `printf` prints for its format and words. */
function formatPrintf(texts: readonly string[]): string {
  const [format = '', ...rest] = texts[0] === '--' ? texts.slice(1) : texts;
  let line = '';
  let at = 0;
  for (let times = 0; times < FORMATS_MAX && (times === 0 || at < rest.length); times++) {
    const before = at;
    line += decodeCEscapes(format).replace(FORMAT, (_, kind: string | undefined) => {
      if (kind === undefined) return '%';
      const value = rest[at++] ?? '';
      if (kind === 'b') return decodeCEscapes(value);
      return kind === 'c' ? value.slice(0, 1) : value;
    });
    if (at === before) break;
  }
  return line;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  e: '\u001b',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
};

/** Decodes the escapes of C: `\x72`, `\162`, `\u0072`, `\n`. */
export function decodeCEscapes(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(0?[0-7]{1,3})|([\s\S]))/g,
    (_, hex?: string, unit?: string, point?: string, octal?: string, char?: string) => {
      const code = hex ?? unit ?? point;
      if (code !== undefined) return decodeCodePoint(Number.parseInt(code, 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
      return ESCAPES[char!] ?? char!;
    },
  );
}

function decodeCodePoint(code: number): string {
  return code > 0x10ffff ? '' : String.fromCodePoint(code);
}
