import { attempt, kept } from './attempt.ts';
import type { Breaker, Passage } from './breaker.ts';
import type { Connections } from './connections.ts';
import type { Incoming } from './exchange.ts';
import { inContext, UpstreamFailure } from './failure.ts';
import { answerHeaders, headerOf } from './headers.ts';
import { inOrder, type Speeds } from './order.ts';
import type { Directory, Target } from './plan.ts';
import type { UpstreamPorts } from './ports.ts';
import type { Rests } from './rests.ts';
import {
  isKeyLimit,
  isKeyRefusal,
  isOutage,
  isRetryable,
  type Outcome,
  retryAfterMs,
  waitBefore,
} from './retry.ts';
import type { ProxySettings } from './settings.ts';
import type { UpstreamAnswer, UpstreamRequest } from './types.ts';

/** All that is kept between calls. */
export interface SendParts {
  readonly settings: ProxySettings;
  readonly directory: Directory;
  readonly breaker: Breaker;
  readonly rests: Rests;
  readonly speeds: Speeds;
  readonly connections: Connections;
  readonly ports: UpstreamPorts;
}

/** How one call stands. */
interface Call {
  readonly request: UpstreamRequest;
  /** In the order in which they are tried. */
  readonly targets: readonly Target[];
  readonly tries_max: number;
  readonly ends_ms: number;
  /** There is no other provider for it. */
  readonly has_one_provider: boolean;
  /** Providers that have failed it: further failures of theirs say nothing new. */
  readonly failed: Set<string>;
  attempts: number;
}

/** What a try came to: an answer, or the failure that took its place. */
interface Tried {
  readonly target: Target;
  readonly passage: Passage;
  readonly came: Incoming | UpstreamFailure;
}

/**
 * Asks one target after the other until one answers: first each of them once, then again after a wait. A status by
 * which a provider says no is an answer where no further try is allowed, there is no time for one, or none would
 * help. Rejects with an `UpstreamFailure`.
 */
export async function send(request: UpstreamRequest, parts: SendParts): Promise<UpstreamAnswer> {
  const { ports, settings } = parts;
  const call = begin(request, parts);
  let last: Tried | null = null;
  for (let round = 0; ; round += 1) {
    const attempts_before = call.attempts;
    for (const [at, target] of call.targets.entries()) {
      const passage = parts.breaker.enter(target.provider.name, call.has_one_provider);
      if (passage === null) continue;
      // Another try follows, so that the connection of the one before is to be free.
      if (last !== null) await keep(last, ports);
      last = await tryOnce(target, passage, call, parts);
      const is_over = call.attempts >= call.tries_max || ports.now_ms() >= call.ends_ms;
      const is_retryable =
        isRetryable(outcomeOf(last), target.provider.family) || hasOtherKey(last, call.targets.slice(at + 1));
      if (is_over || !is_retryable) return give(last, call, parts);
    }
    if (last === null) throw resting(call, parts);
    if (call.attempts === attempts_before) return give(last, call, parts);
    const wait_ms = waitBefore(round, outcomeOf(last), settings.retry.backoff_factor, ports.random);
    if (wait_ms === null || ports.now_ms() + wait_ms >= call.ends_ms) return give(last, call, parts);
    last = await keep(last, ports);
    await ports.sleep(wait_ms, request.signal);
    if (request.signal.aborted) throw gone(call);
  }
}

function begin(request: UpstreamRequest, { directory, settings, rests, speeds, ports }: SendParts): Call {
  const ordering = { strategy: settings.strategy, affinity: request.affinity, speeds, ports };
  const ordered = directory.groupsFor(request).flatMap((group) => inOrder(group, ordering));
  const targets = [
    ...ordered.filter((target) => !rests.isOn(target)),
    ...ordered.filter((target) => rests.isOn(target)),
  ];
  return {
    request,
    targets,
    has_one_provider: new Set(targets.map(({ provider }) => provider.name)).size === 1,
    failed: new Set(),
    tries_max:
      request.provider === undefined ? Math.max(settings.retry.max_attempts, targets.length) : targets.length,
    ends_ms: ports.now_ms() + settings.timeout_seconds * 1_000,
    attempts: 0,
  };
}

async function tryOnce(target: Target, passage: Passage, call: Call, parts: SendParts): Promise<Tried> {
  const { ports, settings } = parts;
  const { first_byte_ms = Number.POSITIVE_INFINITY, idle_ms } = settings.timeouts;
  const began_ms = ports.now_ms();
  const patience = { first_byte_ms: Math.max(1, Math.min(first_byte_ms, call.ends_ms - began_ms)), idle_ms };
  call.attempts += 1;
  const came = await attempt(call.request, target, patience, parts).catch((fault: unknown) => {
    if (!(fault instanceof UpstreamFailure)) passage.left();
    return asFailure(fault);
  });
  const duration_ms = ports.now_ms() - began_ms;
  const tried = { target, passage, came };
  learn(tried, duration_ms, call, parts);
  ports.observe?.({
    provider: target.provider.name,
    model: target.model,
    status: came instanceof UpstreamFailure ? null : came.status,
    failure: came instanceof UpstreamFailure ? came.code : null,
    duration_ms,
    attempt: call.attempts,
  });
  return tried;
}

