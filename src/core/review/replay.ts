import type { ConditionEvaluator } from '../policy/conditions/facts.ts';
import { ACTIONS, type Action, type DecisionResult, type Policy } from '../types/index.ts';
import {
  evaluateRecord,
  getDecisionResult,
  type NotReplayableReason,
  replayUnder,
} from './evaluate-record.ts';
import {
  lacksDetectors,
  type RecordedEvent,
  readRecordedDecision,
  type UnreadableReason,
} from './recorded-decision.ts';

/** Reason why the decision of another policy is unknown. */
export type UnknownReason =
  | Exclude<UnreadableReason, 'no_decision'>
  | NotReplayableReason
  | 'policy_unavailable'
  | 'record_differs';

/** Decision of another policy on a recorded crossing, compared with the recorded one. */
export type ReplayedDecision =
  | { readonly change: 'same' | 'stricter' | 'less_strict'; readonly result: DecisionResult }
  | { readonly change: 'unknown'; readonly reason: UnknownReason };

/**
 * Replays a recorded decision under the policy `next`. `was` is the policy that made the decision; `null` if it is no
 * longer available. Returns `null` if the event is not a policy decision.
 */
export function replayDecision(
  event: RecordedEvent,
  decidedMs: number,
  was: Policy | null,
  next: Policy,
  conditions: ConditionEvaluator | null,
): ReplayedDecision | null {
  const record = readRecordedDecision(event, decidedMs, conditions);
  if (record === 'no_decision') return null;
  if (typeof record === 'string') return { change: 'unknown', reason: record };
  if (was === null) return { change: 'unknown', reason: 'policy_unavailable' };
  if (lacksDetectors(record, was) || lacksDetectors(record, next))
    return { change: 'unknown', reason: 'incomplete' };
  // If the original policy now decides otherwise, the decision did not depend on the recorded data alone.
  const before = getDecisionResult(evaluateRecord(record, was));
  if (before.action !== event.action || before.decision !== event.decision)
    return { change: 'unknown', reason: 'record_differs' };
  const result = replayUnder(record, was, next);
  if (typeof result === 'string') return { change: 'unknown', reason: result };
  return { change: getChange(before.action, result.action), result };
}

function getChange(before: Action, after: Action): 'same' | 'stricter' | 'less_strict' {
  const by = ACTIONS.indexOf(after) - ACTIONS.indexOf(before);
  if (by === 0) return 'same';
  return by > 0 ? 'stricter' : 'less_strict';
}

/** Number of decisions per kind of change. */
export interface ReplayCounts {
  same: number;
  stricter: number;
  less_strict: number;
  unknown: number;
}

/** A decision that would change, for review by an operator. */
export interface ChangedDecision {
  readonly event_id: string;
  readonly agent_id: string;
  readonly tool_name: string | null;
  readonly data_tags: readonly string[];
  readonly from: Action;
  readonly to: Action;
  readonly from_rule: string;
  readonly to_rule: string;
}

/** Totals of a replay. Its size does not grow with the number of events. */
export interface ReplayTally {
  readonly total: ReplayCounts;
  readonly unknown: Map<UnknownReason, number>;
  /** Number of decisions per transition. The key is `from to`: `allow block`. */
  readonly transitions: Map<string, number>;
  readonly by_agent: Map<string, ReplayCounts>;
  readonly by_tool: Map<string, ReplayCounts>;
  readonly by_tag: Map<string, ReplayCounts>;
  readonly stricter: ChangedDecision[];
  readonly less_strict: ChangedDecision[];
}

/** Maximum number of names in one table. All other names share one row. */
const NAMES_MAX = 1_000;
const EXAMPLES_MAX = 10;
/** Row of the names that exceed the limit. No agent, tool or tag can have this name. */
export const OTHER_NAMES = '(others)';
/** Row of decisions without a tool or a tag. */
export const NO_NAME = '(none)';

/** Creates an empty tally. */
export function createTally(): ReplayTally {
  return {
    total: createCounts(),
    unknown: new Map(),
    transitions: new Map(),
    by_agent: new Map(),
    by_tool: new Map(),
    by_tag: new Map(),
    stricter: [],
    less_strict: [],
  };
}

function createCounts(): ReplayCounts {
  return { same: 0, stricter: 0, less_strict: 0, unknown: 0 };
}

/** Adds one decision to a tally. */
export function addDecision(tally: ReplayTally, event: RecordedEvent, replayed: ReplayedDecision): void {
  const { change } = replayed;
  tally.total[change] += 1;
  countChange(tally.by_agent, event.agent_id, change);
  countChange(tally.by_tool, event.tool_name ?? NO_NAME, change);
  for (const tag of event.data_tags.length === 0 ? [NO_NAME] : event.data_tags)
    countChange(tally.by_tag, tag, change);
  if (replayed.change === 'unknown') {
    tally.unknown.set(replayed.reason, (tally.unknown.get(replayed.reason) ?? 0) + 1);
    return;
  }
  if (replayed.change === 'same') return;
  const move = `${event.action} ${replayed.result.action}`;
  tally.transitions.set(move, (tally.transitions.get(move) ?? 0) + 1);
  const examples = tally[replayed.change];
  if (examples.length < EXAMPLES_MAX) examples.push(buildChangedDecision(event, replayed.result));
}

function countChange(table: Map<string, ReplayCounts>, name: string, change: keyof ReplayCounts): void {
  const row = table.has(name) || table.size < NAMES_MAX ? name : OTHER_NAMES;
  const counts = table.get(row) ?? createCounts();
  counts[change] += 1;
  table.set(row, counts);
}

function buildChangedDecision(event: RecordedEvent, result: DecisionResult): ChangedDecision {
  return {
    event_id: event.event_id,
    agent_id: event.agent_id,
    tool_name: event.tool_name,
    data_tags: event.data_tags,
    from: event.action as Action,
    to: result.action,
    from_rule: event.policy_name,
    to_rule: result.rule,
  };
}
