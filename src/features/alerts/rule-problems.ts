import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import type { ValueProblem } from '../../runtime/config/parse-config-value.ts';
import { type AlertRuleSettings, DEFAULT_ALERT_CHANNEL } from './rule-schema.ts';

const WINDOW_MS_MIN = 10_000;
const WINDOW_MS_MAX = 7 * 86_400_000;
/** The number of rules of a service, in the configuration and over the API together. */
export const ALERT_RULES_MAX = 500;

/** Returns the names of all channels: a channel without a name has that of its type. */
export function listChannelNames(
  channels: readonly { readonly name?: string; readonly type: string }[],
): readonly string[] {
  return [...new Set([...channels.map(({ name, type }) => name ?? type), DEFAULT_ALERT_CHANNEL])];
}

/**
 * Finds the problems of a rule that its schema cannot express. Messages are predicates of sentences.
 *
 * @param channels - the names of all channels
 */
export function findAlertRuleProblems(
  rule: AlertRuleSettings,
  channels: ReadonlySet<string>,
): readonly ValueProblem[] {
  return [
    ...findDurationProblems(rule),
    ...findScheduleProblems(rule),
    ...rule.channels.flatMap((name, at) =>
      channels.has(name) ? [] : [{ steps: ['channels', at], message: describeUnknownChannel(channels) }],
    ),
    ...(rule.tenant_id !== undefined && rule.filters.tenants.length > 0
      ? [{ steps: ['filters', 'tenants'], message: 'is for rules of all tenants; remove it or `tenant_id`' }]
      : []),
  ];
}

function describeUnknownChannel(channels: ReadonlySet<string>): string {
  return `is the name of no channel; there are ${[...channels]
    .toSorted()
    .map((name) => `\`${name}\``)
    .join(', ')}`;
}

function findDurationProblems({ window, cooldown, after, source }: AlertRuleSettings): ValueProblem[] {
  const windowMs = parseDurationMs(window);
  const problems: ValueProblem[] = [];
  if (windowMs < WINDOW_MS_MIN || windowMs > WINDOW_MS_MAX)
    problems.push({ steps: ['window'], message: 'must be from `10s` to `7d`' });
  if (parseDurationMs(cooldown) > WINDOW_MS_MAX)
    problems.push({ steps: ['cooldown'], message: 'must be at most `7d`' });
  if (after === undefined) return problems;
  if (source !== 'approvals_waiting' && source !== 'hooks_silent')
    problems.push({ steps: ['after'], message: 'is for the sources `approvals_waiting` and `hooks_silent`' });
  if (parseDurationMs(after) > 4 * WINDOW_MS_MAX)
    problems.push({ steps: ['after'], message: 'must be at most `28d`' });
  return problems;
}

const MINUTES_OF_WEEK = 7 * 1_440;

function findScheduleProblems({ schedule }: AlertRuleSettings): ValueProblem[] {
  if (schedule === undefined) return [];
  if (!isTimeZone(schedule.time_zone))
    return [{ steps: ['schedule', 'time_zone'], message: 'is the name of no time zone' }];
  const quiet = new Set<number>();
  for (const { days = WEEK, from, to } of schedule.quiet_hours)
    for (const day of days) {
      const start = WEEK.indexOf(day) * 1_440 + getMinute(from);
      for (let at = 0; at < getLength(from, to); at += 1) quiet.add((start + at) % MINUTES_OF_WEEK);
    }
  if (quiet.size < MINUTES_OF_WEEK) return [];
  const message = 'covers the whole week, so no message would ever be sent; set `enabled: false` instead';
  return [{ steps: ['schedule', 'quiet_hours'], message }];
}

const WEEK = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** Returns the minute of the day of `HH:MM`. */
function getMinute(clock: string): number {
  return Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));
}

/** Returns the length of a period in minutes. Equal times are a whole day. */
function getLength(from: string, to: string): number {
  return ((getMinute(to) - getMinute(from) + 1_439) % 1_440) + 1;
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
