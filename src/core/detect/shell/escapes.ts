import { findShellTexts } from './code.ts';
import { findInput } from './output.ts';
import type { Command } from './syntax.ts';
import { findRecipes } from './task-files.ts';

/** Programs whose own language can run a shell: editors, pagers, database consoles, `sed` and `awk`. */

const CONSOLES =
  /^(?:ed|ex|vi|vim|nvim|view|rvim|less|more|most|man|ftp|sftp|gdb|lldb|sqlite3|psql|mysql|mariadb|irb|emacs|emacsclient|nano|nmap|mail|mutt|telnet|cscope|gnuplot|octave|bc|dc)$/;
/** `:!rm`, `%!rm`, `\! rm`, `.shell rm`, `.read |rm`, `shell rm`, `r !rm` and similar forms, up to the end of the line. */
const SHELL_ESCAPE =
  /(?:^|[\n|]|[+"'])[ \t]{0,8}(?::{0,2}[ \t]{0,4}(?:sil(?:ent)?!?[ \t]{1,4})?(?:[%.\d,$]{1,12}[ \t]{0,4})?(?:(?:r(?:ead)?|w(?:rite)?)[ \t]{1,4})?!|\\!|:{0,2}term(?:inal)?[ \t]|\.(?:shell|system)[ \t]|\.(?:read|import|output|once)[ \t]{1,4}["']?\||shell[ \t]|system[ \t])[ \t]{0,8}([^\n]{1,2000})/g;
const WAYS_MAX = 20;

/** Returns whether a program can start a shell from its own language. */
export function hasShellEscape(name: string): boolean {
  return (
    CONSOLES.test(name) ||
    name === 'sed' ||
    name === 'gsed' ||
    name === 'expect' ||
    name === 'tclsh' ||
    name === 'make' ||
    name === 'gmake' ||
    name === 'socat'
  );
}

/** Returns the shell scripts that a program runs from its own language. */
export function findEscapedScripts(command: Command): readonly string[] {
  const { name, words } = command;
  const texts = [...words.map(({ text }) => text), ...findInput(command)];
  if (name === 'sed' || name === 'gsed') return texts.flatMap(findSedScripts);
  if (name === 'expect' || name === 'tclsh') return texts.flatMap(listTclScripts);
  if (name === 'make' || name === 'gmake')
    return [
      ...findInput(command).flatMap(findRecipes),
      ...words.flatMap(({ text }) => /^SHELL=(.{1,1000})$/.exec(text)?.[1] ?? []),
    ];
  if (name === 'socat')
    return texts.flatMap((text) => /^(?:exec|system):["']?([^,]{1,1000})/i.exec(text)?.[1] ?? []);
  return texts.flatMap((text) => [
    ...listShellEscapes(text),
    ...findShellTexts(text, false),
    ...findEditorDeletions(text),
  ]);
}

/** `call delete("/a", "rf")` of an editor deletes a folder. */
function findEditorDeletions(text: string): readonly string[] {
  return [...text.matchAll(/\bdelete\(["']([^"'\n]{1,300})["'],[ \t]{0,4}["']rf/g)].map(
    ([, path]) => `rm -rf '${path}'`,
  );
}

function listShellEscapes(text: string): readonly string[] {
  const found: string[] = [];
  for (const [, script] of text.matchAll(SHELL_ESCAPE)) {
    found.push(script!.replace(/["']$/, ''));
    if (found.length >= WAYS_MAX) break;
  }
  return found;
}

/** Returns the commands of `sed`: `1e rm a` runs a command, and `s/a/b/e` runs its result. */
function findSedScripts(word: string): readonly string[] {
  const script = word.replace(/^(?:--expression=|-e(?=\d))/, '');
  const found: string[] = [];
  for (const line of script.split(/\n|;(?=[\d$/]*e )/, WAYS_MAX)) {
    const run = /^[\s{]*(?:[\d,$~+!]{1,20}|\/(?:[^/\\]|\\.){0,100}\/!?)?[\s{]*e\s+(.{1,1000})$/.exec(line);
    if (run !== null) found.push(run[1]!);
  }
  return [...found, ...findSedReplacements(script)];
}

/** Returns the replacements of `s/a/b/e`. */
function findSedReplacements(script: string): readonly string[] {
  const found: string[] = [];
  const begins = /(?:^|[\s;{}\d$/])s([^\w\s])/g;
  for (
    let begin = begins.exec(script);
    begin !== null && found.length < WAYS_MAX;
    begin = begins.exec(script)
  ) {
    const middle = findDelimiter(script, begins.lastIndex, begin[1]!);
    const end = findDelimiter(script, middle + 1, begin[1]!);
    if (end >= script.length) break;
    const flags = /[\w]{0,10}/y;
    flags.lastIndex = end + 1;
    if (flags.exec(script)![0].includes('e'))
      found.push(script.slice(middle + 1, end).replace(/\\(.)/g, '$1'));
    begins.lastIndex = end;
  }
  return found;
}

/** Returns the offset of the next such unit that is not escaped; the end of the text if there is none. */
function findDelimiter(text: string, from: number, unit: string): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === unit) return at;
  }
  return text.length;
}

function listTclScripts(text: string): readonly string[] {
  return [...text.matchAll(/(?:^|[\n;{[])\s{0,8}(?:spawn|exec|system)\s+([^\n;}\]]{1,1000})/g)]
    .slice(0, WAYS_MAX)
    .map(([, script]) => script!);
}
