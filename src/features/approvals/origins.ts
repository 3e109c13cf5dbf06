import { ABSENT, isUnknown, isUntrusted } from '../../core/flow/labels.ts';
import { covers } from '../../core/tags.ts';
import type { Crossing, SeenLabel, Verdict } from '../../core/types/index.ts';
import { readEventIdTime } from '../../runtime/audit/event-id.ts';
import type { ApprovalRecord } from './types.ts';

type ArgumentOrigin = NonNullable<ApprovalRecord['origins']>[number];

/**
 * Describes where a call’s values come from, by the labels of its verdict. Returns `null` if the tool’s contract does
 * not check that.
 */
export function describeOrigins(
  { argument_labels }: Pick<Verdict, 'argument_labels'>,
  { task }: Pick<Crossing, 'task'>,
  nowMs: number,
): readonly ArgumentOrigin[] | null {
  if (argument_labels === undefined) return null;
  const listed = task?.listed_arguments ?? [];
  // An argument without a label may have any value.
  return Object.entries(argument_labels).flatMap(([argument, seen]) =>
    seen.length === 0 ? [] : [describeOrigin(argument, seen, listed.includes(argument), nowMs)],
  );
}

function describeOrigin(
  argument: string,
  seen: readonly SeenLabel[],
  isInTask: boolean,
  nowMs: number,
): ArgumentOrigin {
  const labels = seen.map(({ label }) => label);
  const eventId = seen.find(({ event_id }) => event_id !== null)?.event_id ?? null;
  const broughtMs = eventId === null ? null : readEventIdTime(eventId);
  const ageSeconds = broughtMs === null ? null : Math.max(0, Math.floor((nowMs - broughtMs) / 1_000));
  const namedBy = findNamer(labels, isInTask);
  const origin = { argument, labels, event_id: eventId, age_seconds: ageSeconds, named_by: namedBy };
  return { ...origin, sentence: `${writeSource(origin)}; ${NAMED[namedBy ?? 'none']}.` };
}

function findNamer(labels: readonly string[], isInTask: boolean): ArgumentOrigin['named_by'] {
  if (labels.some((label) => covers('user', label))) return 'prompt';
  if (labels.some((label) => covers('operator', label))) return 'operator';
  return isInTask ? 'task' : null;
}

const NAMED = {
  prompt: 'a prompt of the person has it',
  operator: 'a prompt of the operator has it',
  task: 'the task lists it',
  none: 'no prompt and no task names it',
} as const;

/** Returns "`recipient` comes from `untrusted.mail`, content of strangers, event evt_1, 2 minutes ago". */
function writeSource({ argument, labels, event_id, age_seconds }: Omit<ArgumentOrigin, 'sentence'>): string {
  const [first] = labels;
  const name = `\`${argument}\``;
  if (first === ABSENT) return `${name} is missing`;
  if (first === undefined || isUnknown(first)) return `${name} comes from nothing that this session has seen`;
  const strangers = isUntrusted(first) ? ', content of strangers' : '';
  const event = event_id === null ? '' : `, event ${event_id}`;
  const age = age_seconds === null ? '' : `, ${formatAge(age_seconds)} ago`;
  return `${name} comes from \`${first}\`${strangers}${event}${age}`;
}

const AGES = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

function formatAge(seconds: number): string {
  const [unit, size] = AGES.find(([, each]) => seconds >= each) ?? ['second', 1];
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
