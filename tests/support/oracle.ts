/**
 * tree-sitter's grammar of bash, as a second parser to compare with our own shell parser. The commands of both are
 * matched by their start offset.
 */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { readCommands } from '../../src/core/detect/shell/read.ts';

interface SyntaxNode {
  readonly type: string;
  readonly text: string;
  readonly startIndex: number;
  readonly hasError: boolean;
  readonly namedChildren: readonly SyntaxNode[];
  readonly parent: SyntaxNode | null;
  childForFieldName(name: string): SyntaxNode | null;
  childrenForFieldName(name: string): readonly SyntaxNode[];
  descendantsOfType(types: readonly string[]): readonly SyntaxNode[];
}

interface Tree {
  readonly rootNode: SyntaxNode;
  delete(): void;
}

interface TreeSitter {
  readonly Parser: {
    init(): Promise<void>;
    new (): { setLanguage(language: object): void; parse(text: string): Tree | null };
  };
  readonly Language: { load(file: string): Promise<object> };
}

/** A difference between the two parses of a script. */
export interface Difference {
  readonly kind: 'missing' | 'extra' | 'name' | 'arguments';
  /** Offset of the command in UTF-16 units. */
  readonly at: number;
  /** The command in the oracle's parse and in ours; empty if one of them has none. */
  readonly theirs: string;
  readonly ours: string;
}

export interface Comparison {
  /** Commands that the oracle finds. */
  readonly commands: number;
  readonly differences: readonly Difference[];
}

export type Oracle = (script: string) => Comparison | null;

