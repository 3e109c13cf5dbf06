/**
 * Builds the detectors for `ignore all previous instructions` in one language. The words of a language are data. For
 * languages with the verb at the end, the order is reversed.
 */
import type { Detector } from './detector.ts';
import { buildPhraseDetectors, type Phrase } from './phrases.ts';

/** The words of one language with which a text revokes instructions. */
export interface Language {
  /** The code of the language, the end of the detector's id. */
  readonly code: string;
  readonly name: string;
  /** First parts of the verbs, used as anchors. The pattern continues from there. */
  readonly verb_anchors: readonly string[];
  /** Imperatives of "ignore" and "forget". */
  readonly verbs: string;
  /** Words for "previous" and "above", with "rules" and "instructions". */
  readonly rules: string;
  /** Paraphrases of the word for rules, such as `the above` or `everything before`. */
  readonly above: string;
  readonly is_verb_last?: boolean;
  readonly rule_anchors?: readonly string[];
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

const BETWEEN = '[^.!?。！？।\\n]';

/** English words for rules, which texts in other languages often keep. */
const ENGLISH_RULES =
  '(?:(?:previous|prior|earlier|above|system|safety|old|all)[ -](?:instructions?|rules|guidelines|prompts?|polic(?:y|ies)|restrictions|commands)\\b)';

/** Work of one attempt: after a verb, rules and their names are tried at several positions. */
const TRY_WORK = 96;

/** Builds one detector for each language. */
export function buildLanguageOverrides(languages: readonly Language[]): readonly Detector[] {
  return buildPhraseDetectors('override', languages.map(getPhrase));
}

function getPhrase(language: Language): Phrase {
  const { code, name, verb_anchors, verbs, rules, above, is_verb_last, rule_anchors, hits, misses } =
    language;
  const object = `(?:${rules}|${above}${is_verb_last ? '' : `|${ENGLISH_RULES}`})`;
  return {
    name: `override_${code}`,
    weight: 6,
    description: `A call to ignore or forget instructions given before, in ${name}.`,
    anchors: is_verb_last ? rule_anchors! : verb_anchors,
    pattern: is_verb_last ? `${object}${BETWEEN}{0,24}?${verbs}` : `${verbs}${BETWEEN}{0,36}?${object}`,
    try_work: TRY_WORK,
    hits,
    misses,
  };
}
