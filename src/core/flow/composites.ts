import { getTargetText, isNetworkProgram } from '../detect/shell/network-programs.ts';
import { listDialects, readCommands } from '../detect/shell/read.ts';
import type { Command, ShellWord } from '../detect/shell/syntax.ts';
import type { CompositeType } from '../types/index.ts';
import { findGroupedNumbers, findWords, isIdentifier, splitJoinedWord } from './pieces.ts';
import { parseUrlParts } from './urls.ts';

/** A part of a composite value that needs a separate label; `null` for text that has no place in the composite. */
export type CompositePart = string | null;

/** Parts per value, at most. With more of them the value has a part without a label. */
const PARTS_MAX = 256;

/** Cuts a value by its declared type into the parts that need a label each. */
export function listCompositeParts(text: string, type: CompositeType): readonly CompositePart[] {
  const parts = CUTS[type](text);
  return parts.length > PARTS_MAX ? [...parts.slice(0, PARTS_MAX), null] : parts;
}

/** Returns whether a label for the whole value may permit it. A file's name is no URL, though browsers open `news.zip`. */
export function isWholeOf(text: string, type: CompositeType): boolean {
  return type !== 'url' || text.includes('://') || !isFileName(text.split('/', 1)[0]!);
}

const CUTS: Readonly<Record<CompositeType, (text: string) => readonly CompositePart[]>> = {
  url: cutUrl,
  addresses: (text) => text.split(/[,;]/).map((part) => (part.trim() === '' ? null : part)),
  text: listAddressesInText,
  command: listTargetsOfCommands,
};

/** A URL needs a known host, a known path, and known values in its query. */
function cutUrl(text: string): readonly CompositePart[] {
  const url = parseUrlParts(text);
  if (url === null || isFileName(url.host)) return [null];
  const path = url.path === '' || url.path === '/' ? [] : [url.path];
  return [url.host, ...path, ...url.values, ...(url.has_rest ? [null] : [])];
}

const ADDRESS =
  /^[^\s@]{1,64}@[^\s@]+\.[^\s@]+$|:\/\/|^\/\/[^/]|^www\.|^[A-Z]{2}\d{2}[A-Z0-9]{8,30}$|^\+?\d{9,30}$|^\d{1,3}(?:\.\d{1,3}){3}(?:[:/]|$)/i;
const HOST =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,10}(\p{L}{2,24}|xn--[a-z0-9-]{2,59})(?::\d{1,5})?(?:\/.*)?$/iu;
/** File extensions, some of which are domains too. */
const FILE_ENDINGS = new Set(
  (
    'bmp c cfg conf cpp css csv doc docx gif go gz h htm html ini java jpeg jpg js json log lua md mdx odt pdf php png ' +
    'ppt pptx py rb rs rtf sh sql svg tar toml ts tsx tsv txt wav xls xlsx xml yaml yml zip'
  ).split(' '),
);

/** Characters that end a host, so that programs that make links begin a new word. */
const OUTSIDE_HOSTS = /[^\p{L}\p{N}.@:/?#%&=+~-]+|\.{2,}|(?<![\p{L}\p{N}])-+/u;
/** A word that is too long to be cut, with a character that addresses have. */
const LONG_WORD = /[^\s"“”„«»`]{513,}/gu;

/** Returns the mail addresses, hosts and accounts in prose. The other words need no label. */
function listAddressesInText(text: string): readonly CompositePart[] {
  const found = new Set<CompositePart>();
  const shown = showAsRead(text);
  for (const [word] of shown.matchAll(LONG_WORD)) if (/[.@]/.test(word)) found.add(null);
  for (const word of findWords(shown))
    for (const { text: part } of [word, ...splitJoinedWord(word)])
      if (isIdentifier(part)) for (const address of listAddressesInWord(part)) found.add(address);
  for (const { text: number } of findGroupedNumbers(shown))
    if (!DATE.test(number) && number.replace(/\D/g, '').length >= ACCOUNT_DIGITS_MIN) found.add(number);
  return [...found];
}

function listAddressesInWord(word: string): readonly string[] {
  if (isAddress(word)) return [word];
  return word
    .split(OUTSIDE_HOSTS)
    .map((part) => part.replace(/[.:]+$/, ''))
    .filter(isAddress);
}

/** Returns a text as a program that makes links reads it: without invisible characters, and with ASCII letters and dots. */
function showAsRead(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[\u3002\uff61]/g, '.');
}

const DATE = /^\d{4}-\d\d-\d\d(?: |$)/;
const ACCOUNT_DIGITS_MIN = 9;

function isAddress(word: string): boolean {
  if (ADDRESS.test(word)) return true;
  return HOST.test(word) && (word.includes('/') || !isFileName(word));
}

function isFileName(word: string): boolean {
  return FILE_ENDINGS.has(HOST.exec(word)?.[1]?.toLowerCase() ?? '');
}

/**
 * Returns the hosts, URLs and paths in a shell command. A command that is too long to read, code, and a word that the
 * shell computes have parts without a label.
 */
function listTargetsOfCommands(text: string): readonly CompositePart[] {
  const found = new Set<CompositePart>();
  for (const dialect of listDialects(text)) {
    const { commands, is_cut } = readCommands(text, { dialect });
    if (is_cut) found.add(null);
    for (const command of commands) addTargets(found, command);
  }
  return [...found];
}

function addTargets(found: Set<CompositePart>, command: Command): void {
  const { name, words, redirections, assignments, code } = command;
  const addTarget = (value: string): void => {
    if (isAddress(value) || /[/\\~]/.test(value)) found.add(value);
  };
  for (const word of words) {
    const value = getTargetText(word.text);
    if (isComputed(word)) found.add(null);
    else if (isNetworkProgram(name) && !word.text.startsWith('-')) found.add(value);
    else addTarget(value);
  }
  for (const { target } of redirections) addTarget(target);
  for (const { value } of assignments) addTarget(value);
  // Code is not read as a command, so that its targets are unknown.
  if (code !== null) found.add(null);
}

/** Returns whether the shell makes a word from an unknown variable, a command's output, or file names. */
function isComputed({ text, is_literal, has_glob }: ShellWord): boolean {
  return has_glob === true || (is_literal !== true && text.includes('$'));
}
