import { findKnownFile, getFileKey } from './files.ts';
import type { Command } from './syntax.ts';

/**
 * Follows unknown texts to what they come from: a variable to the commands that print its value
 * (`k=$(cat a); curl -d "$k"`), and a written file to the files that are copied or packed into it.
 */

/** The commands that print the value of a variable, by its name. */
export type VariableSources = Map<string, readonly Command[]>;

/** The most commands that are kept for the texts of one command. */
const COMMANDS_MAX = 32;
const VARIABLE = /\$\{?([A-Za-z_]\w{0,80})/g;

/** Returns the commands in a command's substitutions, and those behind the variables that it names. */
export function findTextSources(
  command: Command,
  substituted: readonly Command[],
  known: VariableSources,
): readonly Command[] {
  const found = substituted.slice(0, COMMANDS_MAX);
  if (known.size === 0) return found;
  const { words, redirections, assignments } = command;
  const texts = [
    ...words.flatMap(({ text, is_literal }) => (is_literal === true ? [] : text)),
    ...redirections.map(({ target }) => target),
    ...assignments.map(({ value }) => value),
  ];
  const names = new Set(texts.flatMap((text) => [...text.matchAll(VARIABLE)].map(([, name]) => name!)));
  for (const name of names) {
    if (found.length >= COMMANDS_MAX) break;
    found.push(...(known.get(name) ?? []));
  }
  return found.slice(0, COMMANDS_MAX);
}

/** Keeps the sources of the variables that a command sets to unknown texts. */
export function keepVariableSources(command: Command, known: VariableSources): void {
  const { name, words, assignments, sources, redirections } = command;
  const pairs = words.flatMap(({ text }) => {
    const [, variable, value] = /^([A-Za-z_]\w{0,80})=([\s\S]*)$/.exec(text) ?? [];
    return variable === undefined ? [] : [{ name: variable, value: value! }];
  });
  for (const { name: variable, value } of [...assignments, ...pairs])
    if (sources.length > 0 && value.includes('$')) known.set(variable, sources);
    else known.delete(variable);
  if (!/^(?:read|mapfile|readarray)$/.test(name) || redirections.length === 0) return;
  for (const { text } of words) if (/^[A-Za-z_]\w{0,80}$/.test(text)) known.set(text, [command]);
}

/** The most files that are kept as another one's sources, and the most UTF-16 units in their paths. */
const PATHS_MAX = 8;
const PATH_UNITS_MAX = 400;
const PIPELINE_MAX = 8;

/** Returns the files that a command or those before it in its pipeline read, as far as they name them. */
export function listSourcePaths(command: Command): readonly string[] {
  const found = new Set<string>();
  let looked = 0;
  for (let at: Command | null = command; at !== null && looked < PIPELINE_MAX; at = at.previous) {
    const read = at.redirections.flatMap(({ operator, target }) => (operator === '<' ? target : []));
    for (const text of [...at.words.map((word) => word.text), ...read]) {
      const path = text.replace(/^if=/, '');
      if (path === '' || path.startsWith('-') || path.length > PATH_UNITS_MAX) continue;
      for (const each of findKnownFile(at, path)?.sources ?? [getFileKey(path, at.folder)]) found.add(each);
      if (found.size >= PATHS_MAX) return [...found].slice(0, PATHS_MAX);
    }
    looked += 1;
  }
  return [...found];
}

/** Returns the file that a command packs, encrypts or copies others into; `null` if none. */
export function findPackedFile({ name, words }: Command): string | null {
  const texts = words.map(({ text }) => text);
  const operands = texts.filter((text) => !text.startsWith('-'));
  const getAfter = (flag: RegExp) => texts[texts.findIndex((text) => flag.test(text)) + 1 || texts.length];
  if (/^(?:bsd|g)?tar$/.test(name)) {
    const isCreated = /^-?[a-zA-Z]*[cru]/.test(texts[0] ?? '') || texts.includes('--create');
    const attached = texts.find((text) => text.startsWith('--file='))?.slice(7);
    return isCreated ? (attached ?? getAfter(/^-?[a-zA-Z]*f$|^--file$/) ?? null) : null;
  }
  if (name === 'zip') return operands[0] ?? null;
  if (/^(?:7z[az]?|rar)$/.test(name)) return operands[1] ?? null;
  if (name === 'dd') return texts.find((text) => text.startsWith('of='))?.slice(3) ?? null;
  return /^(?:openssl|gpg2?|age|ccrypt)$/.test(name) ? (getAfter(/^(?:-o|-out|--output)$/) ?? null) : null;
}
