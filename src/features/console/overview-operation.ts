import { Type } from '../../core/schema.ts';
import { defineOperation } from '../../operations/operation.ts';
import { recentAlertSchema } from '../../operations/recent-alert.ts';
import { readOverview } from './overview.ts';
import { parseWindow, resolveReadScope } from './read-scope.ts';
import { countsSchema, eventSchema, lastSchema, tenantSchema } from './schemas.ts';

const outcomes = {
  allow: Type.Integer(),
  modify: Type.Integer(),
  block: Type.Integer(),
  require_approval: Type.Integer(),
} as const;
const top = Type.Array(
  Type.Object({
    name: Type.String(),
    events: Type.Integer(),
    blocked: Type.Integer(),
    outcomes: Type.Object(outcomes),
    previous_events: Type.Integer(),
    previous_blocked: Type.Integer(),
  }),
  { description: 'Most frequent first, ten at most.' },
);
const sums = {
  events_total: Type.Integer(),
  action_counts: countsSchema,
  decision_counts: countsSchema,
  boundary_counts: countsSchema,
} as const;

export const dashboardOverview = defineOperation({
  name: 'dashboard_overview',
  summary: 'Show the overview',
  description:
    'Returns the decisions of a period: counts by outcome over time, the most frequent rules, tags, agents, tools, tenants and models, the figures of the period before, waiting approvals and health.',
  http: { method: 'GET', path: '/v1/dashboard/overview' },
  permission: 'dashboard:view',
  for_users: true,
  needs: 'journal',
  input: Type.Object({ last: Type.Optional(lastSchema), tenant_id: Type.Optional(tenantSchema) }),
  output: Type.Object({
    window: Type.Object({
      last: Type.String(),
      since: Type.String(),
      until: Type.String(),
      bucket_seconds: Type.Integer(),
    }),
    ...sums,
    buckets: Type.Array(Type.Object({ start: Type.String(), ...outcomes }), {
      description: 'Decisions by outcome over time, oldest first. Each bucket has `bucket_seconds`.',
    }),
    top: Type.Object({ rules: top, tags: top, agents: top, tools: top, tenants: top, models: top }),
    previous: Type.Object({ since: Type.String(), until: Type.String(), ...sums }),
    pending_approvals: Type.Nullable(
      Type.Integer({
        description:
          'At most 1,000. `null` if the user may not read approvals, or the store is not available.',
      }),
    ),
    next_approval_expires_at: Type.Nullable(Type.String()),
    recent_incidents: Type.Array(eventSchema, { description: 'Newest first, eight at most.' }),
    recent_alerts: Type.Array(recentAlertSchema, {
      description:
        'Newest first, eight at most. Empty if the user may not read alerts, or the store is not available.',
    }),
    tenants: Type.Array(Type.String(), { description: 'The tenants with events in the period.' }),
    health: Type.Object({
      status: Type.Enum(['healthy', 'degraded']),
      ready: Type.Boolean(),
      last_reload_failure: Type.Nullable(Type.String()),
      policy_hash: Type.String(),
      rules: Type.Integer(),
      monitored_rules: Type.Integer(),
      version: Type.String(),
      mode: Type.Enum(['sidecar', 'gateway']),
      uptime_seconds: Type.Integer(),
    }),
  }),
  example: { last: '24h' },
  answer: null,
  refusals: ['invalid_request'],
  run: (input, context) =>
    readOverview(
      resolveReadScope(input, context),
      parseWindow(input.last, context.runtime.now_ms()),
      context,
    ),
});
