import type { Conditions } from '../policy/conditions/facts.ts';
import { ACTIONS, type Action, type Policy } from '../types/index.ts';
import { type NotRecalled, type RecordedEvent, recollect } from './recorded.ts';
import { retell, retellUnder, type Told, toldOf, type Untold } from './retell.ts';

/** Why it cannot be told what another policy would have said. */
export type Unknown = Exclude<NotRecalled, 'no_decision'> | Untold | 'policy_gone' | 'record_differs';

/** What another policy makes of one recorded decision. */
export type Replayed =
  | { readonly change: 'same' | 'stricter' | 'laxer'; readonly told: Told }
  | { readonly change: 'unknown'; readonly because: Unknown };

/**
 * Asks another policy about a recorded decision; `was` is the policy that made it, `null` where it is gone. Gives
 * `null` for what is no decision of rules.
 */
export function replay(
  event: RecordedEvent,
  decided_ms: number,
  was: Policy | null,
  next: Policy,
  conditions: Conditions | null,
): Replayed | null {
  const recalled = recollect(event, decided_ms, conditions);
  if (recalled === 'no_decision') return null;
  if (typeof recalled === 'string') return { change: 'unknown', because: recalled };
  if (was === null) return { change: 'unknown', because: 'policy_gone' };
  // What the old policy does not say again was not decided by what is in the record.
  const before = toldOf(retell(recalled, was));
  if (before.action !== event.action || before.decision !== event.decision)
    return { change: 'unknown', because: 'record_differs' };
  const told = retellUnder(recalled, was, next);
  if (typeof told === 'string') return { change: 'unknown', because: told };
  return { change: changeOf(before.action, told.action), told };
}

function changeOf(before: Action, after: Action): 'same' | 'stricter' | 'laxer' {
  const by = ACTIONS.indexOf(after) - ACTIONS.indexOf(before);
  if (by === 0) return 'same';
  return by > 0 ? 'stricter' : 'laxer';
}

/** How many decisions would be what. */
export interface Counts {
  same: number;
  stricter: number;
  laxer: number;
  unknown: number;
}

/** A decision that would change, for a person to look at. */
export interface Changed {
  readonly event_id: string;
  readonly agent_id: string;
  readonly tool_name: string | null;
  readonly data_tags: readonly string[];
  readonly from: Action;
  readonly to: Action;
  readonly from_rule: string;
  readonly to_rule: string;
}

/** What a replay adds up to. Its size does not grow with the number of events. */
export interface Tally {
  readonly total: Counts;
  readonly unknown: Map<Unknown, number>;
  /** How often `from` would become `to`: `allow block`. */
  readonly moves: Map<string, number>;
  readonly by_agent: Map<string, Counts>;
  readonly by_tool: Map<string, Counts>;
  readonly by_tag: Map<string, Counts>;
  readonly stricter: Changed[];
  readonly laxer: Changed[];
}

/** Names that one table holds at most; all others are counted together. */
const NAMES_MAX = 1_000;
const EXAMPLES_MAX = 10;
/** The row of names that found no place; no agent, tool or tag can be called that. */
export const OTHERS = '(others)';
/** The row of decisions without a tool or a tag. */
export const NONE = '(none)';

/** A tally of nothing. */
export function emptyTally(): Tally {
  return {
    total: noCounts(),
    unknown: new Map(),
    moves: new Map(),
    by_agent: new Map(),
    by_tool: new Map(),
    by_tag: new Map(),
    stricter: [],
    laxer: [],
  };
}

function noCounts(): Counts {
  return { same: 0, stricter: 0, laxer: 0, unknown: 0 };
}

/** Adds one decision to a tally. */
export function addTo(tally: Tally, event: RecordedEvent, replayed: Replayed): void {
  const { change } = replayed;
  tally.total[change] += 1;
  count(tally.by_agent, event.agent_id, change);
  count(tally.by_tool, event.tool_name ?? NONE, change);
  for (const tag of event.data_tags.length === 0 ? [NONE] : event.data_tags) count(tally.by_tag, tag, change);
  if (replayed.change === 'unknown') {
    tally.unknown.set(replayed.because, (tally.unknown.get(replayed.because) ?? 0) + 1);
    return;
  }
  if (replayed.change === 'same') return;
  const move = `${event.action} ${replayed.told.action}`;
  tally.moves.set(move, (tally.moves.get(move) ?? 0) + 1);
  const examples = tally[replayed.change];
  if (examples.length < EXAMPLES_MAX) examples.push(changedOf(event, replayed.told));
}

function count(table: Map<string, Counts>, name: string, change: keyof Counts): void {
  const row = table.has(name) || table.size < NAMES_MAX ? name : OTHERS;
  const counts = table.get(row) ?? noCounts();
  counts[change] += 1;
  table.set(row, counts);
}

function changedOf(event: RecordedEvent, told: Told): Changed {
  return {
    event_id: event.event_id,
    agent_id: event.agent_id,
    tool_name: event.tool_name,
    data_tags: event.data_tags,
    from: event.action as Action,
    to: told.action,
    from_rule: event.policy_name,
    to_rule: told.rule,
  };
}
