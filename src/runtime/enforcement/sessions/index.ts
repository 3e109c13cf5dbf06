import type { ContractMatch } from '../../../core/decision/find-contract.ts';
import { usesSessionTags } from '../../../core/decision/taint.ts';
import { usesValues } from '../../../core/flow/uses-values.ts';
import type { Crossing, Policy, Verdict } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';
import { findTotals, type TotalNeed } from '../totals/find-totals.ts';
import { loadTotals, TOTAL_ATTEMPTS_MAX, TotalsBusy } from '../totals/index.ts';
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
  /** True if a contract in the tenant depends on where values come from. */
  readonly uses_values: boolean;
  /** The tool's call limit; `null` if it has none. */
  readonly limit: CallsLimit | null;
  /** The sums and counts that rules for the tool read. */
  readonly totals: readonly TotalNeed[];
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
  const totals = findTotals(crossing, policy);
  if (!usesTags && !usesSeen && limit === null && totals.length === 0) return null;
  return { uses_tags: usesTags, uses_values: usesSeen, limit, totals };
}

/** A tool's call limits, and the name under which its calls are counted. */
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
 * durable. If the count cannot be taken because another call used the last place, or if another call has changed a
 * total, it decides again.
 *
 * @throws SessionFull, TotalsBusy, StoreFailure: the caller must block then
 */
export async function decideInSession<Decision extends SessionDecision>(
  given: Crossing,
  { uses_tags, uses_values, limit, totals }: SessionNeeds,
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
  const decided = await decideWithTotals(store, crossing, totals, nowMs, (counted, isFirst) =>
    decideWithLimit(store, counted, isFirst ? limit : null, decide),
  );
  const { decision, taint_change } = decided.verdict;
  if (decision === 'block') return decided;
  if (taint_change !== null) await saveSession(store, atTime, session, taint_change, limits);
  await values?.save(given, decided.verdict);
  return decided;
}

/** Decides with a call's totals, and adds the call to them if it is allowed. Decides again if they have changed. */
async function decideWithTotals<Decision extends SessionDecision>(
  store: Store,
  crossing: Crossing,
  needs: readonly TotalNeed[],
  nowMs: number,
  decide: (crossing: Crossing, isFirst: boolean) => Promise<Decision>,
): Promise<Decision> {
  if (needs.length === 0) return decide(crossing, true);
  for (let attempt = 1; attempt <= TOTAL_ATTEMPTS_MAX; attempt += 1) {
    const loaded = await loadTotals(store, { ...crossing, now_ms: nowMs }, needs);
    const decided = await decide({ ...crossing, totals: loaded.stored }, attempt === 1);
    if (decided.verdict.decision === 'block' || (await loaded.commit(decided.verdict))) return decided;
  }
  throw new TotalsBusy();
}

async function decideWithLimit<Decision extends SessionDecision>(
  store: Store,
  crossing: Crossing,
  limit: CallsLimit | null,
  decide: (crossing: Crossing) => Promise<Decision>,
): Promise<Decision> {
  const decided = await decide(crossing);
  return limit === null || decided.verdict.decision === 'block'
    ? decided
    : applyCallLimit(store, decided, limit, decide);
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
  if (fault instanceof TotalsBusy) return { rule: 'limit.totals', reason: fault.message, fault: false };
  const reason =
    'The session tags, the values seen, the call count or a total could not be read or stored, so it blocks.';
  return { rule: 'fault.store', reason, fault: true };
}
