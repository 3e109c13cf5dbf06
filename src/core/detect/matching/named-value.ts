/**
 * Values that are found by the name before them: `CPF: 111.222.333-96`, `"cpf": "..."`, `my CPF number is ...`. Names
 * are written in anchor notation (anchors.ts), which is also valid in a pattern.
 */

/** The text between a name and its value: a few signs, and words that announce a value. */
const LINK =
  "(?:[\\s:=#\"'`([<>|,;.*_/\\\\\\u2013\\uff1a-]|\\([A-Za-z][A-Za-z -]{1,14}\\)|n[°º]|(?:is|was|are|it|its|it's|numbers?|num|no|nr|nummer|numero|n\\u00famero|num\\u00e9ro|numer|code|id|card|on|file|record|the|for|account|holder|ist|lautet|est|es|\\u00e9|\\u00e8|to|value|of|here|as|provided|given)(?![A-Za-z])){0,12}?";

/** Words that belong to the link, and not to a value that begins with letters. */
const NO_VALUE = '(?!(?:is|was|are|it|its|no|nr|num|id|of|card|the|for|to|on|as|est|ist|es)(?![A-Za-z0-9]))';

/** A value ends where no letter, digit or fraction follows. */
const END = '(?![\\w\\u00c0-\\u024f]|[.,/-]\\d)';

/** A part of a personal name: a capital, small letters, and more of either, as in `McLeod` and `O'Brien`. */
export const NAME_PART =
  "[A-Z\\u00c0-\\u00de\\u0100-\\u024f][a-z\\u00df-\\u024f'’](?:['’-]?[A-Za-z\\u00c0-\\u024f]){0,24}";
/** Anchors have at most this many atoms; the pattern matches the rest of the name. */
const ANCHOR_ATOMS_MAX = 8;
/** The first word can be an ordinary one, as in `first name`; then the anchor extends into the second word. */
const FIRST_WORD_ATOMS_MIN = 4;
const SECOND_WORD_ATOMS = 2;
/** The limit for other alphabets, because every letter of an anchor is its own class in the automaton. */
const ANCHOR_ATOMS_MAX_ELSEWHERE = 5;

/** Builds anchors for names: the beginning of each, in either case, not after a letter or digit. */
export function buildNameAnchors(names: readonly string[]): readonly string[] {
  return [...new Set(names.map((name) => `(?i)(?<![A-Za-z0-9])${getHead(joinWords(name))}`))];
}

/** Joins the words of a name by an optional separator: `tax id`, `tax_id`, `taxId`. */
function joinWords(name: string): string {
  return name.replace(/\[[^\]]*\]| \??/g, (part) => (part.startsWith('[') ? part : '[ _-]?'));
}

function getHead(written: string): string {
  // An anchor has no groups, so it ends before the first one.
  const name = written.replace(/\(\?:.*$/, '');
  const atoms = name.match(/(?:\[(?:\\.|[^\]\\])*\]|\\.|[^\\])(?:\?|\{\d+(?:,\d+)?\})?/g) ?? [];
  const isElsewhere = /^\[?[^\0-\u024f]/.test(name);
  if (isElsewhere) return atoms.slice(0, ANCHOR_ATOMS_MAX_ELSEWHERE).join('');
  const blank = atoms.findIndex((atom) => /^(?: |\[[^\]]* )/.test(atom));
  const isLate = blank >= FIRST_WORD_ATOMS_MIN && blank <= ANCHOR_ATOMS_MAX;
  return atoms.slice(0, isLate ? blank + 1 + SECOND_WORD_ATOMS : ANCHOR_ATOMS_MAX).join('');
}

/** Returns the name as text, for examples. */
export function spellName(name: string): string {
  return name
    .replace(/\[[^\]]*\](?:\{0,\d\}|\?)/g, '')
    .replace(/\[(.)[^\]]*\]/g, '$1')
    .replace(/\?/g, '')
    .replace(/\\(.)/g, '$1');
}

/**
 * Builds a pattern for a name, a link and the value, which is the group `value`. `value` is the source of a pattern.
 */
export function buildNamedPattern(names: readonly string[], value: string): RegExp {
  const any = names.map(joinWords).join('|');
  return new RegExp(
    `(?:${any})(?:numbers?|num|code|s)?(?![A-Za-z])${LINK}(?<![A-Za-z0-9])${NO_VALUE}(?<value>${value})${END}`,
    'i',
  );
}

/** Builds a pattern like `buildNamedPattern` for case-sensitive values: only the name is case-insensitive. */
export function buildExactNamedPattern(names: readonly string[], value: string): RegExp {
  const any = names.map((name) => matchEitherCase(joinWords(name))).join('|');
  return new RegExp(
    `(?:${any})[\\s:=#"'(,*_-]{0,6}(?:(?:is|of|est|es|ist|to|at|on file|code|number|no)[\\s:=#"'(.]{1,4}){0,2}(?<![A-Za-z0-9])(?<value>${value})(?![\\w\\u00c0-\\u024f(]|\\.[A-Za-z])`,
  );
}

function matchEitherCase(name: string): string {
  return name.replace(/\\.|\[[^\]]*\]|[a-z]/gi, (part) =>
    part.length > 1 ? part : `[${part.toLowerCase()}${part.toUpperCase()}]`,
  );
}

/** Builds a pattern for object keys that are such a name: `cpf`, `customer_cpf`, `cpf_number`. */
export function buildKeyPattern(names: readonly string[]): RegExp {
  return new RegExp(
    `^(?:[a-z0-9]{1,20}[ _.-]){0,3}(?:${names.map(joinWords).join('|')})s?(?:[ _-]?(?:number|num|no|nr|code|id|value))?$`,
    'i',
  );
}

/** Returns a function that tests whether a whole text is such a value. */
export function buildWholeMatcher(value: string, flags: 'i' | ''): (text: string) => boolean {
  const whole = new RegExp(`^(?:${value})$`, flags);
  return (text) => whole.test(text);
}
