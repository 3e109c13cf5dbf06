import { createHash } from 'node:crypto';
import { type ActionPart, splitShownAction } from '../../../core/decision/shown-action.ts';
import { replaceUnprintable } from '../../../core/text/unprintable.ts';
import type { AlertMessage } from '../channel.ts';

/** The texts that people read, without the markup of any channel. Names in them may be hostile. */
export interface AlertText {
  readonly title: string;
  readonly summary: string;
  /** Labels and values. */
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** The call, in parts; empty if the alert has none. */
  readonly call: readonly ActionPart[];
  readonly link: { readonly label: string; readonly url: string } | null;
}

/** Writes the texts of a message. Controls and invisible characters are shown as escapes, long values are cut. */
export function describeAlert(message: AlertMessage): AlertText {
  const { approval, url } = message;
  return {
    title: showText(writeTitle(message), TITLE_UNITS_MAX),
    summary: showText(message.summary, SUMMARY_UNITS_MAX),
    facts: listFacts(message).map(([label, value]) => [showText(label, 60), showText(value, 160)]),
    call: describeCall(message),
    link:
      approval === null
        ? url === null
          ? null
          : { label: 'Open the alert', url }
        : { label: 'Review in the console', url: approval.url },
  };
}

/** A shown call has at most 2 KB. */
const CALL_UNITS_MAX = 2_048;

function describeCall({ action_shown, action_marks }: AlertMessage): readonly ActionPart[] {
  const text = action_shown?.slice(0, CALL_UNITS_MAX) ?? '';
  return splitShownAction({ text, marks: action_marks }).map((part) => ({
    ...part,
    text: showText(part.text, CALL_UNITS_MAX),
  }));
}

/** Lists the call and its dangerous parts as facts, for channels whose text has no style. */
export function listCallFacts({ call }: Pick<AlertText, 'call'>): AlertText['facts'] {
  const dangerous = call.filter(({ is_dangerous }) => is_dangerous).map(({ text }) => text);
  return [
    ...(call.length === 0 ? [] : [['Call', call.map(({ text }) => text).join('')] as const]),
    ...(dangerous.length === 0 ? [] : [['Dangerous part', dangerous.join(' ')] as const]),
  ];
}

const TITLE_UNITS_MAX = 140;
const SUMMARY_UNITS_MAX = 500;

function writeTitle({ kind, rule_name, severity, approval }: AlertMessage): string {
  if (kind === 'test') return `Test: ${rule_name}`;
  if (kind === 'acknowledge') return `Acknowledged: ${rule_name}`;
  if (kind === 'resolve') return `Resolved: ${rule_name}`;
  return approval === null
    ? `${capitalizeWord(severity)}: ${rule_name}`
    : `Approval needed: ${approval.tool}`;
}

/** The most entries of a group that are shown. */
const GROUP_ENTRIES_MAX = 4;

function listFacts(message: AlertMessage): [label: string, value: string][] {
  const { approval, group, tenant_ids, sample_event_ids } = message;
  const about: [string, string][] =
    approval === null
      ? [
          [
            'Count',
            `${message.count} within ${formatSpan(message.window_ms)} (threshold ${message.threshold})`,
          ],
        ]
      : [
          ['Tool', approval.tool],
          ['Agent', approval.agent_id],
          ['Expires', approval.expires_at],
          ['Request', approval.request_id],
        ];
  return [
    ['Severity', capitalizeWord(message.severity)],
    ...about,
    ...Object.entries(group).slice(0, GROUP_ENTRIES_MAX),
    ...(tenant_ids.length === 0 ? [] : [['Tenant', tenant_ids.slice(0, 5).join(', ')] as [string, string]]),
    ['First', message.first_at],
    ['Last', message.last_at],
    ...(sample_event_ids.length === 0
      ? []
      : [['Events', sample_event_ids.slice(0, 3).join(', ')] as [string, string]]),
    ['Alert', message.alert_id],
  ];
}

function capitalizeWord(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
] as const;

/** Returns a duration in its largest whole unit: `10 minutes`. */
function formatSpan(ms: number): string {
  const [unitMs, unit] = UNITS.find(([each]) => ms >= each && ms % each === 0) ?? [1_000, 'second'];
  const count = Math.round(ms / unitMs);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Shows controls and invisible characters as escapes, and cuts the text to a number of UTF-16 units. */
export function showText(text: string, unitsMax: number): string {
  // A longer text is cut first, so that the work is bounded.
  const start = text.slice(0, unitsMax + 1).toWellFormed();
  return escapeWithin(replaceUnprintable(start, escapeCodePoint), unitsMax, (each) => each);
}

function escapeCodePoint(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

/** Escapes a text one character at a time, and cuts it so that the result has at most a number of UTF-16 units. */
export function escapeWithin(text: string, unitsMax: number, encode: (character: string) => string): string {
  let escaped = '';
  let fitting = '';
  for (const character of text) {
    const next = escaped + encode(character);
    if (next.length > unitsMax) return `${fitting}…`;
    escaped = next;
    if (escaped.length < unitsMax) fitting = escaped;
  }
  return escaped;
}

/** Returns a key that is unchanged if it fits, and else its beginning and its hash. */
export function fitKey(key: string, unitsMax: number): string {
  if (key.length <= unitsMax && key.isWellFormed()) return key;
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 32);
  return `${key.slice(0, unitsMax - 33).toWellFormed()}-${hash}`;
}