/** How long a key rests that was refused for its limits without a word of how long. */
const REST_MS = 1_000;
/** And how long one that the provider does not know, or no longer. */
const REFUSED_REST_MS = 60_000;

/** Whether a configured key was refused, and another key of the same provider is still to be tried. */
function hasOtherKey({ target, came }: Tried, next: readonly Target[]): boolean {
  if (target.key === null || !isKeyRefusal(outcomeOf({ came }))) return false;
  return next.some(({ provider, key }) => provider.name === target.provider.name && key !== target.key);
}

/** What later calls have of this one. */
function learn(
  { target, passage, came }: Tried,
  duration_ms: number,
  { failed }: Call,
  { rests, speeds }: SendParts,
): void {
  const outcome = outcomeOf({ came });
  const { name } = target.provider;
  if (isOutage(outcome) && !failed.has(name)) {
    failed.add(name);
    passage.failed();
  } else if (isOutage(outcome)) passage.left();
  else if ('failure' in outcome) passage.left();
  else passage.succeeded();
  if ('failure' in outcome) return;
  if (target.key !== null && isKeyRefusal(outcome)) rests.begin(target, REFUSED_REST_MS);
  if (isKeyLimit(outcome)) rests.begin(target, retryAfterMs(outcome.headers) ?? REST_MS);
  if (outcome.status < 400) speeds.note(target, duration_ms);
}

function outcomeOf({ came }: Pick<Tried, 'came'>): Outcome {
  return came instanceof UpstreamFailure ? { failure: came.code } : came;
}

/** @throws what is a fault of ours, as it is */
function asFailure(fault: unknown): UpstreamFailure {
  if (fault instanceof UpstreamFailure) return fault;
  throw fault;
}

async function keep(tried: Tried, { alarm }: UpstreamPorts): Promise<Tried> {
  return tried.came instanceof UpstreamFailure ? tried : { ...tried, came: await kept(tried.came, alarm) };
}

/** The answer as whoever asked gets it, or the failure thrown. */
function give({ target, passage, came }: Tried, call: Call, { ports }: SendParts): UpstreamAnswer {
  const context = { provider: target.provider.name, attempts: call.attempts };
  if (came instanceof UpstreamFailure) throw inContext(came, context);
  const { status, headers } = came;
  // A stream may go on for as long as it says something.
  const is_stream = /^\s*text\/event-stream\b/i.test(headerOf(headers, 'content-type') ?? '');
  const rest_ms = Math.max(1, call.ends_ms - ports.now_ms());
  const quiet = is_stream ? () => {} : ports.alarm(rest_ms, () => came.cut(tooLong()));
  const body = watched(came.body, {
    ended: quiet,
    failed: (failure) => {
      quiet();
      if (isOutage({ failure: failure.code })) passage.failed();
      return inContext(failure, context);
    },
  });
  return { status, headers: answerHeaders(headers), body, model: target.model, ...context };
}

interface Watch {
  readonly ended: () => void;
  /** Gives the failure that is told. */
  readonly failed: (failure: UpstreamFailure) => UpstreamFailure;
}

function watched(body: AsyncIterable<Uint8Array>, { ended, failed }: Watch): AsyncIterable<Uint8Array> {
  const told = (fault: unknown): never => {
    throw failed(asFailure(fault));
  };
  return {
    [Symbol.asyncIterator]: () => {
      const reading = body[Symbol.asyncIterator]();
      return {
        next: () =>
          reading.next().then((result) => {
            if (result.done === true) ended();
            return result;
          }, told),
        return: async () => {
          ended();
          await reading.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function tooLong(): UpstreamFailure {
  const message = 'The provider’s answer was not whole within `proxy.timeout_seconds`.';
  return new UpstreamFailure('upstream_timeout', message);
}

function gone({ attempts }: Call): UpstreamFailure {
  return new UpstreamFailure('aborted', 'The caller no longer waits for the answer.', { attempts });
}

function resting({ targets }: Call, { breaker }: SendParts): UpstreamFailure {
  const provider = targets[0]?.provider.name ?? null;
  const waits_ms = targets.map((target) => breaker.waitFor(target.provider.name));
  const retry_after_ms = Math.max(1_000, Math.min(...waits_ms));
  const message =
    'All providers of this model failed lately and are left alone for a while (`proxy.circuit_breaker`); try again soon.';
  return new UpstreamFailure('upstream_resting', message, { provider, retry_after_ms });
}
