import { Type } from '../../core/schema.ts';
import { SEVERITIES } from '../../core/types/index.ts';
import { outboxMessages } from '../../platform/outbox/tables.ts';
import { ALERT_SOURCES, type AlertRuleSettings, alertRuleSchema } from './rule-schema.ts';
import { alertSilences, alerts, groupSchema } from './tables.ts';

export const ruleIdSchema = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  description: 'The ID of the rule.',
});
export const alertIdSchema = Type.String({
  pattern: '^alr_[0-9a-f]{24}$',
  maxLength: 28,
  description: 'The alert, `alr_…`.',
});
export const silenceIdSchema = Type.String({
  pattern: '^sil_[0-9a-f]{24}$',
  maxLength: 28,
  description: 'The silence, `sil_…`.',
});
export const deliveryIdSchema = Type.String({
  pattern: '^(?:dlv|msg)_[0-9a-f]{12,64}$',
  maxLength: 70,
  description: 'The delivery, `dlv_…`.',
});

export const deliveryShape = Type.Object({
  ...outboxMessages.schema.properties,
  next_attempt_at: Type.Nullable(Type.String()),
});

export const alertShape = Type.Object({
  ...alerts.schema.properties,
  deliveries: Type.Array(deliveryShape),
});

const { filters, schedule } = alertRuleSchema.properties;

export const ruleShape = Type.Object({
  rule_id: Type.String(),
  name: Type.String(),
  source: Type.Enum(ALERT_SOURCES),
  filters: Type.Unsafe<AlertRuleSettings['filters']>(Type.Object(filters.properties)),
  threshold: Type.Integer(),
  window: Type.String(),
  after: Type.Nullable(Type.String()),
  group_by: Type.Array(Type.String()),
  severity: Type.Enum(SEVERITIES),
  cooldown: Type.String(),
  schedule: Type.Unsafe<NonNullable<AlertRuleSettings['schedule']> | null>(
    Type.Union([schedule, Type.Null()]),
  ),
  channels: Type.Array(Type.String()),
  tenant_id: Type.Nullable(Type.String({ description: '`null` for a rule of all tenants.' })),
  enabled: Type.Boolean(),
  origin: Type.Enum(['configuration', 'api'], {
    description: 'Rules of the configuration are changed there.',
  }),
  problem: Type.Nullable(Type.String({ description: 'Why the rule is not evaluated.' })),
  open_alerts: Type.Integer(),
  created_by: Type.Nullable(Type.String()),
  created_at: Type.Nullable(Type.String()),
  changed_by: Type.Nullable(Type.String()),
  changed_at: Type.Nullable(Type.String()),
});

export const silenceShape = Type.Object({
  ...alertSilences.schema.properties,
  expired: Type.Boolean(),
});

/** The answer of `alerts_evaluate` for one group. */
export const evaluatedAlertShape = Type.Object({
  rule_id: Type.String(),
  rule_name: Type.String(),
  severity: Type.Enum(SEVERITIES),
  source: Type.Enum(ALERT_SOURCES),
  group: groupSchema,
  count: Type.Integer(),
  threshold: Type.Integer(),
  window: Type.String(),
  first_at: Type.String(),
  last_at: Type.String(),
  sample_event_ids: Type.Array(Type.String()),
  tenant_ids: Type.Array(Type.String()),
});

/** The alert in the examples. */
export const alertExample = { ...alerts.example, deliveries: [] };
