import { memoize } from '../memoize.ts';
import { listQuotedNames } from '../policy/conditions/facts.ts';
import { isFactTag } from '../tags.ts';
import type { Tag } from '../types/index.ts';
import type { RuleTable } from './rules.ts';

/** Returns the fact tags that the rules of a table name. If there are none, no facts are collected. */
export const listNamedFacts: (table: RuleTable) => readonly Tag[] = memoize(
  ({ crossing_rules, tag_rules, flow_rules, builtin_rules, taint_rules }) =>
    [
      ...crossing_rules.flat(),
      ...tag_rules.flat(),
      ...flow_rules.flat(),
      ...builtin_rules,
      ...taint_rules,
    ].flatMap(({ data_tags, when }) =>
      [...data_tags, ...(when === null ? [] : listQuotedNames(when))].filter(isFactTag),
    ),
);
