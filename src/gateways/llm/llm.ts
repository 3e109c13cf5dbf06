import { isUtf8 } from 'node:buffer';
import { parseJsonTree } from '../../core/json/json-tree.ts';
import { applySplices } from '../../core/json/splice.ts';
import type { JsonParseError } from '../../core/types/json.ts';
import type { Budgets, OverBudget, Reservation } from '../../features/costs/types.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import type { CallCounts } from '../../runtime/observability/call-counts.ts';
import type { CallSpan, CallStart, Telemetry } from '../../runtime/observability/telemetry/types.ts';
import type { UpstreamAnswer, Upstreams } from '../upstream/types.ts';
import { type Account, openAccount } from './account.ts';
import { answerCall } from './answer-call.ts';
import type { Llm, LlmCall, LlmReply, ReadCall, Road, RoadSettings } from './call.ts';
import { isPlainWord } from './clean-words.ts';
import { estimatedUsage, inputTokensAtMost, sizeOf } from './estimate.ts';
import { errorOfFailure, invalid, retryHeaders } from './faults.ts';
import { type GuardedRequest, guardRequest } from './guard-request.ts';
import { openKnownResults } from './known-results.ts';
import { answerModels } from './list-models.ts';
import { decisionHeaders, denialReply, errorReply, rulingHeaders } from './reply.ts';
import { isStream, stepsWithin } from './stream/steps-within.ts';
import { written } from './texts.ts';

export interface LlmParts {
  readonly ports: () => EnforcementPorts;
  readonly capabilities: Runtime['capabilities'];
  readonly upstreams: Upstreams;
  readonly budgets: Budgets;
  readonly settings: RoadSettings & { readonly cache_entries_max: number };
  /** `null` where it is off. */
  readonly telemetry: Telemetry | null;
  /** `null` where no metrics are kept. */
  readonly calls: CallCounts | null;
  /** Told why what was spent could not be settled. Must not throw. */
  readonly unsettled: (fault: unknown) => void;
}

