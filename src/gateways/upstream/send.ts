import { attemptCall, bufferAnswer } from './attempt.ts';
import type { BreakerPermit, CircuitBreaker } from './circuit-breaker.ts';
import type { UpstreamConnections } from './connections.ts';
import type { Cooldowns } from './cooldowns.ts';
import type { UpstreamHttpAnswer } from './exchange.ts';
import { addFailureContext, UpstreamFailure } from './failure.ts';
import { filterAnswerHeaders, findHeader } from './headers.ts';
import { type LatencyTracker, orderTargets } from './order.ts';
import type { UpstreamPorts } from './ports.ts';
import {
  computeRetryDelay,
  isKeyLimit,
  isKeyRefusal,
  isOutage,
  isRetryable,
  parseRetryAfter,
  type TryOutcome,
} from './retry.ts';
import type { RoutingTable, UpstreamTarget } from './routing-table.ts';
import type { ProxySettings } from './settings.ts';
import type { UpstreamAnswer, UpstreamRequest } from './types.ts';

/** The state that calls share. */
export interface SendParts {
  readonly settings: ProxySettings;
  readonly routing: RoutingTable;
  readonly breaker: CircuitBreaker;
  readonly cooldowns: Cooldowns;
  readonly latencies: LatencyTracker;
  readonly connections: UpstreamConnections;
  readonly ports: UpstreamPorts;
}

/** The state of one call. */
interface CallState {
  readonly request: UpstreamRequest;
  /** In the order of attempts. */
  readonly targets: readonly UpstreamTarget[];
  readonly tries_max: number;
  readonly ends_ms: number;
  /** True if no other provider can serve the call. */
  readonly has_one_provider: boolean;
  /** The providers that already failed this call. The circuit breaker counts one failure per provider and call. */
  readonly failed: Set<string>;
  attempts: number;
}

/** The result of an attempt: an answer, or the failure. */
interface TryResult {
  readonly target: UpstreamTarget;
  readonly permit: BreakerPermit;
  readonly answer: UpstreamHttpAnswer | UpstreamFailure;
}

/**
 * Tries the targets until one answers: each of them once, then again after a delay. By default, targets of
 * a single provider are tried once, because clients retry too. An error status is the answer if no further attempt is allowed, no time is left, or a
 * retry would not help. Rejects with an `UpstreamFailure`.
 */
export async function sendUpstream(request: UpstreamRequest, parts: SendParts): Promise<UpstreamAnswer> {
  const { ports, settings } = parts;
  const call = beginCall(request, parts);
  let last: TryResult | null = null;
  for (let round = 0; ; round += 1) {
    const attemptsBefore = call.attempts;
    for (const [at, target] of call.targets.entries()) {
      const permit = parts.breaker.acquire(target.provider.name, call.has_one_provider);
      if (permit === null) continue;
      // Frees the previous attempt's connection before the next attempt.
      if (last !== null) await bufferResult(last, ports);
      last = await tryOnce(target, permit, call, parts);
      const isOver = call.attempts >= call.tries_max || ports.now_ms() >= call.ends_ms;
      const mayRetry =
        isRetryable(readOutcome(last), target.provider.family) ||
        hasUntriedKey(last, call.targets.slice(at + 1));
      if (isOver || !mayRetry) return buildAnswer(last, call, parts);
    }
    if (last === null) throw buildCircuitOpenFailure(call, parts);
    if (call.attempts === attemptsBefore) return buildAnswer(last, call, parts);
    const waitMs = computeRetryDelay(round, readOutcome(last), settings.retry.backoff_factor, ports.random);
    if (waitMs === null || ports.now_ms() + waitMs >= call.ends_ms) return buildAnswer(last, call, parts);
    last = await bufferResult(last, ports);
    await ports.sleep(waitMs, request.signal);
    if (request.signal.aborted) throw buildAbortedFailure(call);
  }
}

/** The attempts if no number is configured and several providers can serve the call. */
const ATTEMPTS_MAX = 3;

function beginCall(
  request: UpstreamRequest,
  { routing, settings, cooldowns, latencies, ports }: SendParts,
): CallState {
  const ordering = { strategy: settings.strategy, affinity: request.affinity, speeds: latencies, ports };
  const ordered = routing.findTargetGroups(request).flatMap((group) => orderTargets(group, ordering));
  const targets = [
    ...ordered.filter((target) => !cooldowns.isActive(target)),
    ...ordered.filter((target) => cooldowns.isActive(target)),
  ];
  const hasOneProvider = new Set(targets.map(({ provider }) => provider.name)).size === 1;
  const attemptsMax = settings.retry.max_attempts ?? (hasOneProvider ? 1 : ATTEMPTS_MAX);
  return {
    request,
    targets,
    has_one_provider: hasOneProvider,
    failed: new Set(),
    tries_max: request.provider === undefined ? Math.max(attemptsMax, targets.length) : targets.length,
    ends_ms: ports.now_ms() + settings.timeout_seconds * 1_000,
    attempts: 0,
  };
}

