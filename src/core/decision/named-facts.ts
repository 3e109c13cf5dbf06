import { once } from '../memo.ts';
import { namesIn } from '../policy/conditions/facts.ts';
import { isFact } from '../tags.ts';
import type { Tag } from '../types/index.ts';
import type { RuleTable } from './rules.ts';

/** Tags of facts that some rule of a table names: without any, nobody asks for facts. */
export const factsNamed: (table: RuleTable) => readonly Tag[] = once(
  ({ about_crossing, about_tags, flow, builtin, marks }) =>
    [...about_crossing.flat(), ...about_tags.flat(), ...flow.flat(), ...builtin, ...marks].flatMap(
      ({ data_tags, when }) => [...data_tags, ...(when === null ? [] : namesIn(when))].filter(isFact),
    ),
);
