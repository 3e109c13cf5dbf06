import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayParts } from './gateway-parts.ts';
import { PolicyRefusal } from './policy-refusal.ts';
import { classifyFailure } from './server-failure.ts';
import type { UpstreamServer } from './upstream-server.ts';

/** How long a list of others waits for a slow server. One that failed the last time is not waited for. */
const PATIENCE_MS = 2_000;

/**
 * Asks all servers at once. Those that fail are left out, and those that are slow come later, unless no other has
 * answered; the client is told when they come.
 * @param list - which of the lists of the protocol it is; `null` none
 */
export async function queryServers<T>(
  { servers, logFailure, onLateList }: Pick<GatewayParts, 'servers' | 'logFailure' | 'onLateList'>,
  what: string,
  list: 'tools' | 'resources' | 'prompts' | null,
  ask: (behind: UpstreamServer) => Promise<T>,
): Promise<T[]> {
  const outcomes: (PromiseSettledResult<T> | undefined)[] = servers.map(() => undefined);
  let is_answered = false;
  const work = servers.map(async (behind, at) => {
    const is_failing = behind.upstream.is_failing();
    const outcome = await waitSettled(ask(behind));
    outcomes[at] = outcome;
    if (outcome.status === 'fulfilled' && is_answered && list !== null) onLateList(behind, list);
    const fault = outcome.status === 'rejected' ? findLoggableFault(outcome.reason) : undefined;
    if (fault !== undefined && !is_failing) logFailure(behind.name, `${what} has failed`, fault);
    if (outcome.status === 'rejected') throw outcome.reason;
  });
  const all = Promise.allSettled(work);
  const prompt = work.filter((_, at) => !servers[at]!.upstream.is_failing());
  const done = new AbortController();
  const patience = sleep(PATIENCE_MS, undefined, { signal: done.signal }).catch(() => {});
  await Promise.race([Promise.allSettled(prompt), patience]);
  done.abort();
  if (!outcomes.some((outcome) => outcome?.status === 'fulfilled')) await Promise.any(work).catch(() => all);
  is_answered = true;
  const [first] = outcomes;
  if (first?.status === 'rejected' && outcomes.length === 1) throw first.reason;
  return outcomes.flatMap((outcome) => (outcome?.status === 'fulfilled' ? [outcome.value] : []));
}

async function waitSettled<T>(work: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [outcome] = await Promise.allSettled([work]);
  return outcome;
}

/** What the log is told of; `undefined` for a no of the policy, which is none. */
export function findLoggableFault(error: unknown): unknown {
  return error instanceof PolicyRefusal ? error.cause : classifyFailure(error);
}
