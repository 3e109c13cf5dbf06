import type { GatewayParts } from './gateway-parts.ts';
import { PolicyRefusal } from './policy-refusal.ts';
import { classifyFailure } from './server-failure.ts';
import type { UpstreamServer } from './upstream-server.ts';

/**
 * The time that a list waits for a slow server, in milliseconds. It does not wait for a server that failed last time.
 */
const PATIENCE_MS = 2_000;
/** The time that the first list waits for a server, which may have to start. Some clients never ask for another list. */
const FIRST_PATIENCE_MS = 10_000;

/** The servers for which a list has waited. */
const awaited = new WeakSet<UpstreamServer>();

/** Answers from some servers. */
export interface ServerAnswers<T> {
  readonly answers: readonly T[];
  /** Names the servers that have neither answered nor failed yet. */
  readonly slow: readonly string[];
}

/**
 * Queries all servers in parallel. Failed servers are omitted. Slow servers are omitted too, unless no other has
 * answered; the client is notified when their lists arrive.
 * @param list - the protocol list that is queried; `null` if it is none
 */
export async function queryServers<T>(
  { servers, logFailure, onListFailure }: Pick<GatewayParts, 'servers' | 'logFailure' | 'onListFailure'>,
  what: string,
  list: 'tools' | 'resources' | 'prompts' | null,
  query: (target: UpstreamServer) => Promise<T>,
): Promise<ServerAnswers<T>> {
  const outcomes: (PromiseSettledResult<T> | undefined)[] = servers.map(() => undefined);
  let isAnswered = false;
  const work = servers.map(async (target, at) => {
    const isFailing = target.upstream.is_failing();
    const outcome = await waitSettled(query(target));
    outcomes[at] = outcome;
    if (outcome.status === 'fulfilled' && isAnswered && list !== null) onListFailure(target, list);
    const fault = outcome.status === 'rejected' ? findLoggableFault(outcome.reason) : undefined;
    if (fault !== undefined && !isFailing) logFailure(target.name, `${what} has failed`, fault);
    if (outcome.status === 'rejected') throw outcome.reason;
  });
  const all = Promise.allSettled(work);
  const waits = servers.map((target, at) => {
    const isFirst = list !== null && !awaited.has(target);
    if (list !== null) awaited.add(target);
    if (target.upstream.is_failing()) return null;
    return waitFor(work[at]!, isFirst ? FIRST_PATIENCE_MS : PATIENCE_MS);
  });
  await Promise.all(waits);
  if (!outcomes.some((outcome) => outcome?.status === 'fulfilled')) await Promise.any(work).catch(() => all);
  isAnswered = true;
  const [first] = outcomes;
  if (first?.status === 'rejected' && outcomes.length === 1) throw first.reason;
  return {
    answers: outcomes.flatMap((outcome) => (outcome?.status === 'fulfilled' ? [outcome.value] : [])),
    slow: servers.flatMap(({ name }, at) => (outcomes[at] === undefined ? [name] : [])),
  };
}

async function waitFor(work: Promise<unknown>, patienceMs: number): Promise<void> {
  const { promise: patience, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, patienceMs);
  await Promise.race([Promise.allSettled([work]), patience]);
  clearTimeout(timer);
}

async function waitSettled<T>(work: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [outcome] = await Promise.allSettled([work]);
  return outcome;
}

/** Returns the fault to log; `undefined` for a policy refusal without a fault. */
export function findLoggableFault(error: unknown): unknown {
  return error instanceof PolicyRefusal ? error.cause : classifyFailure(error);
}
