import { isUtf8 } from 'node:buffer';
import { describeDocument, findDecidingDocument } from '../../core/decision/deciding-documents.ts';
import { parseJsonTree } from '../../core/json/json-tree.ts';
import { applySplices } from '../../core/json/splice.ts';
import type { JsonParseError } from '../../core/types/json.ts';
import type { BudgetDenial, Budgets, Reservation } from '../../operations/model-costs.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import type { CallCounts } from '../../runtime/observability/call-counts.ts';
import type { CallSpan, CallStart, Telemetry } from '../../runtime/observability/telemetry/types.ts';
import type { UpstreamAnswer, Upstreams } from '../upstream/types.ts';
import { type CallAccount, openCallAccount } from './call-account.ts';
import { buildFailureError, buildInvalidRequestError, buildRetryHeaders } from './call-errors.ts';
import { estimateMaxInputTokens, estimateUsage, measureRequest } from './estimate.ts';
import { type GuardedRequest, guardRequest } from './guard-request.ts';
import { hasNoFindings } from './identifier-checks.ts';
import { answerModelRequest } from './list-models.ts';
import type { LlmCall, LlmCallContext, LlmProxy, LlmReply, LlmSettings, ParsedCall } from './llm-call.ts';
import { relayAnswer } from './relay-answer.ts';
import { buildDecisionHeaders, buildDenialReply, buildErrorReply, buildRulingHeaders } from './reply.ts';
import { openResultCache } from './result-cache.ts';
import { isStreamBody, runStepsWithin } from './stream/steps-within.ts';
import { buildStringSplice } from './texts.ts';

/** The dependencies of the LLM proxy. */
export interface LlmProxyParts {
  readonly ports: () => EnforcementPorts;
  readonly presentCapability: Runtime['presentCapability'];
  readonly upstreams: Upstreams;
  readonly budgets: Budgets;
  readonly settings: LlmSettings & { readonly cache_entries_max: number };
  /** `null` if telemetry is off. */
  readonly telemetry: Telemetry | null;
  /** `null` if metrics are off. */
  readonly counts: CallCounts | null;
  /** Receives the reason if a settlement fails. Must not throw. */
  readonly onSettleFailure: (fault: unknown) => void;
}

/** Opens the LLM proxy. */
export function openLlmProxy(parts: LlmProxyParts): LlmProxy {
  const resultCache = openResultCache(parts.settings.cache_entries_max);
  const settling = new Set<Promise<unknown>>();
  const keep = (work: Promise<unknown>): void => {
    const kept: Promise<unknown> = work.catch(parts.onSettleFailure).finally(() => settling.delete(kept));
    settling.add(kept);
  };
  const { presentCapability, settings } = parts;
  return {
    call: (call) =>
      handleCall(
        { call, ports: parts.ports(), presentCapability, result_cache: resultCache, settings },
        { ...parts, keep },
      ),
    listModels: (requested) =>
      answerModelRequest(requested, {
        upstreams: parts.upstreams,
        policy: parts.ports().policy,
        bytes_max: settings.response_bytes_max,
      }),
    close: async () => {
      await Promise.all(settling);
      await parts.upstreams.close();
    },
  };
}

/** The dependencies of one call. `keep` tracks work that finishes after the call. */
interface SendContext extends LlmProxyParts {
  readonly keep: (work: Promise<unknown>) => void;
}

async function handleCall(callContext: LlmCallContext, parts: SendContext): Promise<LlmReply> {
  const { call } = callContext;
  const read = parseCall(callContext);
  if (typeof read === 'string')
    return buildErrorReply(call.format, buildInvalidRequestError(read, call.request_id));
  const span = parts.telemetry?.startCall(buildSpanStart(callContext, read)) ?? null;
  if (span === null) return guardAndSend(callContext, read, null, parts);
  const reply = await span.within(() => guardAndSend(callContext, read, span, parts));
  return { ...reply, body: isStreamBody(reply.body) ? runStepsWithin(reply.body, span.within) : reply.body };
}

async function guardAndSend(
  callContext: LlmCallContext,
  read: ParsedCall,
  span: CallSpan | null,
  parts: SendContext,
): Promise<LlmReply> {
  const guarded = await guardRequest(callContext, read.request);
  span?.setModel(guarded.shown_model);
  if (guarded.is_blocked) {
    const denied = await guarded.recorded;
    span?.end({ ...NO_ANSWER, error: 'policy_violation' });
    return buildDenialReply(callContext.call, denied);
  }
  return reserveAndSend(callContext, read, guarded, span, parts);
}

