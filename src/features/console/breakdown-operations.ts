import { Type } from '../../core/schema.ts';
import { ACTIONS } from '../../core/types/index.ts';
import type { Rule } from '../../core/types/policy.ts';
import { type Context, defineOperation } from '../../operations/operation.ts';
import { cutPage, pageInput } from '../../operations/paging.ts';
import { openRuleSources, RULE_ORIGINS } from '../../operations/rule-sources.ts';
import { coversName } from '../../runtime/access/scope.ts';
import type { CountField } from '../../runtime/audit/count-types.ts';
import { formatUsage, readCounts, readFirstSeen, sumByValue, type ValueCount } from './count-tables.ts';
import { parseWindow, type ReadScope, resolveReadScope } from './read-scope.ts';
import { lastSchema, listPageSchemas, tenantSchema, usageSchemas } from './schemas.ts';

const BREAKDOWN_FIELDS = [
  'rule',
  'tag',
  'agent',
  'tool',
  'tenant',
  'model',
  'boundary',
  'detector',
] as const satisfies readonly CountField[];

export const dashboardBreakdown = defineOperation({
  name: 'dashboard_breakdown',
  summary: 'Count events by one field',
  description: 'Lists the values of one field with their decisions in a period, most frequent first.',
  http: { method: 'GET', path: '/v1/dashboard/breakdown' },
  permission: 'dashboard:view',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    by: Type.Optional(
      Type.Enum(BREAKDOWN_FIELDS, {
        description: 'The field; default `rule`. Detectors are named `<boundary>/<detector>`.',
      }),
    ),
    last: Type.Optional(lastSchema),
    tenant_id: Type.Optional(tenantSchema),
    ...pageInput,
  }),
  output: Type.Object({
    entries: Type.Array(Type.Object({ name: Type.String(), ...usageSchemas })),
    ...listPageSchemas,
  }),
  example: { by: 'rule', last: '24h' },
  answer: { entries: [], count: 0, next_cursor: null, total: 0 },
  refusals: ['invalid_request'],
  async run(input, context) {
    const { by = 'rule' } = input;
    const scope = resolveReadScope(input, context);
    const window = parseWindow(input.last, context.runtime.now_ms());
    const all = sumByValue(await readCounts(context.runtime, by, scope, window));
    const { items, next_cursor } = cutPage(all, ['breakdown', scope, window.last, by], input);
    const names = items.map(({ value }) => value);
    const first = await readFirstSeen(context.runtime, by, scope, names);
    const entries = items.map((each) => ({
      name: each.value,
      ...formatUsage(each, first.get(each.value)),
    }));
    return { entries, count: entries.length, next_cursor, total: all.length };
  },
});

const ruleSchema = Type.Object({
  name: Type.String(),
  tenant_id: Type.Nullable(Type.String({ description: 'The tenant of the rule; `null` for all tenants.' })),
  builtin: Type.Boolean(),
  origin: Type.Enum(RULE_ORIGINS, {
    description: 'The source: `document` and `tenant_set` are edited over the API, the others in files.',
  }),
  file: Type.Nullable(Type.String({ description: 'The file of the rule.' })),
  boundaries: Type.Array(Type.String()),
  phases: Type.Array(Type.String()),
  data_tags: Type.Array(Type.String()),
  tools: Type.Array(Type.String()),
  agents: Type.Array(Type.String()),
  session_tags: Type.Array(Type.String()),
  when: Type.Nullable(Type.String()),
  action: Type.Enum(ACTIONS),
  enforcement: Type.Enum(['enforce', 'monitor']),
  priority: Type.Integer(),
  reason: Type.String(),
  hits: Type.Integer({ description: 'The events of the period that the rule decided.' }),
  monitored_hits: Type.Integer({
    description: 'The events in which the rule would have acted, in monitor mode.',
  }),
  last_hit: Type.Nullable(Type.String()),
});

export const dashboardRules = defineOperation({
  name: 'dashboard_rules',
  summary: 'List the active rules with their hits',
  description:
    'Lists the rules of the active policy in the order of evaluation, with the events that each decided in a period.',
  http: { method: 'GET', path: '/v1/dashboard/rules' },
  cli: {
    verb: 'policy rules',
    options: ['last', 'tenant_id', 'limit'],
    columns: {
      rows: 'rules',
      cells: { RULE: 'name', ACTION: 'action', MODE: 'enforcement', HITS: 'hits', 'LAST HIT': 'last_hit' },
      empty: 'There are no rules.',
    },
    examples: [['customshouse policy rules --last 7d', 'which rules decided this week']],
  },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    last: Type.Optional(lastSchema),
    tenant_id: Type.Optional(tenantSchema),
    ...pageInput,
  }),
  output: Type.Object({ policy_hash: Type.String(), rules: Type.Array(ruleSchema), ...listPageSchemas }),
  example: { last: '24h', limit: 1 },
  answer: null,
  refusals: ['invalid_request'],
  async run(input, context) {
    const scope = resolveReadScope(input, context);
    const window = parseWindow(input.last, context.runtime.now_ms());
    const policy = context.runtime.policy();
    const isVisible = ({ tenant_id }: Rule) => tenant_id === null || coversName(scope.tenants, tenant_id);
    const rules = [
      ...policy.rules.filter(isVisible).map((rule) => ({ rule, builtin: false })),
      ...policy.builtin_rules.map((rule) => ({ rule, builtin: true })),
    ];
    const { items, next_cursor } = cutPage(rules, ['rules', scope, window.last, policy.hash], input);
    const [hits, sourceOf] = await Promise.all([
      readHits(scope, window, context),
      openRuleSources(policy, context),
    ]);
    const listed = items.map(({ rule, builtin }) => {
      const source = sourceOf(rule);
      return { ...formatRule(rule), builtin, ...source, ...hits(rule) };
    });
    return {
      policy_hash: policy.hash,
      rules: listed,
      count: listed.length,
      next_cursor,
      total: rules.length,
    };
  },
});

/** Returns a function that gives the hits of a rule. */
async function readHits(scope: ReadScope, window: ReturnType<typeof parseWindow>, { runtime }: Context) {
  const decided = indexByValue(sumByValue(await readCounts(runtime, 'rule', scope, window)));
  const monitored = indexByValue(sumByValue(await readCounts(runtime, 'monitored', scope, window)));
  return ({ name, action }: Rule) => {
    const hit = decided.get(name);
    const would = monitored.get(`${name}:${action}`);
    const lastMs = Math.max(hit?.last_ms ?? 0, would?.last_ms ?? 0);
    return {
      hits: hit?.events ?? 0,
      monitored_hits: would?.events ?? 0,
      last_hit: lastMs === 0 ? null : new Date(lastMs).toISOString(),
    };
  };
}

function indexByValue(sums: readonly ValueCount[]): ReadonlyMap<string, ValueCount> {
  return new Map(sums.map((each) => [each.value, each]));
}

function formatRule(rule: Rule) {
  const { name, tenant_id, when, action, enforcement, priority, reason } = rule;
  return {
    ...{ name, tenant_id, when, action, enforcement, priority, reason },
    boundaries: [...rule.boundaries],
    phases: [...rule.phases],
    data_tags: [...rule.data_tags],
    tools: [...rule.tools],
    agents: [...rule.agents],
    session_tags: [...rule.session_tags],
  };
}
