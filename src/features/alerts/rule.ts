import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import {
  type AlertGroupField,
  type AlertRuleSettings,
  type AlertSource,
  DEFAULT_ALERT_CHANNEL,
} from './rule-schema.ts';

/** A rule with every field, as the evaluator uses it. */
export interface AlertRule extends AlertRuleSettings {
  readonly window_ms: number;
  readonly cooldown_ms: number;
  /** `null` for a source that does not wait. */
  readonly after_ms: number | null;
  readonly groups: readonly AlertGroupField[];
  /** Its alerts end when the condition does, not when the window is empty. */
  readonly is_condition: boolean;
}

/** A rule as a caller of the API writes it. Only `rule_id` and `name` are required. */
export type AlertRuleInput = Pick<AlertRuleSettings, 'rule_id' | 'name'> &
  Partial<Omit<AlertRuleSettings, 'filters'>> & { readonly filters?: Partial<AlertRuleSettings['filters']> };

/** Sources that are conditions of the service. */
const CONDITION_SOURCES: readonly AlertSource[] = ['approvals_waiting', 'hooks_silent', 'chain_breaks'];

/** Returns whether a source is a condition, which begins and ends, and not events. */
export function isConditionSource(source: AlertSource): boolean {
  return CONDITION_SOURCES.includes(source);
}

/** Fills a rule with its defaults. */
export function completeAlertRule(input: AlertRuleInput): AlertRuleSettings {
  return {
    source: 'violations',
    threshold: 1,
    window: '15m',
    severity: 'high',
    cooldown: '1m',
    channels: [DEFAULT_ALERT_CHANNEL],
    enabled: true,
    ...input,
    filters: {
      boundaries: [],
      actions: [],
      policies: [],
      agents: [],
      tags: [],
      tools: [],
      tenants: [],
      severities: [],
      ...input.filters,
    },
  };
}

const AFTER_DEFAULTS: Partial<Record<AlertRuleSettings['source'], string>> = {
  approvals_waiting: '5m',
  hooks_silent: '24h',
};
const GROUP_DEFAULTS: Partial<Record<AlertRuleSettings['source'], readonly AlertGroupField[]>> = {
  approvals_waiting: ['request'],
  hooks_silent: ['tenant', 'agent'],
};

/** Prepares a valid rule for evaluation. */
export function prepareAlertRule(rule: AlertRuleSettings): AlertRule {
  const after = rule.after ?? AFTER_DEFAULTS[rule.source];
  return {
    ...rule,
    window_ms: parseDurationMs(rule.window),
    cooldown_ms: parseDurationMs(rule.cooldown),
    after_ms: after === undefined ? null : parseDurationMs(after),
    groups: rule.group_by ?? GROUP_DEFAULTS[rule.source] ?? [],
    is_condition: isConditionSource(rule.source),
  };
}
