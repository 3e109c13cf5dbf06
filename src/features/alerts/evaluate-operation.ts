import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { formatDuration } from '../../platform/store/columns.ts';
import { parseDuration } from '../../runtime/audit/filter.ts';
import { formatTime } from '../../runtime/audit/service-event.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { type CountedGroup, countSignal, type OpenAlert, startCount } from './counting.ts';
import { compileFilters } from './match.ts';
import { type AlertRule, prepareAlertRule } from './rule.ts';
import { findOwnRule } from './rule-operations.ts';
import { listAlertRules } from './rule-store.ts';
import { mayUseTenant, resolveAlertTenants } from './scope.ts';
import { evaluatedAlertShape, ruleIdSchema } from './shapes.ts';
import { readGroup, readSignal } from './signal.ts';

const LAST_MS_MAX = 7 * 86_400_000;
const EVENTS_MAX = 20_000;
const PAGE_EVENTS = 1_000;
const ALERTS_MAX = 100;

export const alertsEvaluate = defineOperation({
  name: 'alerts_evaluate',
  summary: 'Try alert rules on recorded events',
  description:
    'Returns the alerts that rules would have raised on the newest 20,000 events of a period. Nothing is stored or sent. Sources that are not events (`approvals_waiting`, `hooks_silent`, `chain_breaks`) are not tried.',
  http: { method: 'POST', path: '/v1/dashboard/alerts/evaluate' },
  permission: 'alerts:read',
  for_users: true,
  needs: 'store',
  input: Type.Object({
    last: Type.Optional(
      Type.String({
        maxLength: 32,
        description: 'The period before now: `15m`, `24h`; default `15m`, at most `7d`.',
      }),
    ),
    rule_id: Type.Optional({ ...ruleIdSchema, description: 'One rule (default: all that are enabled).' }),
  }),
  output: Type.Object({
    window: Type.String(),
    events_evaluated: Type.Integer(),
    truncated: Type.Boolean({ description: 'There were more than 20,000 events, or more than 100 alerts.' }),
    triggered_count: Type.Integer(),
    alerts: Type.Array(evaluatedAlertShape, { description: '100 at most.' }),
  }),
  example: { last: '15m' },
  answer: { window: '15m', events_evaluated: 0, truncated: false, triggered_count: 0, alerts: [] },
  refusals: ['not_found'],
  async run({ last = '15m', rule_id }, context) {
    const lastMs = parseDuration(last);
    if (lastMs === null || lastMs === 0 || lastMs > LAST_MS_MAX)
      throw new Refusal('invalid_request', '`last` is a duration of at most `7d`, such as `15m`.', [
        { path: 'last', message: 'is a duration of at most `7d`, such as `15m`' },
      ]);
    const rules = await listRules(rule_id, context);
    const read = rules.length === 0 ? NO_EVENTS : await readEvents(last, context);
    const alerts = rules.flatMap((rule) => simulateRule(rule, read.events));
    return {
      window: last,
      events_evaluated: read.events.length,
      truncated: read.truncated || alerts.length > ALERTS_MAX,
      triggered_count: alerts.length,
      alerts: alerts.slice(0, ALERTS_MAX),
    };
  },
});

const NO_EVENTS = { events: [], truncated: false };

async function listRules(ruleId: string | undefined, context: Context): Promise<readonly AlertRule[]> {
  if (ruleId !== undefined) return [prepareAlertRule((await findOwnRule(ruleId, context)).rule)];
  const { db } = await context.runtime.store();
  const rules = await listAlertRules(db, await context.runtime.alerts());
  return rules
    .filter(
      ({ rule, problem }) => rule.enabled && problem === null && mayUseTenant(rule.tenant_id ?? '', context),
    )
    .map(({ rule }) => prepareAlertRule(rule));
}

/** Reads the newest events of the caller's tenants, oldest first. */
async function readEvents(last: string, context: Context) {
  const tenants = resolveAlertTenants({}, context);
  const events: AuditEvent[] = [];
  let cursor = '';
  while (events.length < EVENTS_MAX) {
    const page = await context.runtime.queryAudit({
      last,
      newest_first: true,
      limit: PAGE_EVENTS,
      cursor,
      ...(tenants !== '*' && { any_of: { tenant_id: tenants } }),
    });
    events.push(...page.events);
    if (page.next_cursor === null || page.next_cursor === undefined)
      return { events: events.reverse(), truncated: false };
    cursor = page.next_cursor;
  }
  return { events: events.reverse(), truncated: true };
}

/** Returns the alerts that a rule raises on events, oldest first. */
function simulateRule(rule: AlertRule, events: readonly AuditEvent[]) {
  const matches = compileFilters(rule);
  const groups = new Map<string, CountedGroup>();
  const alerts: { readonly group: Record<string, string>; readonly alert: OpenAlert }[] = [];
  for (const event of events) {
    const signal = readSignal(event);
    if (!matches(signal)) continue;
    const group = readGroup(rule.groups, signal);
    const key = JSON.stringify(group);
    const counted = groups.get(key) ?? { count: startCount(), open: null };
    groups.set(key, counted);
    const { fired } = countSignal(rule, counted, signal);
    if (fired === null) continue;
    counted.open = fired;
    alerts.push({ group, alert: fired });
  }
  return alerts.map(({ group, alert }) => ({
    rule_id: rule.rule_id,
    rule_name: rule.name,
    severity: rule.severity,
    source: rule.source,
    group,
    count: alert.event_count,
    threshold: rule.threshold,
    window: formatDuration(rule.window_ms),
    first_at: formatTime(alert.first_ms),
    last_at: formatTime(alert.last_ms),
    sample_event_ids: alert.sample_event_ids,
    tenant_ids: alert.tenant_ids,
  }));
}
