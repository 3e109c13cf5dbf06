import { Type } from '../../core/schema.ts';
import { recordOperatorChange } from '../../operations/managed-change.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { cutPage, pageInput, pageOutput } from '../../operations/paging.ts';
import { resolveTenantOrAll } from '../../operations/subject.ts';
import { formatTime } from '../../runtime/audit/service-event.ts';
import { countOpenAlerts } from './alert-store.ts';
import { type AlertRuleInput, completeAlertRule } from './rule.ts';
import { ALERT_RULES_MAX, findAlertRuleProblems } from './rule-problems.ts';
import { alertRuleSchema } from './rule-schema.ts';
import { deleteAlertRule, listAlertRules, type StoredAlertRule, saveAlertRule } from './rule-store.ts';
import { mayUseTenant, resolveAlertTenants } from './scope.ts';
import { ruleIdSchema, ruleShape } from './shapes.ts';

const ruleExample = {
  rule_id: 'secrets-blocked',
  name: 'Secrets were blocked',
  source: 'violations' as const,
  filters: { tags: ['secret'], actions: ['block' as const] },
  threshold: 5,
  window: '15m',
  group_by: ['agent' as const],
  severity: 'high' as const,
};

export const alertRulesList = defineOperation({
  name: 'alert_rules_list',
  summary: 'List alert rules',
  description:
    'The rules of the configuration, then those that operators saved. A user of particular tenants sees the rules of these tenants.',
  http: { method: 'GET', path: '/v1/dashboard/alerts/rules' },
  cli: {
    verb: 'alerts list',
    options: ['cursor', 'limit'],
    columns: {
      rows: 'rules',
      cells: {
        ID: 'rule_id',
        NAME: 'name',
        SOURCE: 'source',
        THRESHOLD: 'threshold',
        WINDOW: 'window',
        SEVERITY: 'severity',
        CHANNELS: 'channels',
        OPEN: 'open_alerts',
        PROBLEM: 'problem',
      },
      empty: 'There are no alert rules. Add one with `customshouse alerts add RULE_ID --name NAME`.',
    },
    examples: [['customshouse alerts list', '']],
  },
  permission: 'alerts:read',
  for_users: true,
  needs: 'store',
  input: Type.Object({ ...pageInput }),
  output: Type.Object({
    rules: Type.Array(ruleShape),
    channels: Type.Array(Type.Object({ name: Type.String(), type: Type.String() }), {
      description: 'The channels that rules can name.',
    }),
    ...pageOutput,
  }),
  example: { limit: 10 },
  answer: { rules: [], channels: [{ name: 'file', type: 'file' }], next_cursor: null },
  async run(input, context) {
    resolveAlertTenants({}, context);
    const { db } = await context.runtime.store();
    const service = await context.runtime.alerts();
    const [rules, open] = await Promise.all([listAlertRules(db, service), countOpenAlerts(db)]);
    const seen = rules.filter(({ rule }) => mayUseTenant(rule.tenant_id ?? '', context));
    const { items, next_cursor } = cutPage(seen, ['alert_rules', context.caller.tenants], input);
    return {
      rules: items.map((stored) => describeRule(stored, open.get(stored.rule.rule_id) ?? 0)),
      channels: [...service.channels],
      next_cursor,
    };
  },
});

export const alertRulesSave = defineOperation({
  name: 'alert_rules_save',
  summary: 'Save an alert rule',
  description:
    'Adds a rule, or replaces the saved rule with its ID; counting then begins again. It works within a second.',
  http: { method: 'POST', path: '/v1/dashboard/alerts/rules' },
  permission: 'alerts:manage',
  caller: 'person',
  tenants: { all_unless: 'tenant_id' },
  needs: 'store',
  input: Type.Unsafe<AlertRuleInput>(alertRuleSchema),
  output: ruleShape,
  example: ruleExample,
  answer: null,
  refusals: ['conflict'],
  async run(input, context) {
    const tenantId = resolveTenantOrAll(input, context);
    const { tenant_id: _written, ...own } = input;
    const rule = completeAlertRule({ ...own, ...(tenantId !== '' && { tenant_id: tenantId }) });
    const service = await context.runtime.alerts();
    const problems = findAlertRuleProblems(rule, new Set(service.channels.map(({ name }) => name)));
    if (problems.length > 0)
      throw new Refusal(
        'invalid_request',
        `The rule is not valid: \`${problems[0]!.steps.join('.')}\` ${problems[0]!.message}.`,
        problems.map(({ steps, message }) => ({ path: steps.join('.'), message })),
      );
    const store = await context.runtime.store();
    const by = { caller_id: context.caller.id, now_ms: context.runtime.now_ms() };
    await store.transaction(async (trx) => {
      const all = await listAlertRules(trx, service);
      const before = all.find((each) => each.rule.rule_id === rule.rule_id);
      if (before?.origin === 'configuration') throw buildConfiguredRefusal(rule.rule_id);
      if (before !== undefined && !mayUseTenant(before.rule.tenant_id ?? '', context))
        throw new Refusal('conflict', 'Another rule has this ID. Choose another one.');
      if (before === undefined && all.length >= ALERT_RULES_MAX)
        throw new Refusal('conflict', `There are ${ALERT_RULES_MAX} rules already. Remove one first.`);
      await saveAlertRule(trx, rule, by);
      await recordRuleChange(
        'alert_rule_save',
        before === undefined ? 'An operator added an alert rule.' : 'An operator changed an alert rule.',
        { rule_id: rule.rule_id, source: rule.source, channels: rule.channels },
        tenantId,
        context,
      );
    });
    return findDescribed(rule.rule_id, context);
  },
});

