import { findContract } from '../../core/decision/find-contract.ts';
import { isOriginRule } from '../../core/flow/rule-names.ts';
import { canonicalizeJson } from '../../core/policy/compile/canonical-json.ts';
import type { Crossing, Policy, Rule, ToolContract } from '../../core/types/index.ts';
import { hashText } from '../../platform/hash-text.ts';

/** The rules that require an approval for a call, as the active policy has them. */
export interface AskingRules {
  /** Rules of the policy. */
  readonly rules: readonly Rule[];
  /** Rules about where values come from: `flow.arguments.recipient`. */
  readonly origin_rules: readonly string[];
  /** The tool’s contract; `null` if none applies. */
  readonly contract: ToolContract | null;
  /** A hash of the content of all these rules. A changed rule has another. */
  readonly content_hash: string;
}

/** The restriction by which a contract requires approval for each call. */
const CONTRACT_RULE = 'contract.requires_approval';

/**
 * Finds the rules with these names. Returns `null` if one of them is neither a rule nor a contract’s, or is both:
 * nothing then says what it is about, so no grant overrides it.
 */
export function findAskingRules(
  names: readonly string[],
  crossing: Crossing,
  policy: Policy,
): AskingRules | null {
  const found = findContract(crossing, policy);
  const contract = found === 'undeclared' ? null : found;
  const rules: Rule[] = [];
  const origins: string[] = [];
  const contents: [name: string, content: unknown][] = [];
  for (const name of names.toSorted()) {
    const named = [...policy.rules, ...policy.builtin_rules].filter(
      (rule) => rule.name === name && (rule.tenant_id === null || rule.tenant_id === crossing.tenant_id),
    );
    const isOfContract = contract !== null && (name === CONTRACT_RULE || isOriginRule(name));
    if (named.length > 0 === isOfContract) return null;
    if (isOriginRule(name)) origins.push(name);
    rules.push(...named);
    contents.push([name, isOfContract ? contract : named]);
  }
  return { rules, origin_rules: origins, contract, content_hash: hashText(canonicalizeJson(contents)) };
}
