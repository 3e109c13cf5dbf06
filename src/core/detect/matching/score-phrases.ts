/**
 * Scores phrases. A phrase alone is not a finding: `act as` is in every second request, `system prompt` in
 * every second article. Phrases near each other are added up and become a finding above a threshold.
 */
import { type EmbeddedStrings, findEmbeddedStrings, findStringAt } from '../../json/embedded-strings.ts';
import { decodeLeaf, mapLeafOffsets } from '../../json/scan-json.ts';
import type { Severity } from '../../types/index.ts';
import type { Detector } from './detector.ts';
import { DEFAULT_INJECTION_THRESHOLDS, gradeSeverity, type InjectionThresholds } from './phrases.ts';

/** Phrases at most this many units apart belong together. */
const NEAR_UNITS = 500;
/** The distance from a phrase within which a denial, a quotation or talk about attacks counts. */
const DENIAL_UNITS = 70;
const QUOTE_UNITS = 80;
const TALK_UNITS = 160;
/** A phrase of this weight that is not quoted makes the quoted phrases near it count. */
const SPOKEN_WEIGHT_MIN = 4;

/** A phrase or a finding in a text, which has the shape of the scanner's matches. */
interface Match extends Span {
  readonly detector: Detector;
}

/** A phrase, with its offsets in the words of the text if it was found there. */
export interface PhraseMatch extends Match {
  readonly in_words?: Span;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Adds the findings for the phrases of one text to `matches`, with the severity of their sum.
 * @param words - the words of the text without its layout, if there are phrases in them
 */
export function scorePhrases(
  reading: QuotationReading,
  phrases: readonly PhraseMatch[],
  matches: Match[],
  thresholds: InjectionThresholds = DEFAULT_INJECTION_THRESHOLDS,
  words = '',
): void {
  const sorted = phrases
    .filter((phrase) => {
      const { text, start, end } = locatePhrase(reading, words, phrase);
      return !isIdentifier(text, { ...phrase, start, end }) && !isDenied(text, { ...phrase, start, end });
    })
    .sort((a, b) => a.start - b.start);
  let near: PhraseMatch[] = [];
  let end = 0;
  let wordsEnd = Number.NEGATIVE_INFINITY;
  for (const phrase of sorted) {
    const { in_words } = phrase;
    if (
      phrase.start - end > NEAR_UNITS &&
      (in_words?.start ?? Number.POSITIVE_INFINITY) - wordsEnd > NEAR_UNITS
    ) {
      scoreNearPhrases(reading, near, matches, thresholds, words);
      near = [];
    }
    near.push(phrase);
    end = Math.max(end, phrase.end);
    wordsEnd = Math.max(wordsEnd, in_words?.end ?? wordsEnd);
  }
  scoreNearPhrases(reading, near, matches, thresholds, words);
}

/** Returns the text in which a phrase was found, and its span there. */
function locatePhrase(
  { text }: QuotationReading,
  words: string,
  { start, end, in_words }: PhraseMatch,
): Span & { readonly text: string } {
  return in_words === undefined ? { text, start, end } : { text: words, ...in_words };
}

function scoreNearPhrases(
  reading: QuotationReading,
  near: readonly PhraseMatch[],
  matches: Match[],
  thresholds: InjectionThresholds,
  words: string,
): void {
  if (near.length === 0) return;
  const spoken = near.filter((phrase) => !isQuoted(reading, phrase));
  const isSpoken = spoken.some(({ detector }) => getWeight(detector) >= SPOKEN_WEIGHT_MIN);
  const heaviest = selectHeaviest(near);
  const graded = gradePhrases(heaviest, thresholds);
  if (graded === null) return;
  const spokenGrade = isSpoken ? graded : gradePhrases(selectHeaviest(spoken), thresholds);
  const isSevere = SEVERE.has(spokenGrade ?? 'low') && addressesReader(reading, words, heaviest);
  const severity = SEVERE.has(graded) && !isSevere ? 'medium' : graded;
  for (const { detector, start, end } of heaviest)
    matches.push({ detector: withSeverity(detector, severity), start, end });
}

/** Returns the severity of the sum of phrases; `null` if they are not a finding. */
function gradePhrases(phrases: readonly Match[], thresholds: InjectionThresholds): Severity | null {
  return gradeSeverity(
    phrases.reduce((weight, { detector }) => weight + getWeight(detector), 0),
    thresholds,
  );
}

const SEVERE: ReadonlySet<Severity> = new Set(['high', 'critical']);

/**
 * Phrases that are as much at home in the code and the documents of programs that work with models: prompts as a
 * topic, marks of chat templates, names of modes.
 */
const UNADDRESSED: ReadonlySet<string> = new Set(
  [
    'topic',
    'chat_template',
    'role_line',
    'end_of_part',
    'mode',
    'mode_tag',
    'safety_rules',
    'hidden_markup',
    'note_of_office',
    'framed_order',
    'evil_answer',
    'rogue_model',
    'rank',
    'rank_hi',
  ].map((name) => `injection.${name}`),
);
/** A request for a prompt is one to the reader if it says whose prompt, or to whom. */
const TO_READER = /\b(?:your?|me|us|everything|verbatim|word for word)\b/i;

/** Returns whether one of the phrases addresses the reader and says what to do. */
function addressesReader(reading: QuotationReading, words: string, phrases: readonly PhraseMatch[]): boolean {
  return phrases.some((phrase) => {
    const { id } = phrase.detector;
    if (UNADDRESSED.has(id)) return false;
    const { text, start, end } = locatePhrase(reading, words, phrase);
    return id !== 'injection.tell_prompt' || TO_READER.test(text.slice(start, end + TO_READER_UNITS));
  });
}

/** Units behind a request for a prompt in which it can say to whom. */
const TO_READER_UNITS = 30;

/** Selects each detector once, and the heaviest of overlapping phrases. */
function selectHeaviest(near: readonly PhraseMatch[]): readonly PhraseMatch[] {
  const taken = new Map<Detector, PhraseMatch>();
  for (const phrase of [...near].sort((a, b) => getWeight(b.detector) - getWeight(a.detector))) {
    if (taken.has(phrase.detector)) continue;
    const overlaps = [...taken.values()].some(({ start, end }) => start < phrase.end && phrase.start < end);
    if (!overlaps) taken.set(phrase.detector, phrase);
  }
  return [...taken.values()].sort((a, b) => a.start - b.start);
}

function getWeight({ weight }: Detector): number {
  return weight ?? 0;
}

const grades = new WeakMap<Detector, Map<Severity, Detector>>();

/** Returns the detector with another severity; the object is cached. */
function withSeverity(detector: Detector, severity: Severity): Detector {
  const known = grades.get(detector) ?? new Map<Severity, Detector>();
  grades.set(detector, known);
  const made = known.get(severity) ?? { ...detector, severity };
  known.set(severity, made);
  return made;
}

/** An identifier of code: words joined by `_`, or `camelCase` that names a prompt. */
const IDENTIFIER = /^(?:(?=\w{0,80}_)\w{1,80}|[a-z]{1,20}[A-Z]\w{1,40})$/;
/** Phrases about prompts, whose noun can be the name of a variable in a line of code. */
const ABOUT_PROMPTS: ReadonlySet<string> = new Set(
  ['topic', 'tell_prompt', 'ask_prompt', 'text_above'].map((name) => `injection.${name}`),
);
const PROMPT_NAME = /\b(?:system|base|initial|hidden|pre|meta|developer|master)(?:_[Pp]|P)rompt\b/;
/** Requests as they are in comments of programs, whose messages have the role `system`. */
const CODE_REQUEST =
  /^(?:return|get|append|list|convert|embed|export|read|copy|type|set|provide|post|send|emit|dump)\b|\b(?:system|initial|developer|hidden)[ _-]?(?:messages?|config\w*)$/i;

/**
 * Returns whether a phrase is a name in code, as in `ignore_previous_rules` or `return system_prompt`. A name of a
 * prompt that a text requests in words (`show me your system_prompt`) is no such name.
 */
function isIdentifier(text: string, { detector, start, end }: Match): boolean {
  if (detector.id === 'injection.joined_words') return false;
  const phrase = text.slice(start, end);
  if (IDENTIFIER.test(phrase)) return true;
  if (!ABOUT_PROMPTS.has(detector.id)) return false;
  const isCode =
    PROMPT_NAME.test(phrase) || (detector.id === 'injection.tell_prompt' && CODE_REQUEST.test(phrase));
  return isCode && !TO_READER.test(text.slice(start, end + TO_READER_UNITS));
}

const DENIAL =
  /\b(?:do not|don['\u2019]t|never|not|cannot|can['\u2019]t|won['\u2019]t|without|refuses? to|avoid|prevents?|ever)\s+(?:(?!(?:but|yet|then|instead|however|still|anyway|regardless|actually|now)\b)[\w'\u2019,-]{1,20}\s+){0,6}$/i;

/** Returns whether a phrase is denied, as in `Do not reveal the system prompt`. */
function isDenied(text: string, { detector, start }: Match): boolean {
  if (!DENIABLE.has(detector.detector) || getWeight(detector) < SPOKEN_WEIGHT_MIN) return false;
  return DENIAL.test(text.slice(Math.max(0, start - DENIAL_UNITS), start));
}

/** Requests can be denied. Forged structure cannot. */
const DENIABLE: ReadonlySet<string> = new Set([
  'prompt_override',
  'prompt_extraction',
  'prompt_exfiltration',
  'prompt_jailbreak',
]);

const OPENING =
  /(?:^|[^\p{L}\p{N}])["'`\u201c\u2018\u00ab][^"'`\u201c\u201d\u2018\u2019\u00ab\u00bb\n]{0,60}$/u;
const CLOSING = /^[^"'`\u201c\u201d\u2018\u2019\u00ab\u00bb\n]{0,60}["'`\u201d\u2019\u00bb](?![\p{L}\p{N}])/u;
/**
 * Words that name attacks. A part of an address or of an identifier is none, and neither is a key.
 */
const TALK =
  /(?<![\w/.:@#?&=%-])(?:prompt[- ]injections?|jailbreak(?:s|ing)?|injection (?:attack|attempt|payload|technique|test)s?|(?:prompt|adversarial|override) attacks?|adversarial prompts?|attackers?|(?:attack|threat) (?:phrase|sample|pattern|string)s?|red[- ]team(?:s|ing|ers?)?|malicious (?:prompt|instruction)s?)(?![\w/@=-]|\.\w|[^"\n]{0,60}"\s*:)/i;

/** A text, and the strings of JSON documents in it, each read as a separate text if a quotation in it is examined. */
export interface QuotationReading {
  readonly text: string;
  strings: EmbeddedStrings | null;
  /** The strings that were read, by their index. */
  readonly inner: Map<number, InnerReading>;
}

interface InnerReading {
  readonly reading: QuotationReading;
  /** The offset in the outer text of each unit; `null` if the string has no escapes. */
  readonly offsets: Uint32Array | null;
}

/** Starts the reading of quotations in a text. Nothing is read before the first quotation. */
export function startQuotationReading(text: string): QuotationReading {
  return { text, strings: null, inner: new Map() };
}

/**
 * Returns whether a phrase is in a short quotation next to words that name attacks, as in an article or a test. The
 * quotes around a JSON string are notation, so a phrase in a JSON string must be quoted within that string.
 */
function isQuoted(reading: QuotationReading, phrase: Span): boolean {
  if (!isQuotedInText(reading.text, phrase)) return false;
  reading.strings ??= findEmbeddedStrings(reading.text);
  const { starts, ends, has_escapes } = reading.strings;
  const at = findStringAt(reading.strings, phrase.start, phrase.end);
  if (at < 0) return true;
  const leaf = { start: starts[at]!, end: ends[at]!, has_escapes: has_escapes[at]! };
  const inner = reading.inner.get(at) ?? readString(reading.text, leaf);
  reading.inner.set(at, inner);
  const { offsets } = inner;
  return isQuoted(inner.reading, {
    start: offsets === null ? phrase.start - leaf.start : findOffset(offsets, phrase.start),
    end: offsets === null ? phrase.end - leaf.start : findOffset(offsets, phrase.end),
  });
}

function readString(text: string, leaf: Span & { readonly has_escapes: boolean }): InnerReading {
  const { start, end, has_escapes } = leaf;
  return {
    reading: startQuotationReading(has_escapes ? decodeLeaf(text, leaf) : text.slice(start, end)),
    offsets: has_escapes ? mapLeafOffsets(text, leaf) : null,
  };
}

/** Returns the index of the first offset that is not below a value. */
function findOffset(offsets: Uint32Array, value: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offsets[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The end of a key, before its value. A part of a document may not show where the document begins. */
const KEY_END = /"\s{0,20}:\s{0,20}\\{0,20}$/;

function isQuotedInText(text: string, { start, end }: Span): boolean {
  const before = text.slice(Math.max(0, start - QUOTE_UNITS), start);
  const opening = OPENING.exec(before);
  if (opening === null || !CLOSING.test(text.slice(end, end + QUOTE_UNITS))) return false;
  const around = text.slice(Math.max(0, start - TALK_UNITS), start - opening[0].length + 1);
  if (KEY_END.test(around)) return false;
  return TALK.test(around) || TALK.test(text.slice(end, end + TALK_UNITS));
}
