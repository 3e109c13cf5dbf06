import { detect } from '../detect/detect.ts';
import { DEFAULT_INJECTION_THRESHOLDS } from '../detect/matching/phrases.ts';
import type { Detection } from '../types/index.ts';

/** Replaces a text that looks like data. */
export const WITHHELD = '[withheld]';

/** Keys that never reach a prompt, at any depth. The allow-lists of the advisors do not name them either. */
export const BANNED_KEYS: readonly string[] = [
  'secret_key',
  'capability_token_id',
  'matched_value',
  'raw_content',
  'raw_input',
  'raw_output',
];

const DEPTH_MAX = 32;

/** Returns a copy of a JSON value without the banned keys. Values below the depth limit are dropped. */
export function stripBannedKeys(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return null;
  if (Array.isArray(value)) return value.map((each) => stripBannedKeys(each, depth + 1));
  const kept = Object.entries(value).filter(([key]) => !BANNED_KEYS.includes(key.toLowerCase()));
  return Object.fromEntries(kept.map(([key, each]) => [key, stripBannedKeys(each, depth + 1)]));
}

/** All built-in detectors, whatever the configuration switches off. */
const DETECTION: Detection = {
  secret_detection: true,
  pii_protection: true,
  injection_detection: true,
  command_detection: false,
  example_values: 'real',
  injection_thresholds: DEFAULT_INJECTION_THRESHOLDS,
  detectors: [],
  patterns: [],
  allowlist: [],
};

const LIMITS = { text_bytes_max: 65_536, depth_max: 8, nodes_max: 1_000, findings_max: 1 };

/** Returns whether a text holds a secret, personal data or an injection, or looks like a key or a number of a person. */
export function looksLikeData(text: string): boolean {
  if ((text.match(/\d/g)?.length ?? 0) > DIGITS_MAX) return true;
  if (text.split(/[^A-Za-z0-9]+/).some(isKeyLike)) return true;
  const { findings, coverage } = detect({ kind: 'text', text }, DETECTION, LIMITS);
  return findings.length > 0 || coverage.status === 'partial';
}

/** Names of tools and rules have few digits; numbers of people, cards and accounts have more. */
const DIGITS_MAX = 5;
const MIXED_UNITS_MAX = 15;
const WORD_UNITS_MAX = 48;

/** Returns whether a run of letters and digits is too long for a word, or mixes both as keys do. */
function isKeyLike(word: string): boolean {
  if (word.length > WORD_UNITS_MAX) return true;
  return word.length > MIXED_UNITS_MAX && /\d/.test(word) && /[A-Za-z]/.test(word);
}

/** A name in the vocabulary of configurations: letters, digits, and a few marks between them. */
const NAME = /^[A-Za-z_][A-Za-z0-9_.:/*+-]{0,63}$/;

/** `sha256` has three digits. */
const NAME_DIGITS_MAX = 3;

/** Returns a name as it may be sent, or `WITHHELD`. */
export function filterName(name: unknown): string {
  if (typeof name !== 'string' || !NAME.test(name)) return WITHHELD;
  const digits = name.match(/\d/g)?.length ?? 0;
  // A name in words can be an instruction: `ignorePreviousInstructions`.
  const words = name.replace(/([a-z])(?=[A-Z])/g, '$1 ').replace(/[_.:/*+-]+/g, ' ');
  return digits > NAME_DIGITS_MAX || looksLikeData(name) || looksLikeData(words) ? WITHHELD : name;
}

/** Returns a sentence of an operator as it may be sent: on one line and bounded, or `WITHHELD`. */
export function filterSentence(sentence: unknown, unitsMax = 200): string {
  if (typeof sentence !== 'string') return WITHHELD;
  const line = sentence
    .slice(0, unitsMax)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim();
  return looksLikeData(sentence.slice(0, 2_000)) ? WITHHELD : line;
}
