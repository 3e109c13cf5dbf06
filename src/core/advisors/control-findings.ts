import { ACTIONS } from '../types/index.ts';
import { filterSentence } from './data-filter.ts';
import { filterRuleName, filterTags, type PromptVocabulary } from './vocabulary.ts';

/** The state of one control of a framework under a policy, from the deterministic compliance report. */
export interface ControlFinding {
  /** The reference of the clause: `164.312(b)`. This and the next three are texts of this program. */
  readonly control_id: string;
  readonly title: string;
  /** The clause in our words. */
  readonly requirement: string;
  /** The part that this service carries; empty for a control outside of it. */
  readonly contribution: string;
  /** `enforced`, `partly`, `gap` or `outside this service`. */
  readonly status: string;
  readonly rules: readonly string[];
  /** Titles of mechanisms, with their state. */
  readonly mechanisms: readonly string[];
  /** Sentences about the policy: they name tags, rules and settings between backticks. */
  readonly missing: readonly string[];
  /** The parts of the clause that no policy can give. Texts of this program. */
  readonly limits: readonly string[];
  /** Recorded decisions that are evidence, by rule and tag. */
  readonly evidence: readonly { readonly kind: string; readonly name: string; readonly events: number }[];
}

const RULES_MAX = 12;
const MISSING_MAX = 12;
const EVIDENCE_MAX = 6;
const SENTENCE_UNITS_MAX = 400;

/** Returns the part of a finding that depends on the policy and the audit log, as it may be sent. */
export function sanitizeFinding(finding: ControlFinding, vocabulary: PromptVocabulary): object {
  return {
    control: finding.control_id,
    status: finding.status,
    rules: finding.rules.slice(0, RULES_MAX).map((name) => filterRuleName(name, vocabulary)),
    mechanisms: finding.mechanisms,
    missing: finding.missing.slice(0, MISSING_MAX).map((sentence) => filterMissing(sentence, vocabulary)),
    evidence: finding.evidence.slice(0, EVIDENCE_MAX).map(({ kind, name, events }) => ({
      kind,
      name: kind === 'tag' ? filterTags([name], vocabulary)[0] : filterRuleName(name, vocabulary),
      events,
    })),
  };
}

/** A setting, with or without a value: `policy.undeclared_tools: block`. */
const SETTING = /^(?:policy|pii_protection|audit)\.[a-z_]{1,40}(?:: [a-z_]{1,20})?$/;
const WORDS: ReadonlySet<string> = new Set([
  ...ACTIONS,
  'policies/',
  'action: require_approval',
  'max_calls_per_minute',
  'session',
  'session_tags',
]);

/** Filters the names between backticks, and then the whole sentence. */
function filterMissing(sentence: string, vocabulary: PromptVocabulary): string {
  const named = sentence.replace(/`([^`]{0,300})`?/g, (_, name: string) => {
    const isKnown =
      WORDS.has(name) || SETTING.test(name) || vocabulary.tags.has(name) || vocabulary.detectors.has(name);
    return isKnown ? name : filterRuleName(name, vocabulary);
  });
  return filterSentence(named, SENTENCE_UNITS_MAX);
}
