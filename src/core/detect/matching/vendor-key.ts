import type { Detector } from './detector.ts';
import { gradeNamedKey } from './grade-secret.ts';
import { memoizeValue } from './lazy-value.ts';
import {
  holdsAssignment,
  isCodeName,
  isLongWorded,
  isMadeOfWords,
  isPodSuffix,
  isReference,
  isUnmasked,
  isWordLike,
} from './placeholders.ts';
import { sampleBody } from './sample-text.ts';
import type { CharacterRun } from './vendor-token.ts';

/** A name is not searched inside a long run of base64. */
const IN_NO_RUN = '(?<![A-Za-z0-9+/]{12})';
/** The rest of a name, between the vendor's name and the assignment. */
const NAME_REST = '[\\w .-]{0,40}?';
/** Names of values that are not secrets: `datadog_trace_id`, `twilio_phone_number`, `algolia_index`. */
const NO_SECRET =
  '(?<!(?:h1|sha\\d{0,3}|(?:cache|public|partition|sort|primary|foreign|object|row|page|next)[_-]?key|id|url|uri|host|port|name|model|models|version|region|zone|sha|hash|digest|checksum|commit|branch|path|file|' +
  'bucket|config|client|provider|header|endpoint|domain|email|index|image|trace|release|number|public|publishable)' +
  '["\'`\\s]{0,3})';
/** An assignment ends with the line, unless a quote or the end of a tag shows that the value is on the next line. */
const GAP = '(?:[ \\t]{0,16}|\\s{0,16}(?=\\\\?["\'`]))';
const QUOTES = '(?:\\\\?["\'`(=]){0,2}';
const ASSIGNS = `\\\\?["'\`\\])]{0,2}[ \\t]{0,4}(?:(?:=>|[:.?]{0,3}=|\\|\\||[:,(]|\\bis\\b:?)${GAP}|>\\s{0,16})${QUOTES}`;
/** The start of every assignment, checked first, because most names are not names of secrets. */
export const ASSIGNS_SECRET = `(?=\\\\?["'\`\\])]{0,2}[ \\t]{0,4}(?:[=:.?|>,(]|is\\b))${NO_SECRET}${ASSIGNS}`;
/**
 * Without a word for a key, only unambiguous assignments count: no comma, parenthesis or tag; and `is`, which prose has
 * too, only if the vendor documents a form for the value.
 */
const ASSIGNS_ALONE = `${NO_SECRET}\\\\?["'\`\\])]{0,2}[ \\t]{0,4}(?:=>|[:.?]{0,3}=|:)${GAP}${QUOTES}`;
const IS_ALONE = `${NO_SECRET}[ \\t]{0,4}\\bis\\b:?${GAP}${QUOTES}`;
/** `tableau10: "..."` is an entry of a table, of which the vendor's name and a number are the key. */
const NO_NUMBERED = '(?!\\d{1,3}["\']?:)';
const KEY_WORD = '(?:key|secret|token|access|private|password|pass|pat|auth|api|cred(?:ential)?s?)';
/** A word for a key, at the end of the vendor's name or in the rest of it, and the link to the value. */
const SAID = `(?:(?<=key|token)|${KEY_WORD}[\\w-]{0,20}?)(?:${ASSIGNS_SECRET}|[ \\t"'\`:=.-]{1,5})`;
/** Another name with its own assignment is not a value of this name. */
const NO_OTHER_NAME = `(?![A-Za-z_][A-Za-z_-]{1,40}\\d?=(?![=\\s"'\`]|$))`;
const UNITS = '[\\w~+/=.:-]';
const ANY_VALUE = `(?=[A-Za-z0-9]${UNITS}{14})(?=${UNITS}{0,180}?\\d)(?=${UNITS}{0,180}?[a-z])[A-Za-z0-9]${UNITS}{14,180}`;
const AFTER = '(?![A-Za-z0-9])';
/**
 * If the name announces a secret, and not only the vendor, the value can be short, or letters or digits alone; a call
 * or a member of an object is not a value.
 */
const SAID_VALUE =
  '(?=[a-z0-9]{8})(?:(?=[a-z]{0,16}\\d)(?=\\d{0,16}[a-z])[a-z0-9]{10,17}|\\d{15,64}|[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}|[a-z]{20,200}|[a-z0-9]{20,200})(?![\\w(.[:/-])';

/** At each offset after a name several kinds of values are tried. */
const TRY_WORK = 320;

/**
 * Builds a detector for keys without a form of their own, by the vendor's name next to them: `CALENDARIFIC_KEY =
 * ...`. `vendor` is the name in the id; `what` is the vendor's own spelling; `value` is the documented form, if there
 * is one; `names` are the searched spellings, in case-insensitive anchor notation.
 */
