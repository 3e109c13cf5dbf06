import type { ConditionEvaluator } from '../policy/conditions/facts.ts';
import { ACTIONS, type Action, type DecisionResult, type Policy } from '../types/index.ts';
import {
  evaluateRecord,
  getDecisionResult,
  type NotReplayableReason,
  replayUnder,
} from './evaluate-record.ts';
import { type RecordedEvent, readRecordedDecision, type UnreadableReason } from './recorded-decision.ts';

/** Why the decision of another policy is unknown. */
export type UnknownReason =
  | Exclude<UnreadableReason, 'no_decision'>
  | NotReplayableReason
  | 'policy_unavailable'
  | 'record_differs';

/** What another policy makes of one recorded decision. */
export type ReplayedDecision =
  | { readonly change: 'same' | 'stricter' | 'laxer'; readonly result: DecisionResult }
  | { readonly change: 'unknown'; readonly reason: UnknownReason };

/**
 * Asks another policy about a recorded decision; `was` is the policy that made it, `null` where it is gone. Gives
 * `null` for what is no decision of rules.
 */
export function replayDecision(
  event: RecordedEvent,
  decided_ms: number,
  was: Policy | null,
  next: Policy,
  conditions: ConditionEvaluator | null,
): ReplayedDecision | null {
  const record = readRecordedDecision(event, decided_ms, conditions);
  if (record === 'no_decision') return null;
  if (typeof record === 'string') return { change: 'unknown', reason: record };
  if (was === null) return { change: 'unknown', reason: 'policy_unavailable' };
  // What the old policy does not say again was not decided by what is in the record.
  const before = getDecisionResult(evaluateRecord(record, was));
  if (before.action !== event.action || before.decision !== event.decision)
    return { change: 'unknown', reason: 'record_differs' };
  const result = replayUnder(record, was, next);
  if (typeof result === 'string') return { change: 'unknown', reason: result };
  return { change: changeOf(before.action, result.action), result };
}

function changeOf(before: Action, after: Action): 'same' | 'stricter' | 'laxer' {
  const by = ACTIONS.indexOf(after) - ACTIONS.indexOf(before);
  if (by === 0) return 'same';
  return by > 0 ? 'stricter' : 'laxer';
}

/** How many decisions would be what. */
export interface ReplayCounts {
  same: number;
  stricter: number;
  laxer: number;
  unknown: number;
}

/** A decision that would change, for a person to look at. */
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

/** What a replay adds up to. Its size does not grow with the number of events. */
export interface ReplayTally {
  readonly total: ReplayCounts;
  readonly unknown: Map<UnknownReason, number>;
  /** How often `from` would become `to`: `allow block`. */
  readonly transitions: Map<string, number>;
  readonly by_agent: Map<string, ReplayCounts>;
  readonly by_tool: Map<string, ReplayCounts>;
  readonly by_tag: Map<string, ReplayCounts>;
  readonly stricter: ChangedDecision[];
  readonly laxer: ChangedDecision[];
}

/** Names that one table holds at most; all others are counted together. */
const NAMES_MAX = 1_000;
const EXAMPLES_MAX = 10;
/** The row of names that found no place; no agent, tool or tag can be called that. */
export const OTHER_NAMES = '(others)';
/** The row of decisions without a tool or a tag. */
export const NO_NAME = '(none)';

/** A tally of nothing. */
export function createTally(): ReplayTally {
  return {
    total: noCounts(),
    unknown: new Map(),
    transitions: new Map(),
    by_agent: new Map(),
    by_tool: new Map(),
    by_tag: new Map(),
    stricter: [],
    laxer: [],
  };
}

function noCounts(): ReplayCounts {
  return { same: 0, stricter: 0, laxer: 0, unknown: 0 };
}

/** Adds one decision to a tally. */
export function addDecision(tally: ReplayTally, event: RecordedEvent, replayed: ReplayedDecision): void {
  const { change } = replayed;
  tally.total[change] += 1;
  count(tally.by_agent, event.agent_id, change);
  count(tally.by_tool, event.tool_name ?? NO_NAME, change);
  for (const tag of event.data_tags.length === 0 ? [NO_NAME] : event.data_tags)
    count(tally.by_tag, tag, change);
  if (replayed.change === 'unknown') {
    tally.unknown.set(replayed.reason, (tally.unknown.get(replayed.reason) ?? 0) + 1);
    return;
  }
  if (replayed.change === 'same') return;
  const move = `${event.action} ${replayed.result.action}`;
  tally.transitions.set(move, (tally.transitions.get(move) ?? 0) + 1);
  const examples = tally[replayed.change];
  if (examples.length < EXAMPLES_MAX) examples.push(changedDecision(event, replayed.result));
}

function count(table: Map<string, ReplayCounts>, name: string, change: keyof ReplayCounts): void {
  const row = table.has(name) || table.size < NAMES_MAX ? name : OTHER_NAMES;
  const counts = table.get(row) ?? noCounts();
  counts[change] += 1;
  table.set(row, counts);
}

function changedDecision(event: RecordedEvent, result: DecisionResult): ChangedDecision {
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
