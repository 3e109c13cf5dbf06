import type { ContractMatch } from '../../../core/decision/contracts.ts';
import { usesSessionTags } from '../../../core/decision/taint.ts';
import { usesValues } from '../../../core/flow/uses-values.ts';
import type { Crossing, Policy, Verdict } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';
import { type CallLimits, countCall, readRecentCalls } from './calls.ts';
import { readSession, SessionFull, type SessionState, saveSession } from './sessions.ts';
import type { SessionPorts } from './types.ts';
import { loadSessionValues, type ValuesContext } from './values.ts';

/** A decision on a crossing with its session's state. */
interface SessionDecision {
  readonly crossing: Crossing;
  readonly verdict: Verdict;
}

/** The session state that a decision depends on. */
export interface SessionNeeds {
  /** True if a rule of the tenant depends on taint tags. */
  readonly uses_tags: boolean;
  /** True if a contract of the tenant depends on where values come from. */
  readonly uses_values: boolean;
  /** The tool's call limit; `null` if it has none. */
  readonly limit: CallsLimit | null;
}

/** Returns the session state that the decision depends on; `null` if there is none, and then the store is not used. */
export function findSessionNeeds(
  crossing: Crossing,
  policy: Policy,
  contract: ContractMatch,
): SessionNeeds | null {
  const usesTags = usesSessionTags(policy, crossing.tenant_id);
  const usesSeen = usesValues(policy, crossing.tenant_id);
  const limit = getCallsLimit(crossing, contract);
  if (!usesTags && !usesSeen && limit === null) return null;
  return { uses_tags: usesTags, uses_values: usesSeen, limit };
}

/** The call limits of a tool, and the name under which its calls are counted. */
interface CallsLimit {
  readonly limits: CallLimits;
  /** The name in the contract, so that calls by other spellings count with it. */
  readonly tool: string;
}

function getCallsLimit({ phase }: Crossing, contract: ContractMatch): CallsLimit | null {
  if (phase !== 'request') return null;
  if (contract === null || contract === 'undeclared') return null;
  const { tool_name, max_calls_per_minute, max_calls_per_minute_per_user } = contract;
  if (max_calls_per_minute === null && max_calls_per_minute_per_user === undefined) return null;
  const limits = {
    ...(max_calls_per_minute !== null && { per_agent: max_calls_per_minute }),
    ...(max_calls_per_minute_per_user !== undefined && { per_user: max_calls_per_minute_per_user }),
  };
  return { limits, tool: tool_name };
}

/**
 * Loads the session's taint tags, the values that it has seen and the tool's call count, decides, and makes the changes
 * durable. If the count cannot be taken because another call used the last place, it decides again.
 *
 * @throws SessionFull, StoreFailure: the caller must block then
 */
export async function decideInSession<Decision extends SessionDecision>(
  given: Crossing,
  { uses_tags, uses_values, limit }: SessionNeeds,
  { store: open, limits, timeOf, values: index }: SessionPorts,
  context: ValuesContext,
  decide: (crossing: Crossing) => Promise<Decision>,
): Promise<Decision> {
  const store = await open();
  const nowMs = timeOf(given.now_ms);
  const atTime = { ...given, now_ms: nowMs };
  const session = uses_tags ? await readSession(store, atTime, limits) : NO_SESSION;
  if (uses_values && index === undefined) throw new Error('No index of values is configured.');
  const values =
    uses_values && index !== undefined
      ? await loadSessionValues(store, atTime, context, index, limits)
      : null;
  const crossing: Crossing = {
    ...(values === null ? given : values.addTo(given)),
    ...(uses_tags && { session_tags: session.tags }),
    ...(limit !== null && (await readRecentCalls(store, { ...given, tool: limit.tool }, limit.limits))),
  };
  const first = await decide(crossing);
  if (first.verdict.decision === 'block') return first;
  const decided = limit === null ? first : await applyCallLimit(store, first, limit, decide);
  const { decision, taint_change } = decided.verdict;
  if (decision === 'block') return decided;
  if (taint_change !== null) await saveSession(store, atTime, session, taint_change, limits);
  await values?.save(given, decided.verdict);
  return decided;
}

const NO_SESSION: SessionState = { tags: [], rows: [] };

/** Counts an allowed call. Decides again if another call took the last place meanwhile. */
async function applyCallLimit<Decision extends SessionDecision>(
  store: Store,
  decided: Decision,
  { limits, tool }: CallsLimit,
  decide: (crossing: Crossing) => Promise<Decision>,
): Promise<Decision> {
  const recent = await countCall(store, { ...decided.crossing, tool }, limits);
  const { calls_last_minute = 0, calls_last_minute_for_user = 0 } = recent;
  const isWithin =
    calls_last_minute <= (limits.per_agent ?? Infinity) &&
    calls_last_minute_for_user <= (limits.per_user ?? Infinity);
  return isWithin ? decided : decide({ ...decided.crossing, ...recent });
}

/** Returns the block for a session that cannot be read or saved. It is a fault, unless a limit was reached. */
export function explainSessionFault(fault: unknown): Pick<Verdict, 'rule' | 'reason' | 'fault'> {
  if (fault instanceof SessionFull)
    return { rule: 'limit.session_tags', reason: fault.message, fault: false };
  const reason =
    'The session tags, the values seen or the call count could not be read or stored, so it blocks.';
  return { rule: 'fault.store', reason, fault: true };
}
