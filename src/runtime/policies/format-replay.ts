import type { ChangedDecision, ReplayCounts } from '../../core/review/replay.ts';
import type { ReplayReport } from './replay.ts';

/** Formats a replay as JSON: the totals, the transitions, and the names with the most changes first. */
export function formatReplay({ tally, since_ms, until_ms }: ReplayReport, policyHash: string) {
  const rows = (counts: ReadonlyMap<string, ReplayCounts>) =>
    [...counts].map(([name, each]) => ({ name, ...each })).sort(compareByChanges);
  return {
    policy_hash: policyHash,
    since: new Date(since_ms).toISOString(),
    until: until_ms === null ? null : new Date(until_ms).toISOString(),
    total: tally.total,
    unknown: Object.fromEntries(tally.unknown),
    transitions: [...tally.transitions].map(([move, count]) => ({ ...parseMove(move), count })),
    by_agent: rows(tally.by_agent),
    by_tool: rows(tally.by_tool),
    by_tag: rows(tally.by_tag),
    stricter: tally.stricter.map(copyExample),
    less_strict: tally.less_strict.map(copyExample),
  };
}

function copyExample(example: ChangedDecision) {
  return { ...example, data_tags: [...example.data_tags] };
}

function parseMove(move: string) {
  const [from = '', to = ''] = move.split(' ');
  return { from, to };
}

type ReplayRow = ReplayCounts & { readonly name: string };

/** Orders names by the number of decisions that would change. */
export function compareByChanges(a: ReplayRow, b: ReplayRow): number {
  const weight = ({ stricter, less_strict }: ReplayCounts) => stricter + less_strict;
  return weight(b) - weight(a) || b.unknown - a.unknown || (a.name < b.name ? -1 : 1);
}