async function tryOnce(
  target: UpstreamTarget,
  permit: BreakerPermit,
  call: CallState,
  parts: SendParts,
): Promise<TryResult> {
  const { ports, settings } = parts;
  const { first_byte_ms = Number.POSITIVE_INFINITY, idle_ms } = settings.timeouts;
  const beganMs = ports.now_ms();
  const timeouts = { first_byte_ms: Math.max(1, Math.min(first_byte_ms, call.ends_ms - beganMs)), idle_ms };
  call.attempts += 1;
  const answer = await attemptCall(call.request, target, timeouts, parts).catch((fault: unknown) => {
    if (!(fault instanceof UpstreamFailure)) permit.abandoned();
    return requireFailure(fault);
  });
  const durationMs = ports.now_ms() - beganMs;
  const tried = { target, permit, answer };
  recordOutcome(tried, durationMs, call, parts);
  ports.onTry?.({
    provider: target.provider.name,
    model: target.model,
    status: answer instanceof UpstreamFailure ? null : answer.status,
    failure: answer instanceof UpstreamFailure ? answer.code : null,
    duration_ms: durationMs,
    attempt: call.attempts,
  });
  return tried;
}

/** The cooldown of a rate-limited key if the provider names no delay. */
const KEY_LIMIT_COOLDOWN_MS = 1_000;
/** The cooldown of a key that the provider rejects. */
const KEY_REFUSED_COOLDOWN_MS = 60_000;

/** Returns whether a configured key was rejected and another key of the same provider is still untried. */
function hasUntriedKey({ target, answer }: TryResult, next: readonly UpstreamTarget[]): boolean {
  if (target.key === null || !isKeyRefusal(readOutcome({ answer }))) return false;
  return next.some(({ provider, key }) => provider.name === target.provider.name && key !== target.key);
}

/** Records the outcome for later calls: in the circuit breaker, the cooldowns and the latencies. */
function recordOutcome(
  { target, permit, answer }: TryResult,
  durationMs: number,
  { failed }: CallState,
  { cooldowns, latencies }: SendParts,
): void {
  const outcome = readOutcome({ answer });
  const { name } = target.provider;
  if (isOutage(outcome) && !failed.has(name)) {
    failed.add(name);
    permit.failed();
  } else if (isOutage(outcome)) permit.abandoned();
  else if ('failure' in outcome) permit.abandoned();
  else permit.succeeded();
  if ('failure' in outcome) return;
  if (target.key !== null && isKeyRefusal(outcome)) cooldowns.start(target, KEY_REFUSED_COOLDOWN_MS);
  if (isKeyLimit(outcome)) cooldowns.start(target, parseRetryAfter(outcome.headers) ?? KEY_LIMIT_COOLDOWN_MS);
  if (outcome.status < 400) latencies.record(target, durationMs);
}

function readOutcome({ answer }: Pick<TryResult, 'answer'>): TryOutcome {
  return answer instanceof UpstreamFailure ? { failure: answer.code } : answer;
}

/** @throws the fault itself if it is internal */
function requireFailure(fault: unknown): UpstreamFailure {
  if (fault instanceof UpstreamFailure) return fault;
  throw fault;
}

async function bufferResult(tried: TryResult, { alarm }: UpstreamPorts): Promise<TryResult> {
  return tried.answer instanceof UpstreamFailure
    ? tried
    : { ...tried, answer: await bufferAnswer(tried.answer, alarm) };
}

/** Builds the answer for the caller. Throws if the result is a failure. */
function buildAnswer(
  { target, permit, answer }: TryResult,
  call: CallState,
  { ports }: SendParts,
): UpstreamAnswer {
  const context = { provider: target.provider.name, attempts: call.attempts };
  if (answer instanceof UpstreamFailure) throw addFailureContext(answer, context);
  const { status, headers } = answer;
  // A stream has no time limit except `idle_ms`.
  const isStream = /^\s*text\/event-stream\b/i.test(findHeader(headers, 'content-type') ?? '');
  const cooldownMs = Math.max(1, call.ends_ms - ports.now_ms());
  const quiet = isStream ? () => {} : ports.alarm(cooldownMs, () => answer.cut(buildTimeoutFailure()));
  const body = watchBody(answer.body, {
    ended: quiet,
    failed: (failure) => {
      quiet();
      if (isOutage({ failure: failure.code })) permit.failed();
      return addFailureContext(failure, context);
    },
  });
  return { status, headers: filterAnswerHeaders(headers), body, model: target.model, ...context };
}

interface BodyWatcher {
  readonly ended: () => void;
  /** Returns the failure to throw. */
  readonly failed: (failure: UpstreamFailure) => UpstreamFailure;
}

function watchBody(
  body: AsyncIterable<Uint8Array>,
  { ended, failed }: BodyWatcher,
): AsyncIterable<Uint8Array> {
  const reported = (fault: unknown): never => {
    throw failed(requireFailure(fault));
  };
  return {
    [Symbol.asyncIterator]: () => {
      const reading = body[Symbol.asyncIterator]();
      return {
        next: () =>
          reading.next().then((result) => {
            if (result.done === true) ended();
            return result;
          }, reported),
        return: async () => {
          ended();
          await reading.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function buildTimeoutFailure(): UpstreamFailure {
  const message = 'The provider’s answer was not whole within `proxy.timeout_seconds`.';
  return new UpstreamFailure('upstream_timeout', message);
}

function buildAbortedFailure({ attempts }: CallState): UpstreamFailure {
  return new UpstreamFailure('aborted', 'The caller no longer waits for the answer.', { attempts });
}

function buildCircuitOpenFailure({ targets }: CallState, { breaker }: SendParts): UpstreamFailure {
  const provider = targets[0]?.provider.name ?? null;
  const waitsMs = targets.map((target) => breaker.waitFor(target.provider.name));
  const retryAfterMs = Math.max(1_000, Math.min(...waitsMs));
  const message =
    'All providers of this model failed lately and are left alone for a while (`proxy.circuit_breaker`); try again soon.';
  return new UpstreamFailure('upstream_circuit_open', message, { provider, retry_after_ms: retryAfterMs });
}
