import { shellTextsIn } from './code.ts';
import { inputOf } from './output.ts';
import type { Command } from './syntax.ts';

/** Programs whose own language has a way out to a shell: editors, pagers, consoles of databases, `sed` and `awk`. */

const CONSOLES =
  /^(?:ed|ex|vi|vim|nvim|view|rvim|less|more|most|man|ftp|sftp|gdb|lldb|sqlite3|psql|mysql|mariadb|irb|emacs|emacsclient|nano|nmap|mail|mutt|telnet|cscope|gnuplot|octave|bc|dc)$/;
/** `:!rm`, `%!rm`, `\! rm`, `.shell rm`, `shell rm`, `r !rm` and the like, up to the end of the line. */
const WAY_OUT =
  /(?:^|[\n|]|[+"'])[ \t]{0,8}(?::{0,2}[ \t]{0,4}(?:sil(?:ent)?!?[ \t]{1,4})?(?:[%.\d,$]{1,12}[ \t]{0,4})?(?:(?:r(?:ead)?|w(?:rite)?)[ \t]{1,4})?!|\\!|:{0,2}term(?:inal)?[ \t]|\.(?:shell|system)[ \t]|shell[ \t]|system[ \t])[ \t]{0,8}([^\n]{1,2000})/g;
const WAYS_MAX = 20;

/** Returns whether a program has a way out to a shell of its own. */
export function hasWayOut(name: string): boolean {
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

/** The scripts that a program is told to run in its own language. */
export function escapedScripts(command: Command): readonly string[] {
  const { name, words } = command;
  const texts = [...words.map(({ text }) => text), ...inputOf(command)];
  if (name === 'sed' || name === 'gsed') return texts.flatMap(sedScripts);
  if (name === 'expect' || name === 'tclsh') return texts.flatMap(tclScripts);
  if (name === 'make' || name === 'gmake')
    return [
      ...inputOf(command).flatMap(recipes),
      ...words.flatMap(({ text }) => /^SHELL=(.{1,1000})$/.exec(text)?.[1] ?? []),
    ];
  if (name === 'socat')
    return texts.flatMap((text) => /^(?:exec|system):["']?([^,]{1,1000})/i.exec(text)?.[1] ?? []);
  return texts.flatMap((text) => [...waysOut(text), ...shellTextsIn(text, false)]);
}

function waysOut(text: string): readonly string[] {
  const found: string[] = [];
  for (const [, script] of text.matchAll(WAY_OUT)) {
    found.push(script!.replace(/["']$/, ''));
    if (found.length >= WAYS_MAX) break;
  }
  return found;
}

/** `1e rm a` runs a command, and `s/a/b/e` what it makes. */
function sedScripts(word: string): readonly string[] {
  const script = word.replace(/^(?:--expression=|-e(?=\d))/, '');
  const found: string[] = [];
  for (const line of script.split(/\n|;(?=[\d$/]*e )/, WAYS_MAX)) {
    const run = /^[\s{]*(?:[\d,$~+!]{1,20}|\/(?:[^/\\]|\\.){0,100}\/!?)?[\s{]*e\s+(.{1,1000})$/.exec(line);
    if (run !== null) found.push(run[1]!);
  }
  return [...found, ...madeScripts(script)];
}

/** The replacements of `s/a/b/e`. */
function madeScripts(script: string): readonly string[] {
  const found: string[] = [];
  const begins = /(?:^|[\s;{}\d$/])s([^\w\s])/g;
  for (
    let begin = begins.exec(script);
    begin !== null && found.length < WAYS_MAX;
    begin = begins.exec(script)
  ) {
    const middle = delimiter(script, begins.lastIndex, begin[1]!);
    const end = delimiter(script, middle + 1, begin[1]!);
    if (end >= script.length) break;
    const flags = /[\w]{0,10}/y;
    flags.lastIndex = end + 1;
    if (flags.exec(script)![0].includes('e'))
      found.push(script.slice(middle + 1, end).replace(/\\(.)/g, '$1'));
    begins.lastIndex = end;
  }
  return found;
}

/** The next such unit that is not escaped; the end of the text without one. */
function delimiter(text: string, from: number, unit: string): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === unit) return at;
  }
  return text.length;
}

function tclScripts(text: string): readonly string[] {
  return [...text.matchAll(/(?:^|[\n;{[])\s{0,8}(?:spawn|exec|system)\s+([^\n;}\]]{1,1000})/g)]
    .slice(0, WAYS_MAX)
    .map(([, script]) => script!);
}

/** The recipes of a makefile. */
function recipes(makefile: string): readonly string[] {
  return makefile
    .split('\n', 400)
    .flatMap((line) => /^(?:\t|[\w.-]+:[^;=]*;)[@-]*(.+)$/.exec(line)?.[1] ?? []);
}
