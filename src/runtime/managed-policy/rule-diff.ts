import { canonicalizeJson } from '../../core/policy/compile/canonical-json.ts';
import type { Json } from '../../core/types/index.ts';

/** The difference of one rule between two lists. A rule is identified by its name. */
export interface RuleDifference {
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed' | 'moved';
  /** The rule in the first list; `null` if it is not there. */
  readonly before: Json | null;
  readonly after: Json | null;
}

/** Compares two lists of rules. `moved` is a rule whose place among the rules of both lists differs. */
export function diffRules(before: readonly Json[], after: readonly Json[]): readonly RuleDifference[] {
  const [old, next] = [indexByName(before), indexByName(after)];
  const bothBefore = [...old.keys()].filter((name) => next.has(name));
  const bothAfter = [...next.keys()].filter((name) => old.has(name));
  const removed = [...old].flatMap(([name, rule]): RuleDifference[] =>
    next.has(name) ? [] : [{ name, change: 'removed', before: rule, after: null }],
  );
  const others = [...next].flatMap(([name, rule]): RuleDifference[] => {
    const was = old.get(name);
    if (was === undefined) return [{ name, change: 'added', before: null, after: rule }];
    if (canonicalizeJson(was) !== canonicalizeJson(rule))
      return [{ name, change: 'changed', before: was, after: rule }];
    const isMoved = bothBefore.indexOf(name) !== bothAfter.indexOf(name);
    return isMoved ? [{ name, change: 'moved', before: was, after: rule }] : [];
  });
  return [...removed, ...others];
}

/** A rule without a name is identified by its place; the compiler reports it. */
function indexByName(rules: readonly Json[]): ReadonlyMap<string, Json> {
  return new Map(
    rules.map((rule, at) => {
      const name =
        typeof rule === 'object' && rule !== null && !Array.isArray(rule)
          ? (rule as { readonly name?: Json }).name
          : undefined;
      return [typeof name === 'string' ? name : `#${at + 1}`, rule];
    }),
  );
}
