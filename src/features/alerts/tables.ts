import { Type } from '../../core/schema.ts';
import { SEVERITIES } from '../../core/types/index.ts';
import { ALERT_STATUSES } from '../../operations/recent-alert.ts';
import {
  count,
  duration,
  emptyAsNull,
  flag,
  integer,
  json,
  nullable,
  oneOf,
  text,
  textList,
  time,
} from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';
import { ALERT_SOURCES } from './rule-schema.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<typeof alertTables> {}
}

/** The values of a group, by field. */
export const groupSchema = Type.Record(Type.String(), Type.String());

/** The rules that operators saved over the API. */
export const alertRules = defineTable('alert_rules', {
  rule_id: text({ key: true }),
  /** Empty for a rule of all tenants. */
  tenant_id: text(),
  /** The rule as JSON, with every default. */
  rule: text(),
  created_by: text(),
  created_ms: time(),
  changed_by: text(),
  changed_ms: time(),
});

export const alerts = defineTable(
  'alerts',
  {
    alert_id: text({ key: true, example: 'alr_0123456789abcdef01234567' }),
    rule_id: text({ example: 'secrets-blocked' }),
    rule_name: text({ example: 'Secrets were blocked' }),
    severity: oneOf(SEVERITIES, { example: 'high' }),
    status: oneOf(ALERT_STATUSES),
    source: oneOf(ALERT_SOURCES, { example: 'violations' }),
    /** The hash of the rule and the group. */
    group_key: text({ shown: false }),
    group_values: json(groupSchema, {
      shown: 'group',
      description: 'The values of `group_by`.',
      example: { agent: 'support-bot' },
    }),
    event_count: count({
      shown: 'count',
      description: 'Counted since the window in which it fired began.',
      example: 5,
    }),
    threshold: integer({ example: 5 }),
    window_ms: duration({ shown: 'window' }),
    fired_ms: time(),
    first_ms: time({ example: '2026-01-31T11:58:00.000Z' }),
    last_ms: time(),
    sample_event_ids: textList({
      description: 'Twenty at most.',
      example: ['evt_0123456789abcdef01234567'],
    }),
    tenant_ids: textList({ example: ['default'] }),
    dedup_key: text({
      description: 'The same in all messages of this alert.',
      example: 'secrets-blocked:0123456789abcdef',
    }),
    channels: textList({ example: ['file'] }),
    acknowledged_by: nullable(text()),
    acknowledged_ms: nullable(time()),
    resolved_by: nullable(text({ description: '`service` if it ended by itself.' })),
    resolved_ms: nullable(time()),
    silence_id: nullable(text()),
  },
  {
    indexes: {
      alerts_by_status: ['status', 'alert_id'],
      alerts_by_group: ['group_key', 'status'],
      alerts_by_rule: ['rule_id', 'alert_id'],
    },
  },
);

/** The tenants of each alert. A caller sees an alert if it may see all of them. */
const alertTenants = defineTable('alert_tenants', {
  alert_id: text({ key: true }),
  tenant_id: text({ key: true }),
});

/** The count of one group of one rule. */
const alertGroups = defineTable(
  'alert_groups',
  {
    group_key: text({ key: true }),
    rule_id: text(),
    state: text(),
    last_ms: time(),
    /** An agent began it that the policy or a key names. */
    is_declared: flag(),
  },
  { indexes: { alert_groups_by_rule: ['rule_id'] } },
);

/** Conditions that were counted once, such as an approval that waits too long. */
const alertSignals = defineTable('alert_signals', {
  signal_id: text({ key: true }),
  rule_id: text(),
  seen_ms: time(),
});

/** The position of the evaluation in the events of one state folder. */
const alertPositions = defineTable('alert_positions', {
  stream_id: text({ key: true }),
  position: text(),
  changed_ms: time(),
});

export const alertSilences = defineTable('alert_silences', {
  silence_id: text({ key: true }),
  tenant_id: emptyAsNull(text({ description: '`null` for all tenants.' })),
  matcher: json(
    Type.Object({
      rule_id: Type.Optional(Type.String()),
      severity: Type.Optional(Type.Enum(SEVERITIES)),
      group: Type.Optional(groupSchema),
    }),
    { example: {} },
  ),
  reason: text(),
  created_by: text(),
  created_ms: time(),
  expires_ms: time(),
});

const alertTables = [
  alertGroups,
  alertPositions,
  alertRules,
  alertSignals,
  alertSilences,
  alertTenants,
  alerts,
] as const;

export const alertMigrations = createTables('alerts', alertTables);
