/**
 * Source code of other languages. It is not parsed: only calls that run commands or change files are searched, with
 * their text arguments.
 */

/** Calls that run their text argument in a shell. */
const SHELL_CALL =
  /(?:\b(?:system|exec|execSync|execFileSync|execFile|popen|popen2|spawn|spawnSync|shell_exec|passthru|proc_open|run|call|check_output|check_call|getoutput|getstatusoutput|execute|execv\w?|execl\w?|Command|do shell script|shell-command(?:-to-string)?|async-shell-command|start-process-shell-command|sh)\b|%x|\bqx)[ \t]{0,4}[([{|]?[ \t]{0,4}(?:\[[ \t]{0,4})?(["'`])/g;
const BACKTICKS = /`([^`\n]{1,1000})`/g;
const TEXT_UNITS_MAX = 2000;
const CALLS_MAX = 100;

/**
 * Returns the commands that code passes to a shell, as text. `has_backticks`: whether the language runs text in
 * backticks.
 */
export function findShellTexts(code: string, has_backticks: boolean): readonly string[] {
  const texts: string[] = [];
  for (const call of code.matchAll(SHELL_CALL)) {
    const from = call.index + call[0].length;
    const text = readLiteral(code, from, call[1]!);
    if (text !== null)
      texts.push(joinListLiteral(code, from + text.length, text).replace(/\\(["'`\\])/g, '$1'));
    if (texts.length >= CALLS_MAX) return texts;
  }
  if (!has_backticks) return texts;
  for (const [, text] of code.matchAll(BACKTICKS)) {
    texts.push(text!);
    if (texts.length >= CALLS_MAX) break;
  }
  return texts;
}

/** Returns the text up to the closing quote; `null` if there is none near. */
function readLiteral(code: string, from: number, quote: string): string | null {
  const end_max = Math.min(code.length, from + TEXT_UNITS_MAX);
  for (let at = from; at < end_max; at++) {
    if (code[at] === '\\') at += 1;
    else if (code[at] === quote) return code.slice(from, at);
  }
  return null;
}

/** Joins a list such as `['rm', '-rf', '/']`: the words after the first one are its arguments. */
function joinListLiteral(code: string, from: number, first: string): string {
  const rest = code.slice(from, from + 300);
  const words = /^["'`](?:[ \t]*,[ \t]*\[?[ \t]*(["'`])[^"'`]{0,100}\1)+/.exec(rest);
  if (words === null) return first;
  return `${first} ${words[0].slice(1).replace(/["'`,[\]]+/g, ' ')}`;
}
