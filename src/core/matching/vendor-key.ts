import type { Detector } from './detector.ts';
import { isReference, isUnmasked, isWritten } from './placeholders.ts';
import { body } from './sample-text.ts';
import type { Run } from './vendor-token.ts';

/** What may stand between a vendor's name and the value: the rest of the name, what assigns, a quote. */
const NAME_REST = '[\\w .-]{0,40}?';
/** Names of what is no secret: `datadog_trace_id`, `twilio_phone_number`, `algolia_index`. */
export const NO_SECRET =
  '(?<!(?:id|url|uri|host|name|version|region|zone|sha|hash|digest|commit|branch|path|file|bucket|' +
  'endpoint|domain|email|index|image|trace|release|number|public|publishable)["\'`\\s]{0,3})';
export const ASSIGNS =
  '\\\\?["\'`\\])]{0,2}\\s{0,4}(?:=>|[:.?]{0,3}=|\\|\\||[:>,(]|\\bis\\b:?)\\s{0,8}(?:\\\\?["\'`(=]){0,2}';
const NAMED = '(?:key|secret|token|access|private|password|pat)[\\s"\'`:=-]{1,5}';
const LINK = `(?:${NO_SECRET}${ASSIGNS}|${NAMED}|[ \\n]["'\`]?(?=[A-Za-z-]{0,24}\\d))`;
const ANY_VALUE = '[A-Za-z0-9][\\w~+/=.:-]{14,180}';
const AFTER = '(?![A-Za-z0-9])';

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
  const form = value === null ? ANY_VALUE : `${value.units}{${value.least},${value.most}}`;
  const sample = value === null ? body(32) : body(value.least, value.alphabet);
  const name = plain(names[0]!);
  return {
    id: `${vendor}.named_key`,
    detector: 'api_key',
    tags: [`secret.credential.api_key.${vendor}`],
    severity: 'critical',
    strength: 'cue',
    description: `${what} keys and tokens, known by the name beside them.`,
    anchors: [...new Set(names.map(anchorOf))],
    pattern: new RegExp(
      `(?:${names.map((spelling) => spelling.replace(/^\\b/, '')).join('|')})${NAME_REST}${LINK}(?<value>${form})${AFTER}`,
      'i',
    ),
    validate: isKeyBesideName,
    examples: {
      hits: [`${name.toUpperCase()}_API_KEY = "«${sample}»"`, `${name}_secret: «${sample}»,`],
      misses: [
        `${name}_api_key = "\${${name.toUpperCase()}_API_KEY}"`,
        `${name}_token = "<your-${name}-token>"`,
        `the ${name} key is kept in the vault`,
        `${name}_request_id = "${sample}"`,
      ],
    },
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
  return /\d/.test(text) && /[a-z]/i.test(text) && isUnmasked(text) && !isReference(text) && !isWritten(text);
}
