import { Type } from '../../core/schema.ts';
import { SEVERITIES } from '../../core/types/index.ts';

import { OUTBOX_STATUSES } from '../../platform/outbox/tables.ts';
import { ALERT_SOURCES, alertRuleSchema } from '../../runtime/config/schema-alert-rules.ts';
import { ALERT_STATUSES } from './types.ts';

const textMap = Type.Record(Type.String(), Type.String());

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
  delivery_id: Type.String({
    description: 'The same for all attempts, so that a receiver recognises a duplicate.',
  }),
  channel: Type.String(),
  subject_id: Type.String({ description: 'The alert, the rule of a test, or the approval request.' }),
  kind: Type.String({
    description: '`trigger`, `acknowledge`, `resolve`, `test`, or the status of an approval.',
  }),
  status: Type.Enum(OUTBOX_STATUSES),
  attempts: Type.Integer(),
  reason: Type.Nullable(Type.String({ description: 'Why the last attempt failed.' })),
  created_at: Type.String(),
  next_attempt_at: Type.Nullable(Type.String()),
  finished_at: Type.Nullable(Type.String()),
});

export const alertShape = Type.Object({
  alert_id: Type.String(),
  rule_id: Type.String(),
  rule_name: Type.String(),
  severity: Type.Enum(SEVERITIES),
  status: Type.Enum(ALERT_STATUSES),
  source: Type.Enum(ALERT_SOURCES),
  group: { ...textMap, description: 'The values of `group_by`.' },
  count: Type.Integer({ description: 'Counted since the window in which it fired began.' }),
  threshold: Type.Integer(),
  window: Type.String(),
  fired_at: Type.String(),
  first_at: Type.String(),
  last_at: Type.String(),
  sample_event_ids: Type.Array(Type.String(), { description: 'Twenty at most.' }),
  tenant_ids: Type.Array(Type.String()),
  dedup_key: Type.String({ description: 'The same in all messages of this alert.' }),
  channels: Type.Array(Type.String()),
  acknowledged_by: Type.Nullable(Type.String()),
  acknowledged_at: Type.Nullable(Type.String()),
  resolved_by: Type.Nullable(Type.String({ description: '`service` if it ended by itself.' })),
  resolved_at: Type.Nullable(Type.String()),
  silence_id: Type.Nullable(Type.String()),
  deliveries: Type.Array(deliveryShape),
});

const { filters, schedule } = alertRuleSchema.properties;

export const ruleShape = Type.Object({
  rule_id: Type.String(),
  name: Type.String(),
  source: Type.Enum(ALERT_SOURCES),
  filters: Type.Object(filters.properties),
  threshold: Type.Integer(),
  window: Type.String(),
  after: Type.Nullable(Type.String()),
  group_by: Type.Array(Type.String()),
  severity: Type.Enum(SEVERITIES),
  cooldown: Type.String(),
  schedule: Type.Union([schedule, Type.Null()]),
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
  silence_id: Type.String(),
  tenant_id: Type.Nullable(Type.String({ description: '`null` for all tenants.' })),
  matcher: Type.Object({
    rule_id: Type.Optional(Type.String()),
    severity: Type.Optional(Type.Enum(SEVERITIES)),
    group: Type.Optional(textMap),
  }),
  reason: Type.String(),
  created_by: Type.String(),
  created_at: Type.String(),
  expires_at: Type.String(),
  expired: Type.Boolean(),
});

/** The answer of `alerts_evaluate` for one group. */
export const evaluatedAlertShape = Type.Object({
  rule_id: Type.String(),
  rule_name: Type.String(),
  severity: Type.Enum(SEVERITIES),
  source: Type.Enum(ALERT_SOURCES),
  group: textMap,
  count: Type.Integer(),
  threshold: Type.Integer(),
  window: Type.String(),
  first_at: Type.String(),
  last_at: Type.String(),
  sample_event_ids: Type.Array(Type.String()),
  tenant_ids: Type.Array(Type.String()),
});

/** The alert in the examples. */
export const alertExample = {
  alert_id: 'alr_0123456789abcdef01234567',
  rule_id: 'secrets-blocked',
  rule_name: 'Secrets were blocked',
  severity: 'high' as const,
  status: 'firing' as const,
  source: 'violations' as const,
  group: { agent: 'support-bot' },
  count: 5,
  threshold: 5,
  window: '15m',
  fired_at: '2026-01-31T12:00:00.000Z',
  first_at: '2026-01-31T11:58:00.000Z',
  last_at: '2026-01-31T12:00:00.000Z',
  sample_event_ids: ['evt_0123456789abcdef01234567'],
  tenant_ids: ['default'],
  dedup_key: 'secrets-blocked:0123456789abcdef',
  channels: ['file'],
  acknowledged_by: null,
  acknowledged_at: null,
  resolved_by: null,
  resolved_at: null,
  silence_id: null,
  deliveries: [],
};
