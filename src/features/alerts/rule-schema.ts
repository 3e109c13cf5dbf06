import type { Static } from 'typebox';
import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { ACTIONS, BOUNDARIES, SEVERITIES } from '../../core/types/index.ts';

/** The things that an alert rule can count. The how-to page on alerts describes each. */
export const ALERT_SOURCES = [
  'violations',
  'decisions',
  'budgets',
  'failures',
  'chain_breaks',
  'approvals_waiting',
  'hooks_silent',
  'tools_changed',
  'service',
] as const;
export type AlertSource = (typeof ALERT_SOURCES)[number];

/** The fields by which a rule splits what it counts. */
export const ALERT_GROUP_FIELDS = [
  'tenant',
  'agent',
  'tool',
  'policy',
  'boundary',
  'action',
  'session',
  'request',
] as const;
export type AlertGroupField = (typeof ALERT_GROUP_FIELDS)[number];

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** The channel that a rule without `channels` uses. It exists without being configured. */
export const DEFAULT_ALERT_CHANNEL = 'file';

const duration = Type.String({
  pattern: '^[1-9]\\d{0,5}[smhd]$',
  maxLength: 8,
  'x-expects': 'must be a duration, such as `30s`, `15m`, `24h` or `7d`',
});

const clock = Type.String({
  pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
  maxLength: 5,
  'x-expects': 'must be a time of day, such as `22:00`',
});

const label = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  'x-expects': 'must have no control characters',
});

const labels = <const Text extends string>(description: Text) =>
  Type.Array(label, { maxItems: 100, default: [], description });

const filters = buildSection(
  {
    boundaries: Type.Array(buildEnum([...BOUNDARIES, 'memory']), {
      maxItems: 4,
      default: [],
      description: 'Boundaries.',
    }),
    actions: Type.Array(buildEnum(ACTIONS), {
      maxItems: 5,
      default: [],
      description: 'Actions of the rule that decided.',
    }),
    policies: labels('Names of policy rules that decided, such as `builtin.secrets.*` or `budget.team`.'),
    agents: labels('Agents.'),
    tags: labels('Data tags; a tag matches its descendants too.'),
    tools: labels('Tools.'),
    tenants: labels('Tenants.'),
    severities: Type.Array(buildEnum(SEVERITIES), {
      maxItems: 4,
      default: [],
      description:
        'Severities of events: the highest of findings, violations, the own `severity` of the rule that decided, and the action, which is `high` for a block, `medium` for a redaction or a request for approval, else `low`.',
    }),
  },
  {
    default: {},
    description:
      'Counts only what matches every given list; one value of a list is enough. Letters match in either case, and `*` stands for any text.',
  },
);

const schedule = buildSection(
  {
    time_zone: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[A-Za-z0-9_+/-]+$',
      'x-expects': 'must be the name of a time zone, such as `Europe/Berlin`',
      description: 'Time zone, such as `Europe/Berlin` or `UTC`.',
    }),
    quiet_hours: Type.Array(
      buildSection(
        {
          days: Type.Optional(
            Type.Array(buildEnum(WEEKDAYS), {
              minItems: 1,
              maxItems: 7,
              description: 'The days on which the period begins (default: every day).',
            }),
          ),
          from: { ...clock, description: 'Beginning, `22:00`.' },
          to: { ...clock, description: 'End, `07:00`; on the next day if it is not after the beginning.' },
        },
        { description: 'One period.' },
      ),
      { minItems: 1, maxItems: 14, description: 'Periods of a day.' },
    ),
  },
  { description: 'Quiet hours. An alert is recorded then, and its messages wait until they end.' },
);

/** One rule of `alerts.rules`, and the input of the API. */
export const alertRuleSchema = buildSection(
  {
    rule_id: Type.String({
      pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
      maxLength: 64,
      'x-expects': 'must have lower-case letters, digits and `. _ -` only, at most 64',
      description: 'The ID of the rule: lower-case letters, digits and `. _ -`.',
    }),
    name: { ...label, maxLength: 200, description: 'Name for people.' },
    source: buildEnum(ALERT_SOURCES, {
      default: 'violations',
      description: 'Events that the rule counts.',
    }),
    filters,
    threshold: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 1,
      description: 'Fires when this many were counted in `window`.',
    }),
    window: { ...duration, default: '15m', description: 'The sliding window, `10s` to `7d`.' },
    after: Type.Optional({
      ...duration,
      description:
        'Time that an approval waits before it counts (`approvals_waiting`, default `5m`), or time without an event of a hook (`hooks_silent`, default `24h`).',
    }),
    group_by: Type.Optional(
      Type.Array(buildEnum(ALERT_GROUP_FIELDS), {
        maxItems: 4,
        description:
          'Counts and fires separately for each value of these fields; at most 1,000 groups at a time. Default: together; `approvals_waiting` by request, `hooks_silent` by tenant and agent.',
      }),
    ),
    severity: buildEnum(SEVERITIES, { default: 'high', description: 'The severity of the alert.' }),
    cooldown: {
      ...duration,
      pattern: '^(0|[1-9]\\d{0,5})[smhd]$',
      default: '1m',
      description: 'A group does not fire again within this time, `0s` to `7d`.',
    },
    schedule: Type.Optional(schedule),
    channels: Type.Array(
      { ...label, maxLength: 128 },
      {
        minItems: 1,
        maxItems: 20,
        default: [DEFAULT_ALERT_CHANNEL],
        description:
          'Names of channels. The channel `file` writes to `alerts.jsonl` in the state folder unless another one has that name.',
      },
    ),
    tenant_id: Type.Optional({
      ...label,
      description: 'The tenant of the rule, which then counts events of this tenant only (default: all).',
    }),
    enabled: Type.Boolean({ default: true, description: '`false` keeps the rule and stops it.' }),
  },
  { description: 'A rule: the things to count, and the channels to notify.' },
);

/** A rule as `service.yaml` has it, filled with defaults. */
export type AlertRuleSettings = Static<typeof alertRuleSchema>;
