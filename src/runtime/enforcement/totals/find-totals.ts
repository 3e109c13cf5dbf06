import { foldCase, matchesAnyCase } from '../../../core/tags.ts';
import type { Crossing, Policy, TotalQuery } from '../../../core/types/index.ts';

/** A total that a decision depends on. */
export interface TotalNeed {
  readonly query: TotalQuery;
  /** True if the total includes the call. */
  readonly includes_call: boolean;
}

interface ReadingRule {
  readonly tenant_id: string | null;
  readonly tools: readonly string[];
  readonly totals: readonly TotalQuery[];
}

const readers = new WeakMap<Policy, readonly ReadingRule[]>();

/** Returns the totals that rules for the call's tool read, each once. */
export function findTotals(crossing: Crossing, policy: Policy): readonly TotalNeed[] {
  const { boundary, phase, tool, tenant_id } = crossing;
  const rules = listReadingRules(policy);
  if (rules.length === 0 || boundary !== 'action' || phase !== 'request' || tool === null) return [];
  const needs = new Map<string, TotalNeed>();
  for (const rule of rules) {
    if (rule.tenant_id !== null && rule.tenant_id !== tenant_id) continue;
    if (!matchesAnyCase(rule.tools, tool)) continue;
    for (const query of rule.totals)
      needs.set(JSON.stringify(query), {
        query,
        includes_call: foldCase(query.tool) === foldCase(tool),
      });
  }
  return [...needs.values()];
}

function listReadingRules(policy: Policy): readonly ReadingRule[] {
  let found = readers.get(policy);
  if (found === undefined) {
    found = [...policy.rules, ...policy.taint_rules].flatMap(({ tenant_id, tools, reads }) =>
      reads === undefined || reads.totals.length === 0 ? [] : [{ tenant_id, tools, totals: reads.totals }],
    );
    readers.set(policy, found);
  }
  return found;
}
