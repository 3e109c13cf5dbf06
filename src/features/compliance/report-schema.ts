import { type Schema, Type } from '../../core/schema.ts';
import { ACTIONS } from '../../core/types/index.ts';
import { FRAMEWORK_IDS } from '../../operations/compliance-frameworks.ts';
import { CONTROL_STATUSES } from './report-types.ts';

const counts = Type.Record(Type.String(), Type.Integer());

const actions = Type.Object(
  Object.fromEntries(ACTIONS.map((action) => [action, Type.Integer()])) as Record<
    (typeof ACTIONS)[number],
    Schema<number>
  >,
);
const pairs = Type.Array(
  { type: 'array' },
  { description: 'Pairs of a name and its events, most frequent first.' },
);
const span = { since: Type.Nullable(Type.String()), until: Type.Nullable(Type.String()) } as const;

const gap = Type.Object({
  kind: Type.Enum(['policy', 'detector', 'record', 'framework']),
  message: Type.String(),
  tenants: Type.Nullable(
    Type.Array(Type.String(), {
      description: 'The tenants that the gap concerns; `null` for all of the report.',
    }),
  ),
  tenant_id: Type.Nullable(
    Type.String({ description: 'The tenant whose own rule the message names; `null` if it names none.' }),
  ),
  ...span,
});

const control = Type.Object({
  control_id: Type.String(),
  title: Type.String(),
  requirement: Type.String({ description: 'The requirement of the clause, in our words.' }),
  contribution: Type.String({ description: 'The contribution of the service.' }),
  status: Type.Enum(CONTROL_STATUSES),
  active: Type.Enum(['all', 'some', 'none', null], {
    description: 'The requirements on this service that were met during the whole window; `null` outside it.',
  }),
  elements: Type.Array(Type.Unsafe<object>({ type: 'object' }), {
    description: 'Rules and mechanisms that carried the control, and when each was active.',
  }),
  evidence: Type.Object({
    counts: Type.Array(Type.Unsafe<object>({ type: 'object' })),
    sample_event_ids: Type.Array(Type.String()),
  }),
  gaps: Type.Array(gap),
  permissions: Type.Array(Type.String()),
  settings: Type.Array(Type.String(), {
    description: 'Settings to check, because they decide how much of it is active.',
  }),
});

/** The members of an answer. For `html` and `markdown` it has `content` and not the report. */
export const reportProperties = {
  format: Type.Enum(['json', 'html', 'markdown']),
  content: Type.Optional(
    Type.String({ description: 'The rendered report; only for `html` and `markdown`.' }),
  ),
  report_version: Type.Optional(Type.Integer()),
  framework: Type.Enum(FRAMEWORK_IDS),
  title: Type.Optional(Type.String()),
  edition: Type.Optional(Type.String()),
  mapping: Type.Optional(
    Type.Object({
      reviewed: Type.String(),
      hash: Type.String(),
      sources: Type.Array(Type.Unsafe<object>({ type: 'object' })),
    }),
  ),
  scope: Type.Optional(Type.Array(Type.String())),
  generated_at: Type.String({ description: 'The end of the window.' }),
  window: Type.Object({
    since: Type.String(),
    until: Type.String({ description: 'Exclusive.' }),
    last: Type.Nullable(Type.String()),
    recorded_since: Type.Nullable(Type.String({ description: 'The first decision that is on record.' })),
  }),
  tenants: Type.Optional(
    Type.Nullable(Type.Array(Type.String(), { description: '`null` for all tenants.' })),
  ),
  agents: Type.Optional(Type.Nullable(Type.Array(Type.String(), { description: '`null` for all agents.' }))),
  summary: Type.Optional(
    Type.Object({
      total_events: Type.Integer(),
      boundary_counts: counts,
      action_counts: actions,
      policy_violation_count: Type.Integer({
        description: '`block`, `redact` and `require_approval` together.',
      }),
      top_policies: pairs,
      data_access_by_agent: pairs,
      approval_stats: Type.Object({ counts, average_latency_seconds: Type.Nullable(Type.Number()) }),
      memory_retention_events: Type.Integer(),
      anomaly_flags: Type.Array(Type.String()),
      control_counts: counts,
    }),
  ),
  evidence: Type.Optional(
    Type.Object({
      sample_event_ids: Type.Array(Type.String()),
      sample_approval_ids: Type.Array(Type.String()),
    }),
  ),
  record_gaps: Type.Optional(
    Type.Array(gap, {
      description: 'Parts of the window that the journal or the saved policies do not cover.',
    }),
  ),
  controls: Type.Optional(Type.Array(control)),
  policies: Type.Optional(
    Type.Array(Type.Unsafe<object>({ type: 'object' }), {
      description: 'The policies that decided, with their times.',
    }),
  ),
  changes: Type.Optional(
    Type.Array(Type.Unsafe<object>({ type: 'object' }), {
      description: 'Changes of the policy, newest first.',
    }),
  ),
  journal: Type.Optional(
    Type.Object({
      oldest_event: Type.Nullable(Type.String()),
      chains: Type.Array(Type.Unsafe<object>({ type: 'object' }), {
        description: 'Each chain of the journal with the signed checkpoint that covers the window.',
      }),
    }),
  ),
} as const;
