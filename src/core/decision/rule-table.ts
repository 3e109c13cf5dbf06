import { memoize } from '../memoize.ts';
import type { CrossingContext, Policy, Rule } from '../types/index.ts';
import { getEnforcementPoint, getRuleTable, type RuleTable } from './rules.ts';

/**
 * Returns the rules for a crossing. If its content cannot be changed, built-in rules flag personal data instead of
 * redacting it.
 */
export function getRuleTableForCrossing(
  policy: Policy,
  {
    boundary,
    phase,
    tenant_id,
    is_unchangeable,
  }: Pick<CrossingContext, 'boundary' | 'phase' | 'tenant_id' | 'is_unchangeable'>,
): RuleTable {
  const table = getRuleTable(policy, getEnforcementPoint(boundary, phase), tenant_id);
  return is_unchangeable === true ? flagPersonalData(table) : table;
}

const flagPersonalData = memoize(
  (table: RuleTable): RuleTable => ({
    ...table,
    builtin_rules: table.builtin_rules.map(flagInsteadOfRedact),
  }),
);

function flagInsteadOfRedact(rule: Rule): Rule {
  if (rule.action !== 'redact' || !rule.data_tags.includes('personal')) return rule;
  const reason = `${rule.reason} It cannot be redacted here, so it was flagged. To block it, set \`pii_protection.action: block\`.`;
  return { ...rule, action: 'flag', reason };
}
