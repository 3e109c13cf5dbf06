import { SEVERITIES } from '../../core/types/index.ts';
import { defineOperation } from '../../operations/operation.ts';
import { readOverview } from './overview.ts';
import { parseWindow, resolveReadScope } from './read-scope.ts';
import {
  buildListSchema,
  buildObjectSchema,
  countsSchema,
  eventSchema,
  lastSchema,
  tenantSchema,
  text,
  textOrNull,
  texts,
  whole,
  wholeOrNull,
} from './schemas.ts';

const outcomes = { allow: whole, modify: whole, block: whole, require_approval: whole } as const;
const top = buildListSchema(
  buildObjectSchema({
    name: text,
    events: whole,
    blocked: whole,
    outcomes: buildObjectSchema(outcomes),
    previous_events: whole,
    previous_blocked: whole,
  }),
  'Most frequent first, ten at most.',
);
const sums = {
  events_total: whole,
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
    window: buildObjectSchema({ last: text, since: text, until: text, bucket_seconds: whole }),
    ...sums,
    buckets: buildListSchema(
      buildObjectSchema({ start: text, ...outcomes }),
      'Decisions by outcome over time, oldest first. Each bucket has `bucket_seconds`.',
    ),
    top: buildObjectSchema({ rules: top, tags: top, agents: top, tools: top, tenants: top, models: top }),
    previous: buildObjectSchema({ since: text, until: text, ...sums }),
    pending_approvals: {
      ...wholeOrNull,
      description: 'At most 1,000. `null` if the user may not read approvals, or the store is not available.',
    },
    next_approval_expires_at: textOrNull,
    recent_incidents: buildListSchema(eventSchema, 'Newest first, eight at most.'),
    recent_alerts: buildListSchema(
      buildObjectSchema({
        alert_id: text,
        rule_id: text,
        rule_name: text,
        severity: { enum: SEVERITIES },
        status: { enum: ['firing', 'acknowledged', 'resolved', 'silenced'] },
        count: whole,
        fired_at: text,
        last_at: text,
        group: { type: 'object', additionalProperties: text },
      }),
      'Newest first, eight at most. Empty if the user may not read alerts, or the store is not available.',
    ),
    tenants: { ...texts, description: 'The tenants with events in the period.' },
    health: buildObjectSchema({
      status: { enum: ['healthy', 'degraded'] },
      ready: { type: 'boolean' },
      last_reload_failure: textOrNull,
      policy_hash: text,
      rules: whole,
      monitored_rules: whole,
      version: text,
      mode: { enum: ['sidecar', 'gateway'] },
      uptime_seconds: whole,
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
