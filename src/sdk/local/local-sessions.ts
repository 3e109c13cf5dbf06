import type { ContractMatch } from '../../core/decision/find-contract.ts';
import { listActingAgents } from '../../core/decision/rules.ts';
import { usesSessionTags } from '../../core/decision/taint.ts';
import { covers } from '../../core/tags.ts';
import type { CrossingContext, Policy, Tag, TaintChange, Verdict } from '../../core/types/index.ts';
import { createLocalValues } from './local-values.ts';

/** Session taint tags, values seen and call counts of this process. They are lost when it ends. */
export interface LocalSessions {
  /** Returns the crossing with the tags of its session and the number of recent calls, as far as rules need them. */
  readonly load: <Given extends CrossingContext>(crossing: Given, contract: ContractMatch) => Given;
  /** Keeps what a crossing that was not blocked changes. Returns `false` if a limit does not let it. */
  readonly save: (
    crossing: CrossingContext,
    verdict: Verdict,
    contract: ContractMatch,
    eventId: string,
  ) => boolean;
}

const MINUTE_MS = 60_000;
const SESSION_TAGS_MAX = 1_000;
/** Sessions that are kept. Beyond it nothing more is decided that needs a session, because forgetting would allow. */
const SESSIONS_MAX = 100_000;
const UNNAMED = 'unknown';

/** Creates one guard's session state. `createKey` returns a random text. */
export function createLocalSessions(policy: Policy, createKey: () => string): LocalSessions {
  const values = createLocalValues(policy, createKey);
  const sessions = new Map<string, Map<string, readonly Tag[]>>();
  const calls = new Map<string, number[]>();
  return {
    load: (crossing, contract) => {
      const limit = findCallsLimit(crossing, contract);
      return {
        ...values.load(crossing),
        ...(usesSessionTags(policy, crossing.tenant_id) && { session_tags: readTags(sessions, crossing) }),
        ...(limit !== null && { calls_last_minute: 1 + countRecent(calls, crossing, limit.tool) }),
      };
    },
    save: (crossing, verdict, contract, eventId) => {
      if (verdict.decision === 'block') return true;
      values.save(crossing, verdict, eventId);
      const limit = findCallsLimit(crossing, contract);
      if (limit !== null) addCall(calls, crossing, limit.tool);
      return verdict.taint_change === null || saveTags(sessions, crossing, verdict.taint_change);
    },
  };
}

/** Returns the tool of a contract that limits calls per minute; `null` if none does. */
function findCallsLimit(
  { phase }: CrossingContext,
  contract: ContractMatch,
): { readonly tool: string } | null {
  if (phase !== 'request') return null;
  if (contract === null || contract === 'undeclared' || contract.max_calls_per_minute === null) return null;
  return { tool: contract.tool_name };
}

function readTags(
  sessions: Map<string, Map<string, readonly Tag[]>>,
  crossing: CrossingContext,
): readonly Tag[] {
  const found = sessions.get(buildSessionKey(crossing));
  if (found === undefined) return [];
  const actors = listActingAgents(crossing);
  const isEveryone = crossing.session_id !== null && actors.includes(UNNAMED);
  const owners = crossing.session_id === null ? actors : [...actors, UNNAMED];
  const tags = [...found]
    .filter(([agent]) => isEveryone || owners.includes(agent))
    .flatMap(([, each]) => each);
  return [...new Set(tags)].sort();
}

function saveTags(
  sessions: Map<string, Map<string, readonly Tag[]>>,
  crossing: CrossingContext,
  { add, remove }: TaintChange,
): boolean {
  const key = buildSessionKey(crossing);
  const agents = sessions.get(key) ?? new Map<string, readonly Tag[]>();
  if (!sessions.has(key) && sessions.size >= SESSIONS_MAX) return false;
  const { phase, destination_agent_id } = crossing;
  const isMessage = phase === 'message' && destination_agent_id !== null;
  for (const agent of isMessage ? [destination_agent_id] : listActingAgents(crossing)) {
    const known = agents.get(agent) ?? [];
    const left =
      remove === 'all' ? [] : known.filter((tag) => !remove.some((ancestor) => covers(ancestor, tag)));
    const tags = [...new Set([...left, ...add])];
    if (tags.length > SESSION_TAGS_MAX) return false;
    agents.set(agent, tags);
  }
  sessions.set(key, agents);
  return true;
}

function buildSessionKey({ tenant_id, session_id }: CrossingContext): string {
  return JSON.stringify([tenant_id, session_id]);
}

function countRecent(calls: Map<string, number[]>, crossing: CrossingContext, tool: string): number {
  const counts = callKeys(crossing, tool).map(
    (key) => listRecentTimes(calls.get(key), crossing.now_ms).length,
  );
  return Math.max(0, ...counts);
}

function addCall(calls: Map<string, number[]>, crossing: CrossingContext, tool: string): void {
  for (const key of callKeys(crossing, tool))
    calls.set(key, [...listRecentTimes(calls.get(key), crossing.now_ms), crossing.now_ms]);
}

function callKeys(crossing: CrossingContext, tool: string): readonly string[] {
  return listActingAgents(crossing).map((agent) => JSON.stringify([crossing.tenant_id, agent, tool]));
}

/** A call from the future is from a clock that was set back since; it does not count for ever. */
function listRecentTimes(times: readonly number[] | undefined, nowMs: number): number[] {
  return (times ?? []).filter((atMs) => Math.abs(nowMs - atMs) < MINUTE_MS);
}
