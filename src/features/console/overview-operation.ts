import { SEVERITIES } from '../../core/types/index.ts';
import { defineOperation } from '../../operations/operation.ts';
import {
  buildListSchema,
  buildObjectSchema,
  integerSchema,
  nullableIntegerSchema,
  nullableTextSchema,
  textListSchema,
  textSchema,
} from '../../operations/schema-parts.ts';
import { readOverview } from './overview.ts';
import { parseWindow, resolveReadScope } from './read-scope.ts';
import { countsSchema, eventSchema, lastSchema, tenantSchema } from './schemas.ts';

const outcomes = {
  allow: integerSchema,
  modify: integerSchema,
  block: integerSchema,
  require_approval: integerSchema,
} as const;
const top = buildListSchema(
  buildObjectSchema({
    name: textSchema,
    events: integerSchema,
    blocked: integerSchema,
    outcomes: buildObjectSchema(outcomes),
    previous_events: integerSchema,
    previous_blocked: integerSchema,
  }),
  'Most frequent first, ten at most.',
);
const sums = {
  events_total: integerSchema,
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
  input: { type: 'object', properties: { last: lastSchema, tenant_id: tenantSchema } },
  output: buildObjectSchema({
    window: buildObjectSchema({
      last: textSchema,
      since: textSchema,
      until: textSchema,
      bucket_seconds: integerSchema,
    }),
    ...sums,
    buckets: buildListSchema(
      buildObjectSchema({ start: textSchema, ...outcomes }),
      'Decisions by outcome over time, oldest first. Each bucket has `bucket_seconds`.',
    ),
    top: buildObjectSchema({ rules: top, tags: top, agents: top, tools: top, tenants: top, models: top }),
    previous: buildObjectSchema({ since: textSchema, until: textSchema, ...sums }),
    pending_approvals: {
      ...nullableIntegerSchema,
      description: 'At most 1,000. `null` if the user may not read approvals, or the store is not available.',
    },
    next_approval_expires_at: nullableTextSchema,
    recent_incidents: buildListSchema(eventSchema, 'Newest first, eight at most.'),
    recent_alerts: buildListSchema(
      buildObjectSchema({
        alert_id: textSchema,
        rule_id: textSchema,
        rule_name: textSchema,
        severity: { enum: SEVERITIES },
        status: { enum: ['firing', 'acknowledged', 'resolved', 'silenced'] },
        count: integerSchema,
        fired_at: textSchema,
        last_at: textSchema,
        group: { type: 'object', additionalProperties: textSchema },
      }),
      'Newest first, eight at most. Empty if the user may not read alerts, or the store is not available.',
    ),
    tenants: { ...textListSchema, description: 'The tenants with events in the period.' },
    health: buildObjectSchema({
      status: { enum: ['healthy', 'degraded'] },
      ready: { type: 'boolean' },
      last_reload_failure: nullableTextSchema,
      policy_hash: textSchema,
      rules: integerSchema,
      monitored_rules: integerSchema,
      version: textSchema,
      mode: { enum: ['sidecar', 'gateway'] },
      uptime_seconds: integerSchema,
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
    ) as never,
});
