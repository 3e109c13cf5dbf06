import { once } from '../memo.ts';
import type { Envelope, Policy, Rule } from '../types/index.ts';
import { placeOf, type RuleTable, tableOf } from './rules.ts';

/** Returns the rules for a crossing. Where its content cannot be changed, built-in rules flag personal data instead. */
export function tableFor(
  policy: Policy,
  {
    boundary,
    phase,
    tenant_id,
    is_unchangeable,
  }: Pick<Envelope, 'boundary' | 'phase' | 'tenant_id' | 'is_unchangeable'>,
): RuleTable {
  const table = tableOf(policy, placeOf(boundary, phase), tenant_id);
  return is_unchangeable === true ? withoutMasks(table) : table;
}

const withoutMasks = once(
  (table: RuleTable): RuleTable => ({ ...table, builtin: table.builtin.map(flaggedInstead) }),
);

function flaggedInstead(rule: Rule): Rule {
  if (rule.action !== 'redact' || !rule.data_tags.includes('personal')) return rule;
  const reason = `${rule.reason} It cannot be redacted here, so it was flagged. To block it, set \`pii_protection.action: block\`.`;
  return { ...rule, action: 'flag', reason };
}
