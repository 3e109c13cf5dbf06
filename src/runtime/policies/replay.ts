import { join } from 'node:path';
import { addDecision, createTally, type ReplayTally, replayDecision } from '../../core/review/replay.ts';
import { covers } from '../../core/tags.ts';
import type { Policy } from '../../core/types/index.ts';
import { listWriters } from '../audit/files.ts';
import { parseFilter } from '../audit/filter.ts';
import { FROM_START, readChain } from '../audit/reader.ts';
import type { AuditEvent } from '../audit/types.ts';

/** Selects decisions. All conditions are combined with AND. */
export interface ReplayFilter {
  /** ISO 8601, or a duration before now. */
  readonly since: string;
  readonly until?: string;
  readonly agent_id?: string;
  readonly tool_name?: string;
  /** The tag and its descendants. */
  readonly data_tag?: string;
  readonly tenant_id?: string;
}

export interface ReplayOptions {
  /** The folder of all writers, `<state>/journal`. */
  readonly journal_dir: string;
  readonly next: Policy;
  /** Returns the policy with a hash, or `null` if it no longer exists. Called once per hash. */
  readonly policyOf: (hash: string) => Promise<Policy | null>;
  readonly filter: ReplayFilter;
  readonly now_ms: number;
  /** Called from time to time with the number of events read so far. */
  readonly progress?: (read: number) => void;
}

/** The result of a replay: the tally and its period. */
export interface ReplayReport {
  readonly tally: ReplayTally;
  /** Milliseconds since 1970, UTC. */
  readonly since_ms: number;
  readonly until_ms: number | null;
}

const PROGRESS_EVENTS = 10_000;

/**
 * Reads the whole journal in batches of lines, and evaluates every matching decision under the next policy.
 *
 * @throws AuditFilterError if the filter is not valid
 */
export async function replayJournal(options: ReplayOptions): Promise<ReplayReport> {
  const { journal_dir, next, filter, now_ms, progress } = options;
  const { since_ms, until_ms, equal, data_tag } = parseFilter({ ...filter }, now_ms);
  const policyOf = memoizePolicies(options.policyOf);
  const { celEvaluator } = await import('../../core/policy/conditions/cel.ts');
  const tally = createTally();
  let read = 0;
  for (const writer of await listWriters(journal_dir)) {
    for await (const { records } of readChain(join(journal_dir, writer), FROM_START)) {
      for (const { record } of records) {
        if (record.kind !== 'event') continue;
        read += 1;
        if (read % PROGRESS_EVENTS === 0) progress?.(read);
        const { event } = record;
        const decidedMs = Date.parse(event.timestamp);
        if (decidedMs < since_ms! || (until_ms !== null && decidedMs > until_ms)) continue;
        if (!matchesQuery(event, equal, data_tag)) continue;
        const replayed = replayDecision(
          event,
          decidedMs,
          await policyOf(event.policy_hash),
          next,
          celEvaluator,
        );
        if (replayed !== null) addDecision(tally, event, replayed);
      }
    }
  }
  return { tally, since_ms: since_ms!, until_ms };
}

type Equal = ReturnType<typeof parseFilter>['equal'];

function matchesQuery(event: AuditEvent, equal: Equal, dataTag: string | null): boolean {
  return (
    Object.entries(equal).every(([field, value]) => event[field as keyof AuditEvent] === value) &&
    (dataTag === null || event.data_tags.some((tag) => covers(dataTag, tag)))
  );
}

/**
 * Caches the policy of each hash. A journal can name any number of hashes, but only saved ones have a policy.
 */
function memoizePolicies(policyOf: ReplayOptions['policyOf']): ReplayOptions['policyOf'] {
  const known = new Map<string, Policy | null>();
  return async (hash) => {
    const before = known.get(hash);
    if (before !== undefined) return before;
    const policy = await policyOf(hash);
    if (policy !== null || known.size < HASHES_MAX) known.set(hash, policy);
    return policy;
  };
}

const HASHES_MAX = 10_000;
