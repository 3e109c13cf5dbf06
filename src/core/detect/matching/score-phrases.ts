/**
 * Scores phrases. A phrase alone is not a finding: `act as` is in every second request, `system prompt` in
 * every second article. Phrases near each other are added up and become a finding above a threshold.
 */
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
interface Match {
  readonly detector: Detector;
  readonly start: number;
  readonly end: number;
}

/** Adds the findings for the phrases of one text to `matches`, with the severity of their sum. */
export function scorePhrases(
  text: string,
  phrases: readonly Match[],
  matches: Match[],
  thresholds: InjectionThresholds = DEFAULT_INJECTION_THRESHOLDS,
): void {
  const sorted = phrases
    .filter((phrase) => !isIdentifier(text, phrase) && !isDenied(text, phrase))
    .sort((a, b) => a.start - b.start);
  let near: Match[] = [];
  let end = 0;
  for (const phrase of sorted) {
    if (phrase.start - end > NEAR_UNITS) {
      scoreNearPhrases(text, near, matches, thresholds);
      near = [];
    }
    near.push(phrase);
    end = Math.max(end, phrase.end);
  }
  scoreNearPhrases(text, near, matches, thresholds);
}

function scoreNearPhrases(
  text: string,
  near: readonly Match[],
  matches: Match[],
  thresholds: InjectionThresholds,
): void {
  if (near.length === 0) return;
  const spoken = near.filter((phrase) => !isQuoted(text, phrase));
  const is_spoken = spoken.some(({ detector }) => getWeight(detector) >= SPOKEN_WEIGHT_MIN);
  const counted = is_spoken ? near : spoken;
  const heaviest = selectHeaviest(counted);
  const sum = heaviest.reduce((weight, { detector }) => weight + getWeight(detector), 0);
  const graded = gradeSeverity(sum, thresholds);
  if (graded === null) return;
  const severity = SEVERE.has(graded) && !addressesReader(text, heaviest) ? 'medium' : graded;
  for (const phrase of heaviest)
    matches.push({ ...phrase, detector: withSeverity(phrase.detector, severity) });
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
function addressesReader(text: string, phrases: readonly Match[]): boolean {
  return phrases.some(({ detector, start, end }) => {
    if (UNADDRESSED.has(detector.id)) return false;
    return (
      detector.id !== 'injection.tell_prompt' || TO_READER.test(text.slice(start, end + TO_READER_UNITS))
    );
  });
}

/** Units behind a request for a prompt in which it can say to whom. */
const TO_READER_UNITS = 30;

/** Selects each detector once, and the heaviest of overlapping phrases. */
function selectHeaviest(near: readonly Match[]): readonly Match[] {
  const taken = new Map<Detector, Match>();
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
  const is_code =
    PROMPT_NAME.test(phrase) || (detector.id === 'injection.tell_prompt' && CODE_REQUEST.test(phrase));
  return is_code && !TO_READER.test(text.slice(start, end + TO_READER_UNITS));
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
const TALK =
  /\b(?:examples?|phrases?|phrasing|quot(?:e|es|ed|ing|ation)|detect(?:s|or|ors|ion|ed)?|fixtures?|patterns?|samples?|prompt[- ]injections?|jailbreaks?|injections?|attack(?:s|er|ers)?|documentation|docs|tests?|training|lesson|students?|learners?|guidance|guides?|untrusted|benign|rules? (?:docs?|reference)|red[- ]team|defen[cs]es?|defenders?|post-?mortem|changelog|release notes|benchmark|research|papers?|articles?|analysts?|classifiers?|malicious|explain(?:s|er|ed)?|slide|quiz|module|literal|strings? (?:like|such)|such as|attempts?)\b/i;

/**
 * Returns whether a phrase is in a short quotation next to talk about attacks, as in an article or a test.
 */
function isQuoted(text: string, { start, end }: Match): boolean {
  const before = text.slice(Math.max(0, start - QUOTE_UNITS), start);
  const opening = OPENING.exec(before);
  if (opening === null || !CLOSING.test(text.slice(end, end + QUOTE_UNITS))) return false;
  const around = text.slice(Math.max(0, start - TALK_UNITS), start - opening[0].length + 1);
  return TALK.test(around) || TALK.test(text.slice(end, end + TALK_UNITS));
}
