import { SEVERITIES } from '../../core/types/index.ts';
import { OUTBOX_STATUSES } from '../../platform/outbox/tables.ts';
import { ALERT_SOURCES, alertRuleSchema } from '../../runtime/config/schema-alert-rules.ts';
import { ALERT_STATUSES } from './types.ts';

const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const texts = { type: 'array', items: text } as const;
const whole = { type: 'integer' } as const;
const textMap = { type: 'object', additionalProperties: text } as const;

/** Builds the schema of an object whose members are all present. */
function getAll<const Properties extends object>(properties: Properties) {
  // A tuple with the union of the keys: from it the type of an answer has every member.
  const required = Object.keys(properties) as [keyof Properties & string];
  return { type: 'object', required, properties } as const;
}

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

export const deliveryShape = getAll({
  delivery_id: {
    ...text,
    description: 'The same for all attempts, so that a receiver recognises a duplicate.',
  },
  channel: text,
  subject_id: { ...text, description: 'The alert, the rule of a test, or the approval request.' },
  kind: {
    ...text,
    description: '`trigger`, `acknowledge`, `resolve`, `test`, or the status of an approval.',
  },
  status: { enum: OUTBOX_STATUSES },
  attempts: whole,
  reason: { ...textOrNull, description: 'Why the last attempt failed.' },
  created_at: text,
  next_attempt_at: textOrNull,
  finished_at: textOrNull,
});

export const alertShape = getAll({
  alert_id: text,
  rule_id: text,
  rule_name: text,
  severity: { enum: SEVERITIES },
  status: { enum: ALERT_STATUSES },
  source: { enum: ALERT_SOURCES },
  group: { ...textMap, description: 'The values of `group_by`.' },
  count: { ...whole, description: 'Counted since the window in which it fired began.' },
  threshold: whole,
  window: text,
  fired_at: text,
  first_at: text,
  last_at: text,
  sample_event_ids: { ...texts, description: 'Twenty at most.' },
  tenant_ids: texts,
  dedup_key: { ...text, description: 'The same in all messages of this alert.' },
  channels: texts,
  acknowledged_by: textOrNull,
  acknowledged_at: textOrNull,
  resolved_by: { ...textOrNull, description: '`service` if it ended by itself.' },
  resolved_at: textOrNull,
  silence_id: textOrNull,
  deliveries: { type: 'array', items: deliveryShape },
});

const { filters, schedule } = alertRuleSchema.properties;

export const ruleShape = getAll({
  rule_id: text,
  name: text,
  source: { enum: ALERT_SOURCES },
  filters: {
    type: 'object',
    required: Object.keys(filters.properties) as [keyof typeof filters.properties],
    properties: filters.properties,
  },
  threshold: whole,
  window: text,
  after: textOrNull,
  group_by: texts,
  severity: { enum: SEVERITIES },
  cooldown: text,
  schedule: { anyOf: [schedule, { type: 'null' }] },
  channels: texts,
  tenant_id: { ...textOrNull, description: '`null` for a rule of all tenants.' },
  enabled: { type: 'boolean' },
  origin: { enum: ['configuration', 'api'], description: 'Rules of the configuration are changed there.' },
  problem: { ...textOrNull, description: 'Why the rule is not evaluated.' },
  open_alerts: whole,
  created_by: textOrNull,
  created_at: textOrNull,
  changed_by: textOrNull,
  changed_at: textOrNull,
});

export const silenceShape = getAll({
  silence_id: text,
  tenant_id: { ...textOrNull, description: '`null` for all tenants.' },
  matcher: {
    type: 'object',
    properties: { rule_id: text, severity: { enum: SEVERITIES }, group: textMap },
  },
  reason: text,
  created_by: text,
  created_at: text,
  expires_at: text,
  expired: { type: 'boolean' },
});

/** The answer of `alerts_evaluate` for one group. */
export const evaluatedAlertShape = getAll({
  rule_id: text,
  rule_name: text,
  severity: { enum: SEVERITIES },
  source: { enum: ALERT_SOURCES },
  group: textMap,
  count: whole,
  threshold: whole,
  window: text,
  first_at: text,
  last_at: text,
  sample_event_ids: texts,
  tenant_ids: texts,
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
