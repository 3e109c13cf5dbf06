import { ACTIONS } from '../../core/types/index.ts';
import { FRAMEWORK_IDS } from '../../operations/compliance-frameworks.ts';
import { CONTROL_STATUSES } from './report-types.ts';

const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const texts = { type: 'array', items: text } as const;
const whole = { type: 'integer' } as const;
const counts = { type: 'object', additionalProperties: whole } as const;

/** Builds the schema of an object whose members are all present. */
function buildObjectSchema<const Properties extends object>(properties: Properties) {
  const required = Object.keys(properties) as [keyof Properties & string];
  return { type: 'object', required, properties } as const;
}

const actions = buildObjectSchema(
  Object.fromEntries(ACTIONS.map((action) => [action, whole])) as Record<
    (typeof ACTIONS)[number],
    typeof whole
  >,
);
const pairs = {
  type: 'array',
  description: 'Pairs of a name and its events, most frequent first.',
  items: { type: 'array' },
} as const;
const span = { since: textOrNull, until: textOrNull } as const;

const gap = buildObjectSchema({
  kind: { enum: ['policy', 'detector', 'record', 'framework'] },
  message: text,
  ...span,
});

const control = buildObjectSchema({
  control_id: text,
  title: text,
  requirement: { ...text, description: 'The requirement of the clause, in our words.' },
  contribution: { ...text, description: 'The contribution of the service.' },
  status: { enum: CONTROL_STATUSES },
  active: {
    enum: ['all', 'some', 'none', null],
    description: 'The requirements on this service that were met during the whole window; `null` outside it.',
  },
  elements: {
    type: 'array',
    description: 'Rules and mechanisms that carried the control, and when each was active.',
    items: { type: 'object' },
  },
  evidence: buildObjectSchema({
    counts: { type: 'array', items: { type: 'object' } },
    sample_event_ids: texts,
  }),
  gaps: { type: 'array', items: gap },
  permissions: texts,
  settings: { ...texts, description: 'Settings to check, because they decide how much of it is active.' },
});

/** The members of an answer. For `html` and `markdown` it has `content` and not the report. */
export const reportProperties = {
  format: { enum: ['json', 'html', 'markdown'] },
  content: { ...text, description: 'The rendered report; only for `html` and `markdown`.' },
  report_version: whole,
  framework: { enum: FRAMEWORK_IDS },
  title: text,
  edition: text,
  mapping: buildObjectSchema({
    reviewed: text,
    hash: text,
    sources: { type: 'array', items: { type: 'object' } },
  }),
  scope: texts,
  generated_at: { ...text, description: 'The end of the window.' },
  window: buildObjectSchema({
    since: text,
    until: { ...text, description: 'Exclusive.' },
    last: textOrNull,
    recorded_since: { ...textOrNull, description: 'The first decision that is on record.' },
  }),
  tenants: { type: ['array', 'null'], items: text, description: '`null` for all tenants.' },
  agents: { type: ['array', 'null'], items: text, description: '`null` for all agents.' },
  summary: buildObjectSchema({
    total_events: whole,
    boundary_counts: counts,
    action_counts: actions,
    policy_violation_count: { ...whole, description: '`block`, `redact` and `require_approval` together.' },
    top_policies: pairs,
    data_access_by_agent: pairs,
    approval_stats: buildObjectSchema({ counts, average_latency_seconds: { type: ['number', 'null'] } }),
    memory_retention_events: whole,
    anomaly_flags: texts,
    control_counts: counts,
  }),
  evidence: buildObjectSchema({ sample_event_ids: texts, sample_approval_ids: texts }),
  record_gaps: {
    type: 'array',
    description: 'Parts of the window that the journal or the saved policies do not cover.',
    items: gap,
  },
  controls: { type: 'array', items: control },
  policies: {
    type: 'array',
    description: 'The policies that decided, with their times.',
    items: { type: 'object' },
  },
  changes: { type: 'array', description: 'Changes of the policy, newest first.', items: { type: 'object' } },
  journal: buildObjectSchema({
    oldest_event: textOrNull,
    chains: {
      type: 'array',
      description: 'Each chain of the journal with the signed checkpoint that covers the window.',
      items: { type: 'object' },
    },
  }),
} as const;