/** Loads the grammar. The oracle returns `null` for a script that it cannot parse. */
export async function loadOracle(): Promise<Oracle> {
  const require = createRequire(import.meta.url);
  const { Parser, Language } = require('@vscode/tree-sitter-wasm') as TreeSitter;
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(
    await Language.load(require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm')),
  );
  return (script) => {
    const tree = parser.parse(script);
    if (tree === null) return null;
    const answer = tree.rootNode.hasError ? null : compare(tree.rootNode, script);
    tree.delete();
    return answer;
  };
}

/** A word is `null` if a part of it is only known at run time. */
interface OracleReading {
  readonly name: string | null;
  readonly words: readonly (string | null)[];
  /** The grammar parses `a b` in `echo >&2 a b` as a part of the redirection. */
  readonly is_redirected?: boolean;
}

function compare(root: SyntaxNode, script: string): Comparison {
  const theirs = getCommands(root);
  const ours = new Map<number, OracleReading>();
  for (const { start, program, words, within, code } of readCommands(script).commands) {
    if (ours.has(start) || code !== null || within.some((name) => !name.startsWith('$('))) continue;
    ours.set(start, { name: program, words: words.map(({ text }) => text) });
  }
  const differences: Difference[] = [];
  for (const [at, their] of theirs) {
    const our = ours.get(at);
    if (our === undefined) differences.push({ kind: 'missing', at, theirs: shown(their), ours: '' });
    else if (their.name !== null && their.name !== our.name)
      differences.push({ kind: 'name', at, theirs: shown(their), ours: shown(our) });
    else if (!areSame(their, our))
      differences.push({ kind: 'arguments', at, theirs: shown(their), ours: shown(our) });
  }
  for (const [at, our] of ours)
    if (!theirs.has(at) && !NO_COMMANDS.has(our.name!))
      differences.push({ kind: 'extra', at, theirs: '', ours: shown(our) });
  return { commands: theirs.size, differences };
}

/** Words that our parser lists as commands, and the oracle as other nodes. */
const NO_COMMANDS = new Set(['', '[', '[[', 'for', 'case', 'select']);

function shown({ name, words }: OracleReading): string {
  return [name, ...words].map((text) => text ?? '*').join(' ');
}

/** Compares word by word. Around an expansion, which may be empty or long, only the known words in order. */
function areSame(theirs: OracleReading, ours: OracleReading): boolean {
  if (!theirs.words.includes(null) && theirs.is_redirected !== true)
    return (
      theirs.words.length === ours.words.length && theirs.words.every((word, at) => word === ours.words[at])
    );
  let at = 0;
  return theirs.words.every((word) => {
    if (word === null) return true;
    at = ours.words.indexOf(word, at) + 1;
    return at > 0;
  });
}

const COMMANDS = ['command', 'declaration_command', 'unset_command'];

function getCommands(root: SyntaxNode): Map<number, OracleReading> {
  const found = new Map<number, OracleReading>();
  for (const node of root.descendantsOfType(COMMANDS)) {
    // A redirection may precede the command that it belongs to.
    const { parent } = node;
    const around = parent?.type === 'redirected_statement' ? parent.startIndex : node.startIndex;
    found.set(Math.min(around, node.startIndex), node.type === 'command' ? getSeen(node) : declared(node));
  }
  return found;
}

function getSeen(node: SyntaxNode): OracleReading {
  const name = node.childForFieldName('name');
  return {
    name: name === null ? '' : getText(name),
    words: node.childrenForFieldName('argument').map(getText),
    is_redirected: node.parent?.type === 'redirected_statement',
  };
}

/**
 * Returns a declaration such as `export A=1`. Names and assignments after the first word are arguments for our parser.
 */
function declared(node: SyntaxNode): OracleReading {
  return { name: /^[a-z]+/.exec(node.text)![0], words: node.namedChildren.map(() => null) };
}

/** Returns the value of a literal word; `null` if it is expanded at run time. */
function getText(node: SyntaxNode): string | null {
  const { type, text } = node;
  if (type === 'command_name' || type === 'concatenation') {
    const parts = node.namedChildren.map(getText);
    return parts.includes(null) || parts.length === 0 ? null : parts.join('');
  }
  if (type === 'word')
    return /[*?[{~]/.test(text) ? null : text.replace(/\\\n/g, '').replace(/\\(.)/gs, '$1');
  if (type === 'number') return text;
  if (type === 'raw_string') return text.slice(1, -1);
  if (type !== 'string') return null;
  if (node.namedChildren.some((child) => child.type !== 'string_content')) return null;
  return text
    .slice(1, -1)
    .replace(/\\\n/g, '')
    .replace(/\\([$`"\\])/g, '$1');
}

/** A shell script of this machine. */
export interface MachineScript {
  readonly file: string;
  readonly text: string;
}

/** Folders in which distributions have most scripts, and few other files. */
const FOLDERS = [
  '/etc',
  '/usr/bin',
  '/usr/sbin',
  '/usr/lib/dpkg',
  '/usr/lib/git-core',
  '/usr/lib/kernel',
  '/usr/share/bash-completion',
  '/usr/share/debconf',
  '/usr/share/gettext',
  '/usr/share/git-core',
  '/usr/share/postgresql-common',
];
const SCRIPT_BYTES_MAX = 131_072;
const SHEBANG = /^#![^\n]{0,40}\/(?:env )?(?:ba|da|k)?sh\b/;

/** Returns shell scripts of the installed packages from all folders, at most `scriptsMax`. */
export function machineScripts(scriptsMax: number): readonly MachineScript[] {
  const all = FOLDERS.flatMap((folder) => scriptsBelow(folder));
  const step = Math.max(1, Math.ceil(all.length / scriptsMax));
  return all.filter((_, at) => at % step === 0);
}

function scriptsBelow(folder: string): readonly MachineScript[] {
  const found: MachineScript[] = [];
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  for (const entry of entries) {
    const file = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...scriptsBelow(file));
    const text = entry.isFile() ? scriptIn(file) : null;
    if (text !== null) found.push({ file, text });
  }
  return found.sort((a, b) => (a.file < b.file ? -1 : 1));
}

function getHead(file: string): string {
  const opened = openSync(file, 'r');
  try {
    const head = Buffer.alloc(64);
    return head.toString('latin1', 0, readSync(opened, head));
  } finally {
    closeSync(opened);
  }
}

/** Returns the text of a file that starts like a shell script; `null` for other files. */
function scriptIn(file: string): string | null {
  try {
    if (statSync(file).size > SCRIPT_BYTES_MAX || !SHEBANG.test(getHead(file))) return null;
    return readFileSync(file, 'latin1');
  } catch {
    // The file is gone, or not readable for this user.
    return null;
  }
}
