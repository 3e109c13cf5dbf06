import { buildChoice, hasMarks, LIST_MARK } from './expansion.ts';
import { findKnownFile, getFileKey } from './files.ts';
import { computeOutput, findInput } from './output.ts';
import { applyAliases } from './pieces.ts';
import { findPackedFile, listSourcePaths, type VariableSources } from './sources.ts';
import type { Command, KnownFile, KnownFiles } from './syntax.ts';
import { assignVariable } from './words.ts';
import { spendWork, type WorkBudget } from './work.ts';

/** State that all scripts of one reading share: what a shell keeps from one command to the next. */
export interface ShellState {
  readonly variables: Map<string, string>;
  /** Bodies of functions; empty if unknown. */
  readonly functions: Map<string, string>;
  /** Replaced with each change, because commands keep the map that they saw. */
  files: KnownFiles;
  folder: string | null;
  readonly sources: VariableSources;
  readonly work: WorkBudget;
  /** Programs that are declared as wrappers. */
  readonly wrappers: readonly string[];
  /** Returns what a script prints; `null` if unknown. */
  readonly evaluate: (script: string) => string | null;
}

const FILES_MAX = 64;
const DECLARES = /^(?:export|declare|local|readonly|typeset|env|set)$/;
const FETCHES =
  /^(?:curl|wget|fetch|aria2c|http|https|xh|lynx|nc|ncat|scp|sftp|iwr|invoke-webrequest|gsutil)$/;
const DECODES = /^(?:base64|base32|xxd|openssl|gpg|uudecode|gunzip|zcat|xz|bunzip2|rev|tr)$/;
const VALUES_MAX = 16;
const FOLDER_UNITS_MAX = 400;

/** Applies the effects of a command: variables, the folder, files, aliases. */
export function applyEffects(command: Command, shared: ShellState): void {
  applyAssignments(command, shared);
  if (command.name === 'cd' || command.name === 'pushd') applyFolderChange(command, shared);
  if (command.name === 'alias') applyAliases(shared.variables, command.words);
  for (const [path, file] of listWrittenFiles(command)) keepFile(shared, path, file);
}

/** Sets `$0`, `$1` ..., `$@` and `$*`. */
export function setParameters(variables: Map<string, string>, parameters: readonly string[]): void {
  const given = parameters.slice(1);
  assignVariable(variables, '0', parameters[0] ?? '');
  for (let at = 1; at <= 9; at++)
    if (given[at - 1] === undefined) variables.delete(`${at}`);
    else assignVariable(variables, `${at}`, given[at - 1]!);
  assignVariable(variables, '@', given.join(LIST_MARK));
  assignVariable(variables, '*', given.join(' '));
}

/** Returns the parameters that are set, to restore them later; `null` if there are none. */
export function getParameters(variables: ReadonlyMap<string, string>): readonly string[] | null {
  const given = variables.get('@');
  return given === undefined ? null : [variables.get('0') ?? '', ...given.split(LIST_MARK)];
}

/** Restores the earlier parameters. */
export function restoreParameters(variables: Map<string, string>, before: readonly string[] | null): void {
  if (before !== null) setParameters(variables, before);
  else for (const name of '@*0123456789') variables.delete(name);
}

function applyAssignments(command: Command, { variables }: ShellState): void {
  const { name, words } = command;
  const texts = words.map(({ text }) => text);
  if (DECLARES.test(name)) noteDeclarations(texts, name, variables);
  if (name === 'for' || name === 'select') applyLoopVariable(texts, variables);
  if (name === 'unset') for (const text of texts) variables.delete(text);
  if (name === 'printf' && texts[0] === '-v') {
    const printed = computeOutput({ ...command, words: words.slice(2) });
    if (printed !== null && texts[1] !== undefined) assignVariable(variables, texts[1], printed);
  }
  if (name === 'read' || name === 'mapfile' || name === 'readarray') noteRead(command, variables);
}

function noteDeclarations(texts: readonly string[], name: string, variables: Map<string, string>): void {
  if (name === 'set') {
    const at = texts.indexOf('--');
    const words = at >= 0 ? texts.slice(at + 1) : /^[-+]/.test(texts[0] ?? '-') ? null : texts;
    if (words !== null) setParameters(variables, [variables.get('0') ?? '', ...words]);
    return;
  }
  for (const text of texts) {
    const found = /^([A-Za-z_]\w*)(\+?)=([\s\S]*)$/.exec(text);
    if (found !== null)
      assignVariable(
        variables,
        found[1]!,
        (found[2] === '' ? '' : (variables.get(found[1]!) ?? '')) + found[3]!,
      );
    else if (name === 'env' && !text.startsWith('-')) return;
  }
}

/** Sets the variable of `for x in a b` to each of its values. */
function applyLoopVariable(
  [variable, sign, ...values]: readonly string[],
  variables: Map<string, string>,
): void {
  if (variable === undefined || sign !== 'in' || values.length === 0 || values.some(hasMarks)) return;
  assignVariable(variables, variable, buildChoice(values.slice(0, VALUES_MAX)));
}

function noteRead(command: Command, variables: Map<string, string>): void {
  const names = command.words.map(({ text }) => text).filter((text) => /^[A-Za-z_]\w*$/.test(text));
  const [input] = [...findInput(command), ...command.words.flatMap(({ output }) => output ?? [])];
  const last = names.at(-1);
  if (input === undefined || last === undefined || hasMarks(input)) return;
  const lines = input.split('\n', VALUES_MAX).filter((line) => line !== '');
  if (command.name !== 'read') assignVariable(variables, last, lines.join(LIST_MARK));
  else if (names.length === 1)
    assignVariable(variables, last, buildChoice(lines.length === 0 ? [''] : lines));
  else {
    const parts = (lines[0] ?? '').split(/\s+/);
    for (const [at, each] of names.entries())
      assignVariable(
        variables,
        each,
        at === names.length - 1 ? parts.slice(at).join(' ') : (parts[at] ?? ''),
      );
  }
}

