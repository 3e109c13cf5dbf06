import { ACTIONS } from '../../core/types/index.ts';
import { FRAMEWORK_IDS } from '../../operations/compliance-frameworks.ts';
import {
  buildObjectSchema,
  integerSchema,
  nullableTextSchema,
  textListSchema,
  textSchema,
} from '../../operations/schema-parts.ts';
import { CONTROL_STATUSES } from './report-types.ts';

const counts = { type: 'object', additionalProperties: integerSchema } as const;

const actions = buildObjectSchema(
  Object.fromEntries(ACTIONS.map((action) => [action, integerSchema])) as Record<
    (typeof ACTIONS)[number],
    typeof integerSchema
  >,
);
const pairs = {
  type: 'array',
  description: 'Pairs of a name and its events, most frequent first.',
  items: { type: 'array' },
} as const;
const span = { since: nullableTextSchema, until: nullableTextSchema } as const;

const gap = buildObjectSchema({
  kind: { enum: ['policy', 'detector', 'record', 'framework'] },
  message: textSchema,
  tenants: {
    type: ['array', 'null'],
    items: textSchema,
    description: 'The tenants that the gap concerns; `null` for all of the report.',
  },
  tenant_id: {
    ...nullableTextSchema,
    description: 'The tenant whose own rule the message names; `null` if it names none.',
  },
  ...span,
});

const control = buildObjectSchema({
  control_id: textSchema,
  title: textSchema,
  requirement: { ...textSchema, description: 'The requirement of the clause, in our words.' },
  contribution: { ...textSchema, description: 'The contribution of the service.' },
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
    sample_event_ids: textListSchema,
  }),
  gaps: { type: 'array', items: gap },
  permissions: textListSchema,
  settings: {
    ...textListSchema,
    description: 'Settings to check, because they decide how much of it is active.',
  },
});

/** The members of an answer. For `html` and `markdown` it has `content` and not the report. */
export const reportProperties = {
  format: { enum: ['json', 'html', 'markdown'] },
  content: { ...textSchema, description: 'The rendered report; only for `html` and `markdown`.' },
  report_version: integerSchema,
  framework: { enum: FRAMEWORK_IDS },
  title: textSchema,
  edition: textSchema,
  mapping: buildObjectSchema({
    reviewed: textSchema,
    hash: textSchema,
    sources: { type: 'array', items: { type: 'object' } },
  }),
  scope: textListSchema,
  generated_at: { ...textSchema, description: 'The end of the window.' },
  window: buildObjectSchema({
    since: textSchema,
    until: { ...textSchema, description: 'Exclusive.' },
    last: nullableTextSchema,
    recorded_since: { ...nullableTextSchema, description: 'The first decision that is on record.' },
  }),
  tenants: { type: ['array', 'null'], items: textSchema, description: '`null` for all tenants.' },
  agents: { type: ['array', 'null'], items: textSchema, description: '`null` for all agents.' },
  summary: buildObjectSchema({
    total_events: integerSchema,
    boundary_counts: counts,
    action_counts: actions,
    policy_violation_count: {
      ...integerSchema,
      description: '`block`, `redact` and `require_approval` together.',
    },
    top_policies: pairs,
    data_access_by_agent: pairs,
    approval_stats: buildObjectSchema({ counts, average_latency_seconds: { type: ['number', 'null'] } }),
    memory_retention_events: integerSchema,
    anomaly_flags: textListSchema,
    control_counts: counts,
  }),
  evidence: buildObjectSchema({ sample_event_ids: textListSchema, sample_approval_ids: textListSchema }),
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
    oldest_event: nullableTextSchema,
    chains: {
      type: 'array',
      description: 'Each chain of the journal with the signed checkpoint that covers the window.',
      items: { type: 'object' },
    },
  }),
} as const;
