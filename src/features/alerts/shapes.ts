import { SEVERITIES } from '../../core/types/index.ts';
import {
  buildObjectSchema,
  integerSchema,
  nullableTextSchema,
  textListSchema,
  textSchema,
} from '../../operations/schema-parts.ts';
import { OUTBOX_STATUSES } from '../../platform/outbox/tables.ts';
import { ALERT_SOURCES, alertRuleSchema } from '../../runtime/config/schema-alert-rules.ts';
import { ALERT_STATUSES } from './types.ts';

const textMap = { type: 'object', additionalProperties: textSchema } as const;

export const ruleIdSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  description: 'The ID of the rule.',
} as const;
export const alertIdSchema = {
  type: 'string',
  pattern: '^alr_[0-9a-f]{24}$',
  maxLength: 28,
  description: 'The alert, `alr_…`.',
} as const;
export const silenceIdSchema = {
  type: 'string',
  pattern: '^sil_[0-9a-f]{24}$',
  maxLength: 28,
  description: 'The silence, `sil_…`.',
} as const;
export const deliveryIdSchema = {
  type: 'string',
  pattern: '^(?:dlv|msg)_[0-9a-f]{12,64}$',
  maxLength: 70,
  description: 'The delivery, `dlv_…`.',
} as const;

export const deliveryShape = buildObjectSchema({
  delivery_id: {
    ...textSchema,
    description: 'The same for all attempts, so that a receiver recognises a duplicate.',
  },
  channel: textSchema,
  subject_id: { ...textSchema, description: 'The alert, the rule of a test, or the approval request.' },
  kind: {
    ...textSchema,
    description: '`trigger`, `acknowledge`, `resolve`, `test`, or the status of an approval.',
  },
  status: { enum: OUTBOX_STATUSES },
  attempts: integerSchema,
  reason: { ...nullableTextSchema, description: 'Why the last attempt failed.' },
  created_at: textSchema,
  next_attempt_at: nullableTextSchema,
  finished_at: nullableTextSchema,
});

export const alertShape = buildObjectSchema({
  alert_id: textSchema,
  rule_id: textSchema,
  rule_name: textSchema,
  severity: { enum: SEVERITIES },
  status: { enum: ALERT_STATUSES },
  source: { enum: ALERT_SOURCES },
  group: { ...textMap, description: 'The values of `group_by`.' },
  count: { ...integerSchema, description: 'Counted since the window in which it fired began.' },
  threshold: integerSchema,
  window: textSchema,
  fired_at: textSchema,
  first_at: textSchema,
  last_at: textSchema,
  sample_event_ids: { ...textListSchema, description: 'Twenty at most.' },
  tenant_ids: textListSchema,
  dedup_key: { ...textSchema, description: 'The same in all messages of this alert.' },
  channels: textListSchema,
  acknowledged_by: nullableTextSchema,
  acknowledged_at: nullableTextSchema,
  resolved_by: { ...nullableTextSchema, description: '`service` if it ended by itself.' },
  resolved_at: nullableTextSchema,
  silence_id: nullableTextSchema,
  deliveries: { type: 'array', items: deliveryShape },
});

const { filters, schedule } = alertRuleSchema.properties;

export const ruleShape = buildObjectSchema({
  rule_id: textSchema,
  name: textSchema,
  source: { enum: ALERT_SOURCES },
  filters: {
    type: 'object',
    required: Object.keys(filters.properties) as [keyof typeof filters.properties],
    properties: filters.properties,
  },
  threshold: integerSchema,
  window: textSchema,
  after: nullableTextSchema,
  group_by: textListSchema,
  severity: { enum: SEVERITIES },
  cooldown: textSchema,
  schedule: { anyOf: [schedule, { type: 'null' }] },
  channels: textListSchema,
  tenant_id: { ...nullableTextSchema, description: '`null` for a rule of all tenants.' },
  enabled: { type: 'boolean' },
  origin: { enum: ['configuration', 'api'], description: 'Rules of the configuration are changed there.' },
  problem: { ...nullableTextSchema, description: 'Why the rule is not evaluated.' },
  open_alerts: integerSchema,
  created_by: nullableTextSchema,
  created_at: nullableTextSchema,
  changed_by: nullableTextSchema,
  changed_at: nullableTextSchema,
});

export const silenceShape = buildObjectSchema({
  silence_id: textSchema,
  tenant_id: { ...nullableTextSchema, description: '`null` for all tenants.' },
  matcher: {
    type: 'object',
    properties: { rule_id: textSchema, severity: { enum: SEVERITIES }, group: textMap },
  },
  reason: textSchema,
  created_by: textSchema,
  created_at: textSchema,
  expires_at: textSchema,
  expired: { type: 'boolean' },
});

/** The answer of `alerts_evaluate` for one group. */
export const evaluatedAlertShape = buildObjectSchema({
  rule_id: textSchema,
  rule_name: textSchema,
  severity: { enum: SEVERITIES },
  source: { enum: ALERT_SOURCES },
  group: textMap,
  count: integerSchema,
  threshold: integerSchema,
  window: textSchema,
  first_at: textSchema,
  last_at: textSchema,
  sample_event_ids: textListSchema,
  tenant_ids: textListSchema,
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
