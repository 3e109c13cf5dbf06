import { countSteps } from '../../steps.ts';
import { tryToSpend, type WorkBudget } from './work.ts';

/**
 * Expansion of a word into several, and modification of a variable's value. Lists and choices are marked by units
 * that no script contains: `"$@"` is a list, `{a,b}` and the variable of a loop are choices.
 */
export const LIST_MARK = '\u0001';
export const CHOICE_START = '\u0002';
export const CHOICE_SEPARATOR = '\u0003';
export const CHOICE_END = '\u0004';

const MARKS = /[\u0001-\u0004]/;
const WORDS_MAX = 64;

/** Returns the text without marks. */
export function removeMarks(text: string): string {
  if (!MARKS.test(text)) return text;
  return text
    .replaceAll(LIST_MARK, ' ')
    .replaceAll(CHOICE_START, '{')
    .replaceAll(CHOICE_SEPARATOR, ',')
    .replaceAll(CHOICE_END, '}');
}

/** Returns whether a text contains mark units, which would be taken for marks of this module. */
export function hasMarks(text: string): boolean {
  return MARKS.test(text);
}

/** Returns a choice of several values, as the variable of a loop has. */
export function buildChoice(values: readonly string[]): string {
  if (values.length === 1) return values[0]!;
  return `${CHOICE_START}${values.slice(0, WORDS_MAX).join(CHOICE_SEPARATOR)}${CHOICE_END}`;
}

/** Returns the words that a marked text expands to, at most 64. */
export function expandMarks(text: string, work: WorkBudget): readonly string[] {
  const open = [text];
  const words: string[] = [];
  for (let next = open.pop(); next !== undefined && words.length < WORDS_MAX; next = open.pop()) {
    if (!tryToSpend(work, next.length)) break;
    const from = next.lastIndexOf(CHOICE_START);
    const to = from < 0 ? -1 : next.indexOf(CHOICE_END, from);
    if (to < 0) {
      words.push(
        ...restoreChoices(next)
          .split(LIST_MARK)
          .filter((word) => word !== ''),
      );
      continue;
    }
    const choices = next.slice(from + 1, to).split(CHOICE_SEPARATOR);
    for (const choice of choices.reverse()) open.push(next.slice(0, from) + choice + next.slice(to + 1));
    if (open.length > WORDS_MAX) open.splice(0, open.length - WORDS_MAX);
  }
  return words.slice(0, WORDS_MAX);
}

function restoreChoices(text: string): string {
  return text.replaceAll(CHOICE_START, '{').replaceAll(CHOICE_SEPARATOR, ',').replaceAll(CHOICE_END, '}');
}

/** The start of `{a,b}` or `{1..3}`. */
const BRACES = /\{(?:[^\s{}'"$`;|&<>()]{0,80}(?:,|\.\.))/y;
const RANGE = /\{(-?\d{1,4}|[A-Za-z])\.\.(-?\d{1,4}|[A-Za-z])\}/y;

/** Returns whether a `{` that is not quoted begins a choice: there is a comma in it, and its end is near. */
export function startsChoice(text: string, at: number): boolean {
  BRACES.lastIndex = at;
  if (text[at + 1] === ' ' || text[at + 1] === '}') return false;
  let depth = 0;
  let hasComma = BRACES.test(text) && text[BRACES.lastIndex - 1] === ',';
  const end = Math.min(text.length, at + 400);
  for (let place = at; place < end; place++) {
    countSteps(1);
    const char = text[place]!;
    if (char === '\\') place += 1;
    else if (/[\s;|&<>()]/.test(char)) return false;
    else if (char === '{' && text[place - 1] !== '$') depth += 1;
    else if (char === ',' && depth === 1) hasComma = true;
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return hasComma;
    }
  }
  return false;
}

/** Reads `{1..3}` at an offset: its values and its end. */
export function readRange(
  text: string,
  at: number,
): { readonly values: readonly string[]; readonly end: number } | null {
  RANGE.lastIndex = at;
  const found = RANGE.exec(text);
  if (found === null) return null;
  const [from, to] = [found[1]!, found[2]!].map((bound) =>
    /\d/.test(bound) ? Number(bound) : bound.charCodeAt(0),
  );
  const isNumber = /\d/.test(found[1]!);
  const step = from! <= to! ? 1 : -1;
  const values: string[] = [];
  for (let value = from!; values.length < WORDS_MAX && step * value <= step * to!; value += step)
    values.push(isNumber ? String(value) : String.fromCharCode(value));
  return { values, end: RANGE.lastIndex };
}

/** Returns the value of `${x...}`: substrings, removed patterns, replacements, upper and lower case. */
export function modifyValue(value: string, how: string): string {
  const part = /^:[ \t]*\(?(-?\d{1,6})\)?(?:[ \t]*:[ \t]*(-?\d{1,6}))?$/.exec(how);
  if (part !== null)
    return takeSubstring(value, Number(part[1]), part[2] === undefined ? null : Number(part[2]));
  if (/^(?:##?|%%?)/.test(how)) return trimValue(value, how);
  if (how.startsWith('/')) return replaceInValue(value, how);
  if (/^\^\^?$/.test(how))
    return how === '^' ? value.charAt(0).toUpperCase() + value.slice(1) : value.toUpperCase();
  if (/^,,?$/.test(how))
    return how === ',' ? value.charAt(0).toLowerCase() + value.slice(1) : value.toLowerCase();
  return value;
}

function takeSubstring(value: string, offset: number, length: number | null): string {
  const from = offset < 0 ? Math.max(0, value.length + offset) : offset;
  if (length === null) return value.slice(from);
  return value.slice(from, length < 0 ? value.length + length : from + length);
}

/** Applies `${x#a}` and `${x%%b*}`: removes what a pattern with at most one star matches. */
function trimValue(value: string, how: string): string {
  const isFront = how.startsWith('#');
  const isLong = how[1] === how[0];
  const pattern = how.slice(isLong ? 2 : 1);
  const star = pattern.indexOf('*');
  if (star < 0) {
    const fits = matchesPattern(
      isFront ? value.slice(0, pattern.length) : value.slice(-pattern.length),
      pattern,
    );
    if (!fits) return value;
    return isFront ? value.slice(pattern.length) : value.slice(0, value.length - pattern.length);
  }
  if (isFront) {
    const suffix = pattern.slice(star + 1);
    const at = isLong ? value.lastIndexOf(suffix) : value.indexOf(suffix, star);
    return at < 0 || !matchesPattern(value.slice(0, star), pattern.slice(0, star))
      ? value
      : value.slice(at + suffix.length);
  }
  const before = pattern.slice(0, star);
  const at = isLong ? value.indexOf(before) : value.lastIndexOf(before);
  return at < 0 ? value : value.slice(0, at);
}

/** Returns whether a text is a pattern with `?` for any unit. */
function matchesPattern(text: string, pattern: string): boolean {
  return (
    text.length === pattern.length && [...pattern].every((char, at) => char === '?' || char === text[at])
  );
}

/** Applies `${x/a/b}` and `${x//a/b}`, for plain patterns only. */
function replaceInValue(value: string, how: string): string {
  const isAll = how.startsWith('//');
  const rest = how.slice(isAll ? 2 : 1).replace(/^[#%]/, '');
  const slash = rest.indexOf('/');
  const pattern = (slash < 0 ? rest : rest.slice(0, slash)).replace(/\\(.)/g, '$1');
  const by = slash < 0 ? '' : rest.slice(slash + 1);
  if (pattern === '') return value;
  return isAll ? value.replaceAll(pattern, () => by) : value.replace(pattern, () => by);
}