/** Builds the start of a span. The model in the body is not scanned yet, so the span receives it later. */
function buildSpanStart({ call }: LlmCallContext, { request }: ParsedCall): CallStart {
  const { tenant_id, agent_id, session_id } = call.acting;
  return {
    operation: call.format.operation_name,
    family: call.format.family,
    model: null,
    is_stream: call.in_path?.is_stream ?? request.is_stream,
    max_output_tokens: request.max_output_tokens,
    tenant_id,
    agent_id,
    session_id,
  };
}

/** Sends a judged request if the budget allows it. */
async function reserveAndSend(
  callContext: LlmCallContext,
  read: ParsedCall,
  guarded: GuardedRequest,
  span: CallSpan | null,
  { budgets, upstreams, counts, keep }: SendContext,
): Promise<LlmReply> {
  let reserved: Reservation | BudgetDenial;
  try {
    reserved = await reserveBudget(read, guarded, callContext, budgets);
  } catch (fault) {
    span?.end({ ...NO_ANSWER, error: 'budget_unknown' });
    throw fault;
  }
  if ('over' in reserved) {
    span?.end({ ...NO_ANSWER, error: 'over_budget' });
    return replyOverBudget(reserved, guarded, callContext);
  }
  const account = openCallAccount({
    reservation: reserved,
    model: guarded.model,
    hasNoFindings: (word) => hasNoFindings(word, callContext.ports.policy),
    span,
    calls: counts,
    keep,
  });
  try {
    return await sendAndAnswer(callContext, read, guarded, { account, span, upstreams });
  } catch (fault) {
    account.end('internal_error', null);
    throw fault;
  }
}

const NO_ANSWER = { id: null, model: null, finish_reasons: [], usage: null, micro_usd: null };

/** Parses a body. Returns an error message if the request cannot be understood; it is not sent then. */
function parseCall({ call, ports }: LlmCallContext): ParsedCall | string {
  if (!isUtf8(call.body)) return 'The body is not valid UTF-8.';
  const text = Buffer.from(call.body.buffer, call.body.byteOffset, call.body.byteLength).toString('utf8');
  const node = parseJsonTree(text, ports.policy.limits);
  if (node.kind === 'problem') return PROBLEMS[node.reason];
  const request = call.format.readRequest(node);
  if (request.problem !== null) return request.problem;
  return { text, request, size: measureRequest(text, call.body, request) };
}

const PROBLEMS: Readonly<Record<JsonParseError['reason'], string>> = {
  malformed: 'The body is not valid JSON.',
  depth_max: 'The body is nested deeper than scan.depth_max.',
  nodes_max: 'The body has more parts than scan.nodes_max.',
};

const NO_COST = { micro_usd: 0, is_assumed: false };
const FREE_RESERVATION: Reservation = { settle: async () => NO_COST, computeCost: () => NO_COST };

async function reserveBudget(
  { request, size }: ParsedCall,
  { model }: GuardedRequest,
  { call, ports }: LlmCallContext,
  budgets: Budgets,
): Promise<Reservation | BudgetDenial> {
  if (call.format.is_free) return FREE_RESERVATION;
  const { tenant_id, agent_id, source_agent_id, session_id, principal } = call.acting;
  const taskId = principal?.task_id ?? null;
  const userId = principal?.user?.user_id ?? null;
  const task = { tenant_id, agent_id: source_agent_id ?? agent_id, user_id: userId };
  const { max_output_tokens, choices } = request;
  return budgets.reserve({
    tenant_id,
    agent_id,
    session_id,
    // The proved person is charged, so that stating another name evades no budget.
    user_id: userId ?? call.user_id,
    model,
    input_tokens: estimateMaxInputTokens(size),
    max_output_tokens: max_output_tokens === null ? null : max_output_tokens * Math.max(1, choices),
    choices,
    may_cache_1h: size.may_cache_1h,
    now_ms: ports.now_ms(),
    caller_id: call.caller.id,
    ...(taskId !== null && { task: { ...task, task_id: taskId } }),
  });
}

/**
 * Builds the reply for an exceeded budget. Its status is 400, because many agents retry a 429 for minutes and hide the
 * reason.
 */