/** Opens the road of calls. */
export function openLlm(parts: LlmParts): Llm {
  const known_results = openKnownResults(parts.settings.cache_entries_max);
  const settling = new Set<Promise<unknown>>();
  const keep = (work: Promise<unknown>): void => {
    const kept: Promise<unknown> = work.catch(parts.unsettled).finally(() => settling.delete(kept));
    settling.add(kept);
  };
  const { capabilities, settings } = parts;
  return {
    call: (call) =>
      take({ call, ports: parts.ports(), capabilities, known_results, settings }, { ...parts, keep }),
    models: (asked) =>
      answerModels(asked, {
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

/** What a call is sent with; `keep` sees work through that goes on behind it. */
interface Sending extends LlmParts {
  readonly keep: (work: Promise<unknown>) => void;
}

async function take(road: Road, parts: Sending): Promise<LlmReply> {
  const { call } = road;
  const read = readCall(road);
  if (typeof read === 'string') return errorReply(call.format, invalid(read, call.request_id));
  const span = parts.telemetry?.startCall(askedOf(road, read)) ?? null;
  if (span === null) return guardAndGoOn(road, read, null, parts);
  const reply = await span.within(() => guardAndGoOn(road, read, span, parts));
  return { ...reply, body: isStream(reply.body) ? stepsWithin(reply.body, span.within) : reply.body };
}

async function guardAndGoOn(
  road: Road,
  read: ReadCall,
  span: CallSpan | null,
  parts: Sending,
): Promise<LlmReply> {
  const guarded = await guardRequest(road, read.request);
  span?.asks(guarded.shown_model);
  if (guarded.is_blocked) {
    const { denied } = await guarded.written;
    if (denied !== null) {
      span?.end({ ...NOTHING_SAID, error: 'policy_violation' });
      return denialReply(road.call, denied);
    }
  }
  return goOn(road, read, guarded, span, parts);
}

/** What the body names as its model was not looked at yet, and is told later. */
function askedOf({ call }: Road, { request }: ReadCall): CallStart {
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

/** Sends what was judged, where a budget lets it go. */
async function goOn(
  road: Road,
  read: ReadCall,
  guarded: GuardedRequest,
  span: CallSpan | null,
  { budgets, upstreams, calls, keep }: Sending,
): Promise<LlmReply> {
  let reserved: Reservation | OverBudget;
  try {
    reserved = await reserve(read, guarded, road, budgets);
  } catch (fault) {
    span?.end({ ...NOTHING_SAID, error: 'budget_unknown' });
    throw fault;
  }
  if ('over' in reserved) {
    span?.end({ ...NOTHING_SAID, error: 'over_budget' });
    return overBudget(reserved, guarded, road);
  }
  const account = openAccount({
    reservation: reserved,
    model: guarded.model,
    isPlain: (word) => isPlainWord(word, road.ports.policy),
    span,
    calls,
    keep,
  });
  try {
    return await sendAndAnswer(road, read, guarded, { account, span, upstreams });
  } catch (fault) {
    account.end('internal_error', null);
    throw fault;
  }
}

const NOTHING_SAID = { id: null, model: null, finish_reasons: [], usage: null, micro_usd: null };

/** Reads a body; gives a sentence where nobody can say what it asks for, for then it is not sent. */
function readCall({ call, ports }: Road): ReadCall | string {
  if (!isUtf8(call.body)) return 'The body is not valid UTF-8.';
  const text = Buffer.from(call.body.buffer, call.body.byteOffset, call.body.byteLength).toString('utf8');
  const node = parseJsonTree(text, ports.policy.limits);
  if (node.kind === 'problem') return PROBLEMS[node.reason];
  const request = call.format.readRequest(node);
  if (request.problem !== null) return request.problem;
  return { text, request, size: sizeOf(text, call.body, request) };
}

const PROBLEMS: Readonly<Record<JsonParseError['reason'], string>> = {
  malformed: 'The body is not valid JSON.',
  depth_max: 'The body is nested deeper than scan.depth_max.',
  nodes_max: 'The body has more parts than scan.nodes_max.',
};

const FREE: Reservation = { settle: async () => ({ micro_usd: 0, is_assumed: false }) };

async function reserve(
  { request, size }: ReadCall,
  { model }: GuardedRequest,
  { call, ports }: Road,
  budgets: Budgets,
): Promise<Reservation | OverBudget> {
  if (call.format.name === 'anthropic.count_tokens') return FREE;
  const { tenant_id, agent_id, session_id } = call.acting;
  const { max_output_tokens, choices } = request;
  return budgets.reserve({
    tenant_id,
    agent_id,
    session_id,
    user_id: call.user_id,
    model,
    input_tokens: inputTokensAtMost(size),
    max_output_tokens: max_output_tokens === null ? null : max_output_tokens * Math.max(1, choices),
    choices,
    keeps_an_hour: size.keeps_an_hour,
    now_ms: ports.now_ms(),
    caller_id: call.caller.id,
  });
}

/** A client that tried again would be refused again. */
async function overBudget(
  { reason, resets_at_ms, budget, event_id }: OverBudget,
  guarded: GuardedRequest,
  { call, ports }: Road,
): Promise<LlmReply> {
  const { denied, input } = await guarded.written;
  if (denied !== null) return denialReply(call, denied);
  const { request_id } = call;
  const extra = { decision: 'block', budget, event_id };
  const error = { status: 429, code: 'insufficient_quota', message: reason, request_id, extra };
  const wait_s =
    resets_at_ms === null ? null : Math.max(1, Math.ceil((resets_at_ms - ports.now_ms()) / 1_000));
  return errorReply(call.format, error, [
    // The last word on the call is the budget's.
    ...decisionHeaders('block', event_id ?? input.event_id),
    'x-should-retry',
    'false',
    ...(wait_s === null ? [] : ['retry-after', `${wait_s}`]),
  ]);
}

interface Ways {
  readonly account: Account;
  readonly span: CallSpan | null;
  readonly upstreams: Upstreams;
}

/** The events of the request are written while the provider is waited for; nothing goes back before they are. */
async function sendAndAnswer(
  road: Road,
  read: ReadCall,
  guarded: GuardedRequest,
  ways: Ways,
): Promise<LlmReply> {
  const { call } = road;
  const { account } = ways;
  const stop = stoppable(call.signal);
  const sent = send(road, read, guarded, ways, stop.signal);
  // It is looked at behind the events; until then nobody is to call it unhandled.
  sent.catch(() => {});
  const { denied, input } = await guarded.written;
  const worked = { estimate: estimatedUsage(read.size, 0), is_whole: false };
  if (denied !== null) {
    stop.abort(NOT_WANTED);
    account.end('internal_error', worked);
    return denialReply(call, denied);
  }
  let answer: UpstreamAnswer;
  try {
    answer = await sent;
  } catch (fault) {
    const error = errorOfFailure(fault, call.request_id);
    // A provider that had the request may have worked for it.
    account.end(error.code, error.code === 'aborted' ? worked : null);
    return errorReply(call.format, error, [...rulingHeaders(input), ...retryHeaders(fault)]);
  }
  return answerCall(road, { read, guarded, input, account }, answer);
}

/** Stops with the client, or by itself: one signal, for putting two together is dearer than all else of them. */
function stoppable(signal: AbortSignal): AbortController {
  const stop = new AbortController();
  const follow = (): void => stop.abort(NOT_WANTED);
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow, { once: true });
  return stop;
}

/** Made once: without a reason each signal makes an exception with its stack. */
const NOT_WANTED = new Error('the caller no longer waits for the answer');

function send(
  { call, settings }: Road,
  read: ReadCall,
  guarded: GuardedRequest,
  { span, upstreams }: Ways,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  return (call.send ?? upstreams.send)({
    wire: call.format.name,
    method: 'POST',
    path: call.path,
    headers: span === null ? call.headers : span.headersFor(call.headers),
    model: guarded.model,
    bodyFor: bodyOf(call, read, guarded, settings.asks_usage !== false),
    affinity: call.acting.session_id,
    signal,
  });
}

/** The body as it is sent: what the policy changes, what has to be mended, and the model that is asked for there. */
function bodyOf(
  call: LlmCall,
  { text, request }: ReadCall,
  { splices }: GuardedRequest,
  asks_usage: boolean,
): (model: string | null) => Uint8Array {
  const is_stream = call.in_path?.is_stream ?? request.is_stream;
  const usage = is_stream && asks_usage && request.usage_splice !== null ? [request.usage_splice] : [];
  const { model: node } = request;
  // A change that concerns several texts at once stands there for each of them.
  const all = [...new Set([...splices, ...request.repairs, ...usage])];
  return (model) => {
    const is_renamed = node !== null && model !== null && model !== node.value;
    const edits = is_renamed
      ? [...all.filter(({ start }) => start !== node.start), written(node, model)]
      : all;
    return edits.length === 0 ? call.body : Buffer.from(applySplices(text, edits), 'utf8');
  };
}
