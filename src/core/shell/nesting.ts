/**
 * Where something that was opened is closed again. All of these walk forward once and never recurse; what is
 * never closed ends at the end of the text, so that it is looked at all the same.
 */

/** The offset of the `)` that closes a parenthesis opened just before `from`; `to` without one. */
export function closingParen(text: string, from: number, has_escapes: boolean, to = text.length): number {
  const open: string[] = ['('];
  for (let at = from; at < to; at++) {
    const char = text[at]!;
    const around = open[open.length - 1]!;
    if (char === '\\' && has_escapes) at += 1;
    else if (around === '"') inQuotes(char, text, at, open);
    else if (char === "'") at = closingQuote(text, at + 1, "'");
    else if (char === '"') open.push('"');
    else if (char === '(') open.push('(');
    else if (char === ')') {
      open.pop();
      if (open.length === 0) return at;
    }
  }
  return to;
}

/** Inside double quotes only their end and a substitution count. */
function inQuotes(char: string, text: string, at: number, open: string[]): void {
  if (char === '"') open.pop();
  else if (char === '(' && text[at - 1] === '$') open.push('(');
}

/** The offset of the next such quote; `text.length` without one. */
export function closingQuote(text: string, from: number, quote: string): number {
  const at = text.indexOf(quote, from);
  return at < 0 ? text.length : at;
}

/** The offset of the backtick that is not escaped; `to` without one. */
export function closingBacktick(text: string, from: number, to = text.length): number {
  for (let at = from; at < to; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '`') return at;
  }
  return to;
}
