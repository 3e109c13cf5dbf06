/**
 * Source code of other languages. It is not parsed: only calls that run commands, change files or change a database
 * are searched, with their text arguments.
 */

/** Calls that run their text argument in a shell. */
const SHELL_CALL =
  /(?:\b(?:system|exec|execSync|execFileSync|execFile|popen|popen2|spawn|spawnSync|shell_exec|passthru|proc_open|run|call|check_output|check_call|getoutput|getstatusoutput|execute|execv\w?|execl\w?|Command|do shell script|shell-command(?:-to-string)?|async-shell-command|start-process-shell-command|sh)\b|%x|\bqx)[ \t]{0,4}[([{|]?[ \t]{0,4}(?:\[[ \t]{0,4})?(["'`])/g;
/** Text in backticks, and in other marks that perl and ruby have for them or for the words of a list. */
const BACKTICKS =
  /`([^`\n]{1,1000})`|(?:%x|\bqx|\bexec qw|\bsystem qw)[ \t]{0,4}[({[|!]([^)}\]|!\n]{1,1000})/g;
const TEXT_UNITS_MAX = 2000;
const CALLS_MAX = 100;

/**
 * Returns the commands that code passes to a shell, as text. `hasBackticks`: whether the language runs text in
 * backticks.
 */
export function findShellTexts(code: string, hasBackticks: boolean): readonly string[] {
  const texts: string[] = [];
  for (const call of code.matchAll(SHELL_CALL)) {
    const from = call.index + call[0].length;
    const text = readLiteral(code, from, call[1]!);
    if (text !== null)
      texts.push(joinListLiteral(code, from + text.length, text).replace(/\\(["'`\\])/g, '$1'));
    if (texts.length >= CALLS_MAX) return texts;
  }
  if (!hasBackticks) return texts;
  for (const [, quoted, marked] of code.matchAll(BACKTICKS)) {
    texts.push(quoted ?? marked!);
    if (texts.length >= CALLS_MAX) break;
  }
  return texts;
}

/** Returns the text up to the closing quote; `null` if there is none near. */
function readLiteral(code: string, from: number, quote: string): string | null {
  const endMax = Math.min(code.length, from + TEXT_UNITS_MAX);
  for (let at = from; at < endMax; at++) {
    if (code[at] === '\\') at += 1;
    else if (code.startsWith(quote, at)) return code.slice(from, at);
  }
  return null;
}

