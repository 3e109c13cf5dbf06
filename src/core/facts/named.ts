import { namesIn } from '../conditions/facts.ts';
import type { RuleTable } from '../rules.ts';
import { once } from '../shell/memo.ts';
import { isFact } from '../tags.ts';
import type { Tag } from '../types.ts';

/** Tags of facts that some rule of a table names: without any, nobody asks for facts. */
export const factsNamed: (table: RuleTable) => readonly Tag[] = once(
  ({ about_crossing, about_tags, flow, builtin, marks }) =>
    [...about_crossing.flat(), ...about_tags.flat(), ...flow.flat(), ...builtin, ...marks].flatMap(
      ({ data_tags, when }) => [...data_tags, ...(when === null ? [] : namesIn(when))].filter(isFact),
    ),
);
