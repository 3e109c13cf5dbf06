import type { ConditionalRule, ConditionResult } from '../decision/rules.ts';
import type { Policy, RuleConditionResult } from '../types/index.ts';

/** Results for conditions on arguments, by rule name. */
export type ConditionResults = ReadonlyMap<string, ConditionResult>;

const WORDS = { true: true, false: false, none: null } as const;

/** Writes a result for an event: `refund-cap:true`, `refund-cap:false` or `refund-cap:none`. */
export function formatConditionResult({ rule, result }: RuleConditionResult): string {
  return `${rule}:${result ?? 'none'}`;
}

/** Reads what `formatConditionResult` wrote. */
export function parseConditionResults(written: readonly string[]): ConditionResults {
  return new Map(
    written.flatMap((each): [string, ConditionResult][] => {
      const at = each.lastIndexOf(':');
      const word = each.slice(at + 1);
      return Object.hasOwn(WORDS, word) ? [[each.slice(0, at), WORDS[word as keyof typeof WORDS]]] : [];
    }),
  );
}

/** Finds recorded results while a decision is evaluated, and notes if one is missing. */
export interface RecordedResults {
  readonly find: (rule: ConditionalRule) => ConditionResult;
  /** True if a condition was evaluated whose result is not recorded. */
  readonly is_missing: () => boolean;
}

/**
 * Opens the results for another policy's rules. A result counts for every rule with the condition text that had it.
 * `isComparable` is false if the arguments may differ, as after another contract.
 */
export function openRecordedResults(
  results: ConditionResults,
  was: Policy,
  tenantId: string,
  isComparable: boolean,
): RecordedResults {
  const byText = new Map<string, ConditionResult>();
  for (const { name, when, tenant_id } of isComparable ? [...was.rules, ...was.taint_rules] : []) {
    const result = results.get(name);
    if (when !== null && result !== undefined && (tenant_id === null || tenant_id === tenantId))
      byText.set(when, result);
  }
  let isMissing = false;
  const find = ({ when }: ConditionalRule): ConditionResult => {
    const result = byText.get(when ?? '');
    if (result === undefined) isMissing = true;
    return result ?? null;
  };
  return { find, is_missing: () => isMissing };
}
