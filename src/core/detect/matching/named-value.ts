/**
 * Values that are known by the name before them: `CPF: 111.222.333-96`, `"cpf": "..."`, `my CPF number is ...`.
 * A name is written in the anchors' notation (see anchors.ts), which is also one of patterns.
 */

/** Text between a name and its value: a few signs, and words that announce a value. */
const LINK =
  "(?:[\\s:=#\"'`([<>|,;.*_/\\\\\\u2013\\uff1a-]|\\([A-Za-z][A-Za-z -]{1,14}\\)|n[°º]|(?:is|was|are|it|its|it's|numbers?|num|no|nr|nummer|numero|n\\u00famero|num\\u00e9ro|numer|code|id|card|on|file|record|the|for|account|holder|ist|lautet|est|es|\\u00e9|\\u00e8|to|value|of|here|as|provided|given)(?![A-Za-z])){0,12}?";

/** Words that belong to the link, and not to a value that may begin with letters. */
const NO_VALUE = '(?!(?:is|was|are|it|its|no|nr|num|id|of|card|the|for|to|on|as|est|ist|es)(?![A-Za-z0-9]))';

/** A value ends where no letter, digit or fraction goes on. */
const END = '(?![\\w\\u00c0-\\u024f]|[.,/-]\\d)';

/** A part of a name: a capital, small letters, and more of either, as in `McLeod` and `O'Brien`. */
export const NAME_PART =
  "[A-Z\\u00c0-\\u00de\\u0100-\\u024f][a-z\\u00df-\\u024f'’](?:['’-]?[A-Za-z\\u00c0-\\u024f]){0,24}";
/** Anchors are cut there: the rest of the name is the pattern's. */
const ANCHOR_ATOMS_MAX = 8;
/** A first word may be an ordinary one, as in `first name`: some of the second is in the anchor then. */
const FIRST_WORD_ATOMS_MIN = 4;
const SECOND_WORD_ATOMS = 2;
/** Fewer for other alphabets, because every letter of an anchor is a class of its own in the automaton. */
const ANCHOR_ATOMS_MAX_ELSEWHERE = 3;

/** Anchors for names: the beginning of each, in either case, not after a letter or digit. */
export function anchorsOf(names: readonly string[]): readonly string[] {
  return [...new Set(names.map((name) => `(?i)(?<![A-Za-z0-9])${headOf(joined(name))}`))];
}

/** Words of a name are separate in text and joined in keys: `tax id`, `tax_id`, `taxId`. */
function joined(name: string): string {
  return name.replace(/\[[^\]]*\]| \??/g, (part) => (part.startsWith('[') ? part : '[ _-]?'));
}

function headOf(name: string): string {
  const atoms = name.match(/(?:\[(?:\\.|[^\]\\])*\]|\\.|[^\\])(?:\?|\{\d+(?:,\d+)?\})?/g) ?? [];
  const is_elsewhere = /^\[?[^\0-\u024f]/.test(name);
  if (is_elsewhere) return atoms.slice(0, ANCHOR_ATOMS_MAX_ELSEWHERE).join('');
  const blank = atoms.findIndex((atom) => /^(?: |\[[^\]]* )/.test(atom));
  const is_late = blank >= FIRST_WORD_ATOMS_MIN && blank <= ANCHOR_ATOMS_MAX;
  return atoms.slice(0, is_late ? blank + 1 + SECOND_WORD_ATOMS : ANCHOR_ATOMS_MAX).join('');
}

/** The name as someone would write it, for examples. */
export function spelled(name: string): string {
  return name
    .replace(/\[[^\]]*\](?:\{0,\d\}|\?)/g, '')
    .replace(/\[(.)[^\]]*\]/g, '$1')
    .replace(/\?/g, '')
    .replace(/\\(.)/g, '$1');
}

/** A pattern for a name, what links it, and the value, which is the group `value`. `value` is a pattern's source. */
export function patternOf(names: readonly string[], value: string): RegExp {
  const any = names.map(joined).join('|');
  return new RegExp(
    `(?:${any})(?:numbers?|num|code|s)?(?![A-Za-z])${LINK}(?<![A-Za-z0-9])${NO_VALUE}(?<value>${value})${END}`,
    'i',
  );
}

/** The same for values in which small and capital letters differ: only the name is read in either case. */
export function exactPatternOf(names: readonly string[], value: string): RegExp {
  const any = names.map((name) => inEitherCase(joined(name))).join('|');
  return new RegExp(
    `(?:${any})[\\s:=#"'(,*_-]{0,6}(?:(?:is|of|est|es|ist|to|at|on file|code|number|no)[\\s:=#"'(.]{1,4}){0,2}(?<![A-Za-z0-9])(?<value>${value})(?![\\w\\u00c0-\\u024f(]|\\.[A-Za-z])`,
  );
}

function inEitherCase(name: string): string {
  return name.replace(/\\.|\[[^\]]*\]|[a-z]/gi, (part) =>
    part.length > 1 ? part : `[${part.toLowerCase()}${part.toUpperCase()}]`,
  );
}

/** The keys of objects that are such a name: `cpf`, `customer_cpf`, `cpf_number`. */
export function keyOf(names: readonly string[]): RegExp {
  return new RegExp(
    `^(?:[a-z0-9]{1,20}[ _.-]){0,3}(?:${names.map(joined).join('|')})s?(?:[ _-]?(?:number|num|no|nr|code|id|value))?$`,
    'i',
  );
}

/** Returns whether all of a text is such a value. */
export function isWhole(value: string, flags: 'i' | ''): (text: string) => boolean {
  const whole = new RegExp(`^(?:${value})$`, flags);
  return (text) => whole.test(text);
}