function applyFolderChange({ words }: Command, shared: ShellState): void {
  const target = words.find(({ text }) => !/^-[LPe@]$|^--$/.test(text))?.text ?? '~';
  if (target === '-' || target.includes('$()')) {
    shared.folder = null;
    return;
  }
  const path = /^[/~$]/.test(target) || shared.folder === null ? target : `${shared.folder}/${target}`;
  spendWork(shared.work, path.length);
  shared.folder = path.length > FOLDER_UNITS_MAX ? null : normalizeFolder(path);
}

/** Returns the path without `.` and `..`; `null` if it leads back to the start folder of the script. */
function normalizeFolder(path: string): string | null {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length > 0 && !/^(?:\.\.$|[$~])/.test(parts.at(-1)!)) parts.pop();
    else if (part !== '..' || !path.startsWith('/')) parts.push(part);
  }
  if (path.startsWith('/')) return `/${parts.join('/')}`;
  return parts.length === 0 ? null : parts.join('/');
}

/** Returns the files that a command writes, with their content. */
function listWrittenFiles(command: Command): readonly (readonly [path: string, file: KnownFile])[] {
  const { name, redirections } = command;
  const found: [string, KnownFile][] = [];
  for (const { operator, target } of redirections) {
    if (!/^(?:>|>>|>\||&>|&>>)$/.test(operator) || target.startsWith('/dev/')) continue;
    found.push([
      target,
      buildWrittenFile(command, computeOutput(command), operator.includes('>>') ? target : null),
    ]);
  }
  const texts = command.words.map(({ text }) => text);
  const operands = texts.filter((text) => !text.startsWith('-'));
  if (name === 'tee' || name === 'sponge') {
    const isAdded = texts.some((text) => /^-a|^--append/.test(text));
    for (const path of operands)
      found.push([path, buildWrittenFile(command, computeOutput(command), isAdded ? path : null)]);
  }
  if (/^(?:cp|mv|ln|install|rename)$/.test(name) && operands.length >= 2) {
    // Values of flags are among the operands: `install -m 755 a b`.
    const [source, target] = operands.slice(-2) as [string, string];
    const input = source === '/dev/stdin' ? findInput(command)[0] : undefined;
    const file: KnownFile | null =
      input === undefined ? findKnownFile(command, source) : { text: input, origin: 'script' };
    if (name === 'ln' && texts.some((text) => /^(?:-[a-zA-Z]*s|--symbolic)/.test(text)))
      found.push([target, { text: file?.text ?? null, origin: file?.origin ?? 'script', link: source }]);
    else found.push([target, file ?? buildCopy(command)]);
  }
  const packed = findPackedFile(command);
  if (packed !== null) found.push([packed, buildCopy(command)]);
  if (name === 'curl' || name === 'wget' || name === 'aria2c')
    for (const path of listFetchedPaths(name, texts)) found.push([path, { text: null, origin: 'network' }]);
  return found;
}

/** Returns a file with unknown content of others. */
function buildCopy(command: Command): KnownFile {
  return { text: null, origin: 'script', sources: listSourcePaths(command) };
}

/** Returns a file with what a command prints, after its earlier content. */
function buildWrittenFile(command: Command, text: string | null, addedTo: string | null): KnownFile {
  const before = addedTo === null ? null : findKnownFile(command, addedTo);
  if (text !== null)
    return {
      text: `${before?.text ?? ''}${before === null ? '' : '\n'}${text}`,
      origin: before?.origin ?? 'script',
    };
  let looked = 0;
  for (let at: Command | null = command; at !== null && looked < 12; at = at.previous) {
    if (FETCHES.test(at.name)) return { text: null, origin: 'network' };
    if (DECODES.test(at.name)) return { ...buildCopy(command), origin: 'decoded' };
    looked += 1;
  }
  return buildCopy(command);
}

/** Returns the paths to which `curl` and `wget` write. */
function listFetchedPaths(name: string, texts: readonly string[]): readonly string[] {
  const paths: string[] = [];
  let isNamed = false;
  for (const [at, text] of texts.entries()) {
    const attached = /^(?:-o|--output=|--output-document=|-O)(.+)$/.exec(text)?.[1];
    const isOutput =
      /^(?:-[a-zA-Z]*o|--output|--output-document)$/.test(text) ||
      (name === 'wget' && /^-[a-zA-Z]*O$/.test(text));
    if (isOutput && texts[at + 1] !== undefined) paths.push(texts[at + 1]!);
    else if (attached !== undefined && !(name === 'curl' && text.startsWith('-O'))) paths.push(attached);
    isNamed ||= isOutput || attached !== undefined;
  }
  const takesName =
    name === 'curl' ? texts.some((text) => /^(?:-[a-zA-Z]*O[a-zA-Z]*|--remote-name)$/.test(text)) : !isNamed;
  if (!takesName) return paths;
  const urls = texts.filter((text) => /^(?:https?:|ftp:)?\/*[\w.-]+\/./.test(text) && !text.startsWith('-'));
  return [
    ...paths,
    ...urls.map((url) => /([^/?#]+)(?:[?#].*)?$/.exec(url)?.[1] ?? '').filter((file) => file !== ''),
  ];
}

function keepFile(shared: ShellState, path: string, file: KnownFile): void {
  if (path.length > 400) return;
  const key = getFileKey(path, shared.folder);
  const files = new Map(shared.files);
  files.delete(key);
  files.set(key, file);
  if (files.size > FILES_MAX) files.delete(files.keys().next().value!);
  shared.files = files;
}