export const alertRulesRemove = defineOperation({
  name: 'alert_rules_remove',
  summary: 'Remove an alert rule',
  description:
    'The open alerts of the rule remain until they are resolved. Rules of the configuration are removed there.',
  http: { method: 'POST', path: '/v1/dashboard/alerts/rules/remove' },
  cli: {
    verb: 'alerts remove',
    arguments: ['rule_id'],
    line: ({ rule_id }) => `removed ${rule_id}`,
    examples: [['customshouse alerts remove secrets-blocked', '']],
  },
  permission: 'alerts:manage',
  caller: 'person',
  needs: 'store',
  input: Type.Object({ rule_id: ruleIdSchema }),
  output: Type.Object({ rule_id: Type.String() }),
  example: { rule_id: 'secrets-blocked' },
  answer: { rule_id: 'secrets-blocked' },
  refusals: ['not_found', 'conflict'],
  async run({ rule_id }, context) {
    const stored = await findOwnRule(rule_id, context);
    if (stored.origin === 'configuration') throw buildConfiguredRefusal(rule_id);
    const store = await context.runtime.store();
    await store.transaction(async (trx) => {
      await deleteAlertRule(trx, rule_id);
      await recordRuleChange(
        'alert_rule_remove',
        'An operator removed an alert rule.',
        { rule_id },
        stored.rule.tenant_id ?? '',
        context,
      );
    });
    return { rule_id };
  },
});

/**
 * Finds a rule that the caller may change.
 *
 * @throws Refusal `not_found`, also for a rule of another tenant
 */
export async function findOwnRule(ruleId: string, context: Context): Promise<StoredAlertRule> {
  const { db } = await context.runtime.store();
  const rules = await listAlertRules(db, await context.runtime.alerts());
  const found = rules.find(({ rule }) => rule.rule_id === ruleId);
  if (found !== undefined && mayUseTenant(found.rule.tenant_id ?? '', context)) return found;
  throw new Refusal(
    'not_found',
    'There is no alert rule with this ID. `customshouse alerts list` shows all.',
  );
}

async function findDescribed(ruleId: string, context: Context) {
  const { db } = await context.runtime.store();
  const open = await countOpenAlerts(db);
  return describeRule(await findOwnRule(ruleId, context), open.get(ruleId) ?? 0);
}

function buildConfiguredRefusal(ruleId: string): Refusal {
  const message = `The rule \`${ruleId}\` is in the configuration, under \`alerts.rules\`. Change it there.`;
  return new Refusal('conflict', message);
}

/** Writes the audit event of a change of rules, silences or alerts. */
export function recordRuleChange(
  phase: string,
  reason: string,
  metadata: Readonly<Record<string, string | number | readonly string[]>>,
  tenantId: string,
  context: Context,
): Promise<void> {
  const about = tenantId === '' ? {} : { about: { tenant_id: tenantId } };
  return recordOperatorChange({ phase, reason, metadata, ...about }, context);
}

function describeRule({ rule, origin, problem, ...author }: StoredAlertRule, openAlerts: number) {
  return {
    rule_id: rule.rule_id,
    name: rule.name,
    source: rule.source,
    filters: rule.filters,
    threshold: rule.threshold,
    window: rule.window,
    after: rule.after ?? null,
    group_by: [...(rule.group_by ?? [])],
    severity: rule.severity,
    cooldown: rule.cooldown,
    schedule: rule.schedule ?? null,
    channels: [...rule.channels],
    tenant_id: rule.tenant_id ?? null,
    enabled: rule.enabled,
    origin,
    problem,
    open_alerts: openAlerts,
    created_by: author.created_by,
    created_at: author.created_ms === null ? null : formatTime(author.created_ms),
    changed_by: author.changed_by,
    changed_at: author.changed_ms === null ? null : formatTime(author.changed_ms),
  };
}
