import { type CommandMatch, judgeScript } from './judge.ts';

/**
 * Commands in the arguments of a tool: values of keys that hold commands (`command`, `script`, `argv` ...) are
 * read as what they are, whole. A program and its arguments may also stand in two members or in a list:
 * `{"command": "rm", "args": ["-rf", "/"]}`.
 */
const SCRIPT_KEY =
  /^(?:commands?|cmds?|script|scripts|shell|bash|sh|zsh|powershell|exec|execute|run|cli|cmdline|command_?line|shell_?(?:command|script|code)|bash_?command|terminal|one_?liner|entrypoint|source_?code|code|python|javascript|input|sql|query|statement|program|executable|file|keystrokes)$/i;
const LIST_KEY = /^(?:args|argv|arguments|params|parameters|command_?args|cmd_?args|commands?|cmds?)$/i;
/** Keys whose values are often prose: only what stands alone as a command counts. */
const LOOSE_KEY = /^(?:input|file|program|executable|run|query|statement)$/i;
/** Keys whose values are source code of any language, so that they are read as code and as a script. */
const CODE_KEY = /^(?:source_?code|code|script|python|javascript)$/i;
/** Without one of these words source code has nothing to judge: most of it is passed at the cost of one look. */
const CODE_CUE =
  /\b(?:rm|sudo|su|curl|wget|nc|ncat|dd|mkfs|chmod|chown|kill|pkill|git|docker|kubectl|helm|terraform|aws|az|gcloud|bash|sh|zsh|eval|exec\w*|system|popen|spawn\w*|subprocess|child_process|shell\w*|rmtree|unlink\w*|remove\w*|rm_rf?|rmSync|rmdir\w*|del|delete|drop|truncate|grant|socket|pickle|marshal|b64decode|base64|atob|ssh|scp|powershell|iex|history|env|printenv|cat|crontab|shred|systemctl|iptables|flushall|find|tar|reboot|shutdown|etc|dev|reg|net|schtasks)\b/i;
const LIST_UNITS_MAX = 65_536;

/** The leaf that is visited, as `walk` gives it. */
export interface CommandLeaf {
  readonly kind: 'key' | 'string' | 'number';
  readonly text: string;
  readonly index: number;
  readonly is_member: boolean;
  readonly path: () => string | null;
}

/** What was found in one leaf that was read as a command, which may be nothing. */
export interface FoundCommands {
  readonly matches: readonly CommandMatch[];
  readonly index: number;
  readonly path: string | null;
  readonly is_cut: boolean;
}

/** Reads the leaves of one payload in their order; `end` gives what was still open. */
export interface PayloadReader {
  readonly visit: (leaf: CommandLeaf) => FoundCommands | null;
  readonly end: () => FoundCommands | null;
}

interface List {
  readonly index: number;
  readonly path: string | null;
  readonly first_units: number;
  words: string;
}

/** Begins to read a payload. */
export function readPayload(): PayloadReader {
  let key = '';
  let program: string | null = null;
  let list: List | null = null;
  const close = (): FoundCommands | null => {
    const closed = list;
    list = null;
    if (closed === null) return null;
    const { matches, is_cut } = judgeScript(closed.words);
    const placed = matches.map(({ rule }) => ({ rule, start: 0, end: closed.first_units }));
    return { matches: onceEach(placed), index: closed.index, path: closed.path, is_cut };
  };
  const visit = (leaf: CommandLeaf): FoundCommands | null => {
    if (leaf.kind === 'key') {
      key = leaf.text;
      return close();
    }
    if (leaf.kind !== 'string' || !holdsCommands(key)) return null;
    if (leaf.is_member) {
      program = SCRIPT_KEY.test(key) && /^[\w./\\:-]{1,200}$/.test(leaf.text) ? leaf.text : null;
      return judged(leaf, key);
    }
    if (list !== null && list.words.length < LIST_UNITS_MAX) list.words += ` ${quoted(leaf.text)}`;
    else if (list === null) {
      const words = [
        ...(program === null ? [] : [program]),
        leaf.text.includes(' ') && program === null ? leaf.text : quoted(leaf.text),
      ];
      list = { index: leaf.index, path: leaf.path(), first_units: leaf.text.length, words: words.join(' ') };
    }
    return null;
  };
  return { visit, end: close };
}

const known_keys = new Map<string, boolean>();
const KEYS_MAX = 2000;
const KEY_UNITS_MAX = 24;

/** Whether values of such a key are commands; payloads have few keys many times, so that the answer is kept. */
export function holdsCommands(key: string): boolean {
  if (key.length > KEY_UNITS_MAX) return false;
  let answer = known_keys.get(key);
  if (answer === undefined) {
    answer = SCRIPT_KEY.test(key) || LIST_KEY.test(key);
    if (known_keys.size < KEYS_MAX) known_keys.set(key, answer);
  }
  return answer;
}

/** A value as a script; where the key says little, only one line that is all command. */
function judged(leaf: CommandLeaf, key: string): FoundCommands | null {
  const { text } = leaf;
  if (LOOSE_KEY.test(key) && !(text.includes(' ') && isCommandLine(text))) return null;
  if (CODE_KEY.test(key) && !CODE_CUE.test(text)) return null;
  const { matches, is_cut } = judgeScript(text);
  const all = CODE_KEY.test(key) ? onceEach([...matches, ...judgeCode(text)]) : matches;
  return { matches: all, index: leaf.index, path: all.length === 0 ? null : leaf.path(), is_cut };
}

/** What source code would hand to a shell or delete; the place is the whole of it. */
function judgeCode(text: string): readonly CommandMatch[] {
  const { matches } = judgeScript(`python3 -c '${text.replaceAll("'", `'\\''`)}'`);
  return matches.map(({ rule }) => ({ rule, start: 0, end: text.length }));
}

/** One short line without the marks and the words of a sentence. */
export function isCommandLine(text: string): boolean {
  if (
    text.length > 2000 ||
    /[.?!:]$/.test(text.trimEnd()) ||
    /\n[^\n]*[a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+/.test(text)
  )
    return false;
  const words = text.split(/\s+/, 30);
  const plain = words.filter((word) => /^[A-Za-z']{2,},?$/.test(word)).length;
  return words.length < 6 || plain < words.length * 0.7;
}

function quoted(text: string): string {
  return /^[\w@%+=:,./~*$-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function onceEach(matches: readonly CommandMatch[]): readonly CommandMatch[] {
  const ids = new Set<string>();
  return matches.filter(({ rule }) => !ids.has(rule.id) && ids.add(rule.id));
}
