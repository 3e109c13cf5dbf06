import { openNameAliases } from './aliases.ts';
import { boundSummary, stripReasoning } from './answer.ts';
import { type EventReference, sanitizeEvent, type UnsafeEvent } from './event-metadata.ts';
import { buildInstructions } from './instructions.ts';
import type { Advisor } from './types.ts';
import { formatUntrusted } from './untrusted.ts';
import type { PromptVocabulary } from './vocabulary.ts';

/** The most events around an incident that a prompt holds. */
export const AROUND_EVENTS_MAX = 5;

/** One event with the events of its session around it, as they are in the audit log. */
export interface IncidentRecord {
  readonly event: UnsafeEvent;
  /** Oldest first. Only the first `AROUND_EVENTS_MAX` are used. */
  readonly around: readonly UnsafeEvent[];
  readonly vocabulary: PromptVocabulary;
}

const CATEGORIES = [
  'secret-exposure',
  'personal-data',
  'prompt-injection',
  'dangerous-command',
  'excessive-agency',
  'policy-gap',
  'misconfiguration',
  'false-positive',
  'benign',
  'other',
] as const;
const LEVELS = ['low', 'medium', 'high', 'critical'] as const;

const TASK = `You explain one decision of a rule engine that guards AI agents, to the operator on call.
Answer in plain text, in this order and with these words at the start of the lines:
Category: one of ${CATEGORIES.join(', ')}
Severity: one of ${LEVELS.join(', ')}
Confidence: low, medium or high
Then four short sections with the headings What happened, Probable cause, What to do now, How to prevent it.
At most 300 words. Propose no rule that allows more unless you call it that.`;

/** Classifies and explains one event. It proposes no files. */
export const incidentAdvisor: Advisor<IncidentRecord> = {
  name: 'incident',
  brief: (record) => ({
    system: buildInstructions(TASK, false),
    user: formatUntrusted('event', describeIncident(record).data),
  }),
  read: (answer, record) => {
    const { aliases } = describeIncident(record);
    const text = boundSummary(aliases.restore(stripReasoning(answer)));
    return {
      summary: text,
      artifacts: [],
      problems: text === '' ? ['The answer is empty.'] : [],
      metadata: {
        category: readLabel(text, 'Category', CATEGORIES),
        severity: readLabel(text, 'Severity', LEVELS),
        confidence: readLabel(text, 'Confidence', LEVELS),
      },
    };
  },
};

function describeIncident({ event, around, vocabulary }: IncidentRecord) {
  const aliases = openNameAliases(vocabulary);
  const { session_id, timestamp_ms } = event;
  const reference: EventReference = { timestamp_ms: Number(timestamp_ms), session_id };
  const data = {
    event: sanitizeEvent(event, reference, vocabulary, aliases),
    around: around
      .slice(0, AROUND_EVENTS_MAX)
      .map((each) => sanitizeEvent(each, reference, vocabulary, aliases)),
  };
  return { data, aliases };
}

/** Reads `Label: value`; `null` if the value is not one of the list. */
function readLabel(text: string, label: string, values: readonly string[]): string | null {
  const found = new RegExp(
    `^[ \\t#*-]{0,8}${label}[*]{0,2}:[*]{0,2}[ \\t]{0,4}[*\`]{0,2}([A-Za-z -]{1,40})`,
    'im',
  ).exec(text);
  const value = (found?.[1] ?? '').trim().toLowerCase().replace(/ +/g, '-');
  return values.includes(value) ? value : null;
}