async function replyOverBudget(
  { reason, resets_at_ms, budget, event_id }: BudgetDenial,
  guarded: GuardedRequest,
  { call, ports }: LlmCallContext,
): Promise<LlmReply> {
  const input = await guarded.recorded;
  if (input.verdict.decision === 'block') return buildDenialReply(call, input);
  const { request_id } = call;
  const extra = {
    decision: 'block',
    budget,
    event_id,
    help: describeDocument(findDecidingDocument('budget')!),
  };
  const error = { status: 400, code: 'budget_exceeded', message: reason, request_id, extra };
  const waitS =
    resets_at_ms === null ? null : Math.max(1, Math.ceil((resets_at_ms - ports.now_ms()) / 1_000));
  return buildErrorReply(call.format, error, [
    // The budget decides last, so its decision is reported.
    ...buildDecisionHeaders('block', event_id ?? input.event_id),
    'x-should-retry',
    'false',
    ...(waitS === null ? [] : ['retry-after', `${waitS}`]),
  ]);
}

interface CallParts {
  readonly account: CallAccount;
  readonly span: CallSpan | null;
  readonly upstreams: Upstreams;
}

/** Sends the request while its events are written. Nothing is returned to the client before the events are durable. */
async function sendAndAnswer(
  callContext: LlmCallContext,
  read: ParsedCall,
  guarded: GuardedRequest,
  ways: CallParts,
): Promise<LlmReply> {
  const { call } = callContext;
  const { account } = ways;
  const stop = openStop(call.signal);
  const sent = sendRequest(callContext, read, guarded, ways, stop.signal);
  // Awaited below, after the events. This handler avoids an unhandled rejection until then.
  sent.catch(() => {});
  const input = await guarded.recorded;
  const worked = { estimate: estimateUsage(read.size, 0), is_whole: false };
  if (input.verdict.decision === 'block') {
    stop.abort(STOPPED);
    account.end('internal_error', worked);
    return buildDenialReply(call, input);
  }
  let answer: UpstreamAnswer;
  try {
    answer = await sent;
  } catch (fault) {
    const error = buildFailureError(fault, call.request_id);
    // A provider that received the request may charge for it.
    account.end(error.code, error.code === 'aborted' ? worked : null);
    return buildErrorReply(call.format, error, [...buildRulingHeaders(input), ...buildRetryHeaders(fault)]);
  }
  return relayAnswer(callContext, { read, guarded, input, account }, answer);
}

/** Aborts with the client or on its own. One controller, because `AbortSignal.any` is slow. */
function openStop(signal: AbortSignal): AbortController {
  const stop = new AbortController();
  const follow = (): void => stop.abort(STOPPED);
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow, { once: true });
  return stop;
}

/** Created once: without a reason, each signal creates an exception with a stack trace. */
const STOPPED = new Error('the caller no longer waits for the answer');

function sendRequest(
  { call, settings }: LlmCallContext,
  read: ParsedCall,
  guarded: GuardedRequest,
  { span, upstreams }: CallParts,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  return (call.send ?? upstreams.send)({
    wire: call.format.name,
    method: 'POST',
    path: call.path,
    headers: span === null ? call.headers : span.headersFor(call.headers),
    model: guarded.model,
    bodyFor: openBodyBuilder(call, read, guarded, settings.asks_usage !== false),
    affinity: call.acting.session_id,
    signal,
  });
}

/**
 * Returns a builder of the sent body: with the policy's changes, the repairs, and the model that the provider
 * expects.
 */
function openBodyBuilder(
  call: LlmCall,
  { text, request }: ParsedCall,
  { splices }: GuardedRequest,
  asksUsage: boolean,
): (model: string | null) => Uint8Array {
  const isStream = call.in_path?.is_stream ?? request.is_stream;
  const usage = isStream && asksUsage && request.usage_splice !== null ? [request.usage_splice] : [];
  const { model: node } = request;
  // A change that concerns several texts appears once per text, so duplicates are dropped.
  const all = [...new Set([...splices, ...request.repairs, ...usage])];
  return (model) => {
    const isRenamed = node !== null && model !== null && model !== node.value;
    const edits = isRenamed
      ? [...all.filter(({ start }) => start !== node.start), buildStringSplice(node, model)]
      : all;
    return edits.length === 0 ? call.body : Buffer.from(applySplices(text, edits), 'utf8');
  };
}
