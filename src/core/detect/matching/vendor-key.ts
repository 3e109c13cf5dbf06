import type { Detector } from './detector.ts';
import { lazily } from './lazily.ts';
import {
  holdsAssignment,
  isCodeName,
  isMadeOfWords,
  isReference,
  isUnmasked,
  isWritten,
} from './placeholders.ts';
import { body } from './sample-text.ts';
import type { Run } from './vendor-token.ts';

/** Nothing is named inside of a long run of base64, whatever its letters spell. */
const IN_NO_RUN = '(?<![A-Za-z0-9+/]{12})';
/** The rest of a name between the vendor's name and the assignment. */
const NAME_REST = '[\\w .-]{0,40}?';
/** Names of what is no secret: `datadog_trace_id`, `twilio_phone_number`, `algolia_index`. */
const NO_SECRET =
  '(?<!(?:id|url|uri|host|port|name|model|models|version|region|zone|sha|hash|digest|checksum|commit|branch|path|file|' +
  'bucket|config|client|provider|header|endpoint|domain|email|index|image|trace|release|number|public|publishable)' +
  '["\'`\\s]{0,3})';
/** A line ends an assignment, unless a quote or the end of a tag says that the value is on the next one. */
const GAP = '(?:[ \\t]{0,16}|\\s{0,16}(?=\\\\?["\'`]))';
const QUOTES = '(?:\\\\?["\'`(=]){0,2}';
const ASSIGNS = `\\\\?["'\`\\])]{0,2}[ \\t]{0,4}(?:(?:=>|[:.?]{0,3}=|\\|\\||[:,(]|\\bis\\b:?)${GAP}|>\\s{0,16})${QUOTES}`;
/** What every assignment begins with: looked for first, for the names of no secrets are many. */
export const ASSIGNS_SECRET = `(?=\\\\?["'\`\\])]{0,2}[ \\t]{0,4}(?:[=:.?|>,(]|is\\b))${NO_SECRET}${ASSIGNS}`;
/** Without a word for a key only what assigns and nothing else does: no comma, no parenthesis, no tag. */
const ASSIGNS_ALONE = `${NO_SECRET}\\\\?["'\`\\])]{0,2}[ \\t]{0,4}(?:=>|[:.?]{0,3}=|:|\\bis\\b:?)${GAP}${QUOTES}`;
const KEY_WORD = '(?:key|secret|token|access|private|password|pass|pat|auth|api|cred(?:ential)?s?)';
/** A word for a key, at the end of the vendor's own name or in the rest of it, and what links it to the value. */
const SAID = `(?:(?<=key|token)|${KEY_WORD}[\\w-]{0,20}?)(?:${ASSIGNS_SECRET}|[ \\t"'\`:=.-]{1,5})`;
/** Another name and what is assigned to it are no value of this one. */
const NO_OTHER_NAME = `(?![A-Za-z_][A-Za-z_-]{1,40}\\d?=(?![=\\s"'\`]|$))`;
const UNITS = '[\\w~+/=.:-]';
const ANY_VALUE = `(?=[A-Za-z0-9]${UNITS}{14})(?=${UNITS}{0,180}?\\d)(?=${UNITS}{0,180}?[a-z])[A-Za-z0-9]${UNITS}{14,180}`;
const AFTER = '(?![A-Za-z0-9])';
/**
 * Where the name says that a secret follows, not only the vendor's, the value may be short, or be letters or
 * digits alone; a call or a member of an object is none.
 */
const SAID_VALUE =
  '(?=[a-z0-9]{8})(?:(?=[a-z]{0,16}\\d)(?=\\d{0,16}[a-z])[a-z0-9]{10,17}|\\d{15,64}|[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}|[a-z]{20,200}|[a-z0-9]{20,200})(?![\\w(.[:/-])';

/** At each of the places behind a name several kinds of values are looked for. */
const TRY_WORK = 320;

/**
 * A key without a form of its own, which the vendor's name beside it gives away: `CALENDARIFIC_KEY = ...`.
 * `vendor` is the name in the id; `what` the vendor's own spelling; `value` the documented form, where there
 * is one; `names` the spellings looked for, in the notation of anchors, without regard to case.
 */
export function beside(
  vendor: string,
  what: string,
  value: Run | null = null,
  names: readonly string[] = [vendor],
): Detector {
  const pattern = lazily(() => patternOf(value, names));
  const examples = lazily(() => examplesOf(value, plain(names[0]!)));
  return {
    id: `${vendor}.named_key`,
    detector: 'api_key',
    tags: [`secret.credential.api_key.${vendor}`],
    severity: 'critical',
    strength: 'cue',
    description: `${what} keys and tokens, identified by the name next to them.`,
    get anchors() {
      return [...new Set(names.map(anchorOf))];
    },
    get pattern() {
      return pattern();
    },
    try_work: TRY_WORK,
    validate: isKeyBesideName,
    get examples() {
      return examples();
    },
  };
}

function patternOf(value: Run | null, names: readonly string[]): RegExp {
  const form = value === null ? ANY_VALUE : `${value.units}{${value.least},${value.most}}`;
  return new RegExp(
    `${IN_NO_RUN}(?:${names.map((spelling) => spelling.replace(/^\\b/, '')).join('|')})${NAME_REST}(?:${SAID}${NO_OTHER_NAME}(?:(?<value>${form})${AFTER}|(?<value>${SAID_VALUE}))|${ASSIGNS_ALONE}${NO_OTHER_NAME}(?<value>${form})${AFTER})`,
    'i',
  );
}

function examplesOf(value: Run | null, name: string): Detector['examples'] {
  const sample = value === null ? body(32) : body(value.least, value.alphabet);
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

/** As much of a name as tells it from ordinary words: `open` alone is in every other sentence. */
function anchorOf(spelling: string): string {
  const [head] = /^(?:(?:\[[^\]]*\]|\\?.)\??){1,10}/.exec(spelling.replace(/^\\b/, ''))!;
  return `(?i)(?<![A-Za-z])${head}`;
}

/** One spelling of those that the notation allows. */
function plain(notation: string): string {
  return notation.replace(/^\\b|\w\?|\[[^\]]*\]\??|\\/g, '');
}

function isKeyBesideName(text: string): boolean {
  return (
    isUnmasked(text) &&
    !isReference(text) &&
    !isWritten(text) &&
    !isMadeOfWords(text) &&
    !holdsAssignment(text) &&
    !/^[a-z][a-z0-9+.-]*:\/\//i.test(text) &&
    !isName(text) &&
    !(text.includes('.') && isCodeName(text))
  );
}

/** A name of code, `apiKeyFromEnvironment`, or one long word of prose. */
function isName(text: string): boolean {
  return (
    /^[A-Za-z]?[a-z]+(?:[A-Z]{1,3}[a-z]{2,})*\d?$/.test(text) && (/[A-Z]/.test(text) || PROSE_END.test(text))
  );
}

const PROSE_END = /(?:tion|ment|ity|ness|ally|ing|ism|ist|able|ized?|s)$/;
