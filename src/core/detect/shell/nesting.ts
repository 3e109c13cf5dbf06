/**
 * Finds where an open construct closes. Every function walks forward once without recursion. A construct that is
 * never closed ends at the end of the text, so that its content is still read.
 */

/** Returns the offset of the `)` that closes a parenthesis opened just before `from`; `to` if there is none. */
export function findClosingParen(text: string, from: number, hasEscapes: boolean, to = text.length): number {
  const open: string[] = ['('];
  const hereDocuments: string[] = [];
  for (let at = from; at < to; at++) {
    const char = text[at]!;
    const around = open[open.length - 1]!;
    if (char === '\\' && hasEscapes) at += 1;
    else if (around === '"') trackQuotes(char, text, at, open);
    else if (char === '#' && /[\s;(|&]/.test(text[at - 1] ?? ' ')) at = findLineEnd(text, at);
    else if (char === "'") at = findClosingQuote(text, at + 1, "'");
    else if (char === '"') open.push('"');
    else if (char === '<') at = addHereDocumentEnd(text, at, hereDocuments);
    else if (char === '\n' && hereDocuments.length > 0) at = findBodiesEnd(text, at, hereDocuments);
    else if (char === '(') open.push('(');
    else if (char === 'c' || char === 'e') markCase(text, at, open);
    else if (char === ')' && around !== 'case') {
      open.pop();
      if (open.length === 0) return at;
    }
  }
  return to;
}

const HERE_DOCUMENT = /<<-?[ \t]{0,8}(?:'([^'\n]{1,80})'|"([^"\n]{1,80})"|\\?([\w.-]{1,80}))/y;

/** Adds the delimiter after `<<`, which ends the body that begins on the next line. */
function addHereDocumentEnd(text: string, at: number, ends: string[]): number {
  if (text[at + 1] !== '<' || text[at + 2] === '<') return text[at + 1] === '<' ? at + 2 : at;
  HERE_DOCUMENT.lastIndex = at;
  const found = HERE_DOCUMENT.exec(text);
  if (found === null) return at + 1;
  ends.push((found[1] ?? found[2] ?? found[3])!);
  return at + found[0].length - 1;
}

/** Returns the offset after the bodies of the here-documents whose first line follows `at`. */
function findBodiesEnd(text: string, at: number, ends: string[]): number {
  let line = at + 1;
  for (const end of ends.splice(0)) {
    let isOver = false;
    while (line < text.length && !isOver) {
      const lineEnd = findLineEnd(text, line);
      isOver = lineEnd - line <= end.length + 64 && text.slice(line, lineEnd).trim() === end;
      line = lineEnd + 1;
    }
  }
  return line - 2;
}

/** Notes `case` and `esac`, because between them a `)` ends a pattern. */
function markCase(text: string, at: number, open: string[]): void {
  if (text.startsWith('case', at) && isSpace(text[at + 4])) {
    if (/(?:^|[(;|&\n{]|\b(?:do|then|else))[ \t]*$/.test(text.slice(Math.max(0, at - 12), at)))
      open.push('case');
  } else if (open.at(-1) === 'case' && text.startsWith('esac', at) && isSpace(text[at - 1])) open.pop();
}

function isSpace(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\n';
}

/** Returns the offset of the next line break, or the end of the text. */
export function findLineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/**
 * Returns the offset of the `}` that closes a `${` just before `from`, across quotes, braces and substitutions; `-1`
 * if there is none before `to`.
 */
export function findClosingBrace(text: string, from: number, to: number): number {
  let depth = 1;
  let isQuoted = false;
  for (let at = from; at < to; at++) {
    const char = text[at]!;
    if (char === '\\') at += 1;
    else if (char === '"') isQuoted = !isQuoted;
    else if (char === "'" && !isQuoted) at = findClosingQuote(text, at + 1, "'");
    else if (char === '`') at = findClosingBacktick(text, at + 1, to);
    else if (char === '$' && text[at + 1] === '(') at = findClosingParen(text, at + 2, true, to);
    else if (char === '$' && text[at + 1] === '{') {
      depth += 1;
      at += 1;
    } else if (char === '}') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

/** Handles a character inside double quotes, where only the closing quote and substitutions count. */
function trackQuotes(char: string, text: string, at: number, open: string[]): void {
  if (char === '"') open.pop();
  else if (char === '(' && text[at - 1] === '$') open.push('(');
}

/** Returns the offset of the next such quote; `text.length` if there is none. */
export function findClosingQuote(text: string, from: number, quote: string): number {
  const at = text.indexOf(quote, from);
  return at < 0 ? text.length : at;
}

/** Returns the offset of the next unescaped backtick; `to` if there is none. */
export function findClosingBacktick(text: string, from: number, to = text.length): number {
  for (let at = from; at < to; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '`') return at;
  }
  return to;
}