/** Joins a list such as `['rm', '-rf', '/']`: the words after the first one are its arguments. */
function joinListLiteral(code: string, from: number, first: string): string {
  const rest = code.slice(from, from + 300);
  const words = /^["'`](?:[ \t]*,[ \t]*(?:\{[ \t]*args:[ \t]*)?\[?[ \t]*(["'`])[^"'`]{0,100}\1)+/.exec(rest);
  if (words === null) return first;
  return `${first} ${words[0].slice(1).replace(/\{[ \t]*args:|["'`,[\]]+/g, ' ')}`;
}

/** A call that deletes its first argument, and whether it deletes what is below it. */
const DELETE_CALL =
  /\b(?:(rmtree|rm_rf?|rimraf(?:\.sync)?|remove_dir|rm_r|rmSync|rmdirSync|removeSync|FileUtils\.(?:rm_r\w*|rmtree|remove_dir|remove_entry\w*)|fs\.(?:promises\.)?rm|Deno\.remove(?:Sync)?)|os\.(?:remove|unlink|rmdir|removedirs)|unlinkSync|fs\.(?:promises\.)?(?:unlink|rmdir)|File\.delete|FileUtils\.rm\w*|unlink)[ \t]{0,4}(?:\([ \t]{0,4}|(?=["']))/g;
/** A literal, or an expression for the home or the working folder, as a whole argument or with a path after it. */
const PATH_ARGUMENT =
  /(?:[\w.]{1,40}\.expanduser\([ \t]*)?(?:(["'`])([^"'`$\\\n]{1,300})\1|((?:os\.environ|process\.env|ENV|os\.getenv|Deno\.env\.get|environ\.get|os\.environ\.get)[.[(]{1,2}["']?(?:HOME|USERPROFILE)["']?[\])]?|(?:require\(["'](?:node:)?os["']\)|os)\.homedir\(\)|(?:pathlib\.)?Path\.home\(\)|Dir\.home|homedir\(\))|((?:os\.getcwd|process\.cwd|Deno\.cwd|Path\.cwd)\(\)))(?:[ \t]*[+/,][ \t]*(["'])\/?([\w./*-]{1,200})\5)?[ \t]*\)?[ \t]*(?=[,);\n]|$)/y;

/** A deletion in source code. */
export interface CodeDeletion {
  /** The path, if the code names it; `null` if it computes it. */
  readonly path: string | null;
  readonly is_recursive: boolean;
}

/** Returns the deletions in code. */
export function listCodeDeletions(code: string): readonly CodeDeletion[] {
  const found: CodeDeletion[] = [];
  for (const call of code.matchAll(DELETE_CALL)) {
    PATH_ARGUMENT.lastIndex = call.index + call[0].length;
    const [, , literal, home, working, , rest] = PATH_ARGUMENT.exec(code) ?? [];
    const base = literal ?? (home !== undefined ? '~' : working !== undefined ? '.' : null);
    const path = base === null || rest === undefined ? base : `${base}/${rest}`;
    found.push({ path, is_recursive: call[1] !== undefined });
    if (found.length >= CALLS_MAX) break;
  }
  return found;
}

/** Calls that give a database a statement, up to its text. */
const STATEMENT_CALL =
  /\b(?:(?:execute|exec|query)\w{0,20}|\w{2,10}_(?:query|exec)|run|all|do|batch|prepare|unsafe|raw|sql)\b[ \t]{0,4}\(?[\w.$ \t,([]{0,60}?('''|"""|["'`])/g;
const CHANGES_DATA = /\b(?:drop|truncate|delete|update|alter|grant|copy)\b/i;
/** Client calls that empty key-value and document stores. */
const EMPTYING_CALL =
  /\.[ \t]{0,4}(?:(flush_?(?:all|db))(?=[ \t]{0,4}(?:[(;\n]|$))|(drop_?(?:database|collection)|(?:deleteMany|delete_many)(?=[ \t]{0,4}\([ \t]{0,4}(?:\{[ \t]{0,4}\}[ \t]{0,4})?\)))[ \t]{0,4}\()|\b(?:execute_command|send_?command|call|command)\([ \t]{0,4}\[?[ \t]{0,4}["'`](flush(?:all|db))["'`]/gi;

/** Returns the clients' commands that do what code does to a database: their words, the program first. */
export function listStoreCommands(code: string): readonly (readonly string[])[] {
  const found: string[][] = [];
  for (const call of code.matchAll(STATEMENT_CALL)) {
    const text = readLiteral(code, call.index + call[0].length, call[1]!);
    if (text !== null && CHANGES_DATA.test(text)) found.push(['psql', '-c', text]);
    if (found.length >= CALLS_MAX) return found;
  }
  for (const [, flush, , command] of code.matchAll(EMPTYING_CALL)) {
    const isFlush = flush !== undefined || command !== undefined;
    found.push(isFlush ? ['redis-cli', 'flushall'] : ['mongosh', '--eval', 'db.dropDatabase()']);
    if (found.length >= CALLS_MAX) break;
  }
  return found;
}

/** Calls that print a literal, or several that are joined. */
const PRINT_CALL =
  /\b(?:print|puts|echo|say|printf|console\.log|(?:process|sys)\.stdout\.write)\b[ \t]{0,4}\(?[ \t]{0,4}((?:"(?:[^"\\\n]|\\.){1,1000}"|'(?:[^'\\\n]|\\.){1,1000}')(?:[ \t]{0,4}[.+][ \t]{0,4}(?:"(?:[^"\\\n]|\\.){1,1000}"|'(?:[^'\\\n]|\\.){1,1000}')){0,20})/g;

/** Returns the literals that code prints, one for each line; `null` if there are none. */
export function findPrintedText(code: string): string | null {
  const lines: string[] = [];
  for (const [, literals] of code.matchAll(PRINT_CALL)) {
    lines.push(
      literals!
        .replace(/(["'])[ \t]{0,4}[.+][ \t]{0,4}["']/g, '')
        .slice(1, -1)
        .replace(/\\(["'])/g, '$1'),
    );
    if (lines.length >= CALLS_MAX) break;
  }
  return lines.length === 0 ? null : lines.join('\n');
}