export function buildNamedKeyDetector(
  vendor: string,
  what: string,
  value: CharacterRun | null = null,
  names: readonly string[] = [vendor],
): Detector {
  const pattern = memoizeValue(() => getPattern(value, names));
  const examples = memoizeValue(() => getExamples(value, expandNotation(names[0]!)));
  return {
    id: `${vendor}.named_key`,
    detector: 'api_key',
    tags: [`secret.credential.api_key.${vendor}`],
    severity: 'high',
    grade: gradeNamedKey,
    strength: 'cue',
    description: `${what} keys and tokens, identified by the name next to them.`,
    get anchors() {
      return [...new Set(names.map(shortenAnchor))];
    },
    get pattern() {
      return pattern();
    },
    try_work: TRY_WORK,
    precheck: mayNameKey,
    validate: isKeyNextToName,
    get examples() {
      return examples();
    },
  };
}

/** The most units between the start of a vendor's name and a word for a key or an assignment. */
const NAME_UNITS_MAX = 80;
const NAME_UNITS = /[\w .\-[\]\\?]{0,80}/y;
const LINK_UNITS = '=:|,(>"\'`)\t\r\n';

/** Returns whether a word for a key or an assignment can follow a name, which no path or sentence has. */
function mayNameKey(text: string, start: number): boolean {
  NAME_UNITS.lastIndex = start;
  const run = NAME_UNITS.exec(text)![0];
  if (run.length === NAME_UNITS_MAX || LINK_UNITS.includes(text[start + run.length] ?? ' ')) return true;
  return /key|secret|token|access|private|pass|pat|auth|api|cred|\bis\b|[?\]]/i.test(run);
}

function getPattern(value: CharacterRun | null, names: readonly string[]): RegExp {
  const form = value === null ? ANY_VALUE : `${value.units}{${value.least},${value.most}}`;
  const alone = value === null ? ASSIGNS_ALONE : `(?:${ASSIGNS_ALONE}|${IS_ALONE})`;
  return new RegExp(
    `${IN_NO_RUN}(?:${names.map((spelling) => spelling.replace(/^\\b/, '')).join('|')})${NO_NUMBERED}${NAME_REST}(?:${SAID}${NO_OTHER_NAME}(?:(?<value>${form})${AFTER}|(?<value2>${SAID_VALUE}))|${alone}${NO_OTHER_NAME}(?<value3>${form})${AFTER})`,
    'i',
  );
}

function getExamples(value: CharacterRun | null, name: string): Detector['examples'] {
  const sample = value === null ? sampleBody(32) : sampleBody(value.least, value.alphabet);
  return {
    hits: [`${name.toUpperCase()}_API_KEY = "«${sample}»"`, `${name}_secret: «${sample}»,`],
    misses: [
      `${name}_api_key = "\${${name.toUpperCase()}_API_KEY}"`,
      `${name}_token = "<your-${name}-token>"`,
      `the ${name} key is kept in the vault`,
      `${name}_request_id = "${sample}"`,
      `${name}:chat-large-4-6 and ${name} text-embedding-3-large`,
      `model = "${name}:chat-3-5-sonnet-20241022"`,
      `${name}:\n  OTHER_SETTING_1=abcdefghijklmno1`,
    ],
  };
}

/** Returns as much of a name as separates it from ordinary words: `open` alone is in every other sentence. */
function shortenAnchor(spelling: string): string {
  const [head] = /^(?:(?:\[[^\]]*\]|\\?.)\??){1,10}/.exec(spelling.replace(/^\\b/, ''))!;
  return `(?i)(?<![A-Za-z])${head}`;
}

/** Returns one of the spellings that the notation allows. */
function expandNotation(notation: string): string {
  return notation.replace(/^\\b|\w\?|\[[^\]]*\]\??|\\/g, '');
}

function isKeyNextToName(text: string): boolean {
  return (
    isUnmasked(text) &&
    !isReference(text) &&
    !isWordLike(text) &&
    !isMadeOfWords(text) &&
    !holdsAssignment(text) &&
    !/^[a-z][a-z0-9+.-]*:\/\//i.test(text) &&
    !isName(text) &&
    !((text.includes('.') || isLongWorded(text)) && isCodeName(text)) &&
    !isPodSuffix(text) &&
    // The name of an account, as in a list of links.
    !/^[a-z]{1,19}$/.test(text)
  );
}

/** Returns whether a text is a name in code, `apiKeyFromEnvironment`, or one long word of prose. */
function isName(text: string): boolean {
  return (
    /^[A-Za-z]?[a-z]+(?:[A-Z]{1,3}[a-z]{2,})*\d?$/.test(text) && (/[A-Z]/.test(text) || PROSE_END.test(text))
  );
}

const PROSE_END = /(?:tion|ment|ity|ness|ally|ing|ism|ist|able|ized?|s)$/;
