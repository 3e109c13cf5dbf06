import { isUtf8 } from 'node:buffer';
import { parseJsonTree } from '../../core/json/json-tree.ts';
import { applySplices } from '../../core/json/splice.ts';
import type { JsonParseError, Splice } from '../../core/types/json.ts';
import type { AnswerContext, EventPiece, WireRequest } from '../../core/wire/wire-format.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import { findHeader } from '../upstream/headers.ts';
import type { UpstreamAnswer } from '../upstream/types.ts';
import type { CallAccount } from './call-account.ts';
import { buildFailureError, buildUnreadableFailure } from './call-errors.ts';
import { estimateUsage } from './estimate.ts';
import { guardAnswer } from './guard-answer.ts';
import type { GuardedRequest } from './guard-request.ts';
import { guardStream, type StreamObserver } from './guard-stream.ts';
import type { LlmCallContext, LlmReply, ParsedCall } from './llm-call.ts';
import {
  buildDenialReply,
  buildErrorReply,
  buildProviderHeaders,
  buildRulingHeaders,
  selectReportedRuling,
} from './reply.ts';

/** A sent call before its answer. */
export interface SentCall {
  readonly read: ParsedCall;
  readonly guarded: GuardedRequest;
  /** The ruling on the input; its event is durable. */
  readonly input: Ruling;
  readonly account: CallAccount;
}

/** Returns a provider's answer to the client: guarded if it succeeds, byte for byte if it is an error. */
export async function relayAnswer(
  callContext: LlmCallContext,
  sent: SentCall,
  answer: UpstreamAnswer,
): Promise<LlmReply> {
  const { account, read, input } = sent;
  account.answered(answer);
  const type = findHeader(answer.headers, 'content-type') ?? '';
  try {
    if (answer.status >= 400) {
      const body = await collectBody(answer, callContext.settings.response_bytes_max);
      account.end(`${answer.status}`, null);
      return {
        status: answer.status,
        headers: [...buildAnswerHeaders(answer, input, callContext), ...buildNoRetryHeaders(answer)],
        body,
      };
    }
    if (/^text\/event-stream\b/i.test(type)) {
      const body = await relayStream(callContext, sent, answer);
      return { status: answer.status, headers: buildAnswerHeaders(answer, input, callContext), body };
    }
    return await relayWhole(callContext, sent, answer);
  } catch (fault) {
    const error = buildFailureError(fault, callContext.call.request_id);
    const isRefused = answer.status >= 400;
    account.end(error.code, isRefused ? null : { estimate: estimateUsage(read.size, 0), is_whole: false });
    return buildErrorReply(callContext.call.format, error, buildRulingHeaders(input));
  }
}

/**
 * Returns headers that forbid the client to retry a call that this service has already retried. Otherwise the retries
 * would multiply.
 */
function buildNoRetryHeaders({ attempts, headers }: UpstreamAnswer): readonly string[] {
  return attempts > 1 && findHeader(headers, 'x-should-retry') === null ? ['x-should-retry', 'false'] : [];
}

function buildAnswerHeaders(
  { headers }: UpstreamAnswer,
  reported: Ruling,
  { call }: LlmCallContext,
): readonly string[] {
  return [...buildProviderHeaders(headers, call.request_id), ...buildRulingHeaders(reported)];
}

function relayStream(
  callContext: LlmCallContext,
  { read: { request, size }, guarded: { shown_model: model, tokens, splices }, account }: SentCall,
  answer: UpstreamAnswer,
): Promise<AsyncGenerator<string>> {
  let outputUnits = 0;
  const news: StreamObserver = {
    onChunk: account.chunk,
    onEvent: (parts) => {
      for (const piece of parts.pieces) outputUnits += countUnits(piece);
      account.report(parts);
    },
    onEnd: (error) =>
      account.end(error, { estimate: estimateUsage(size, outputUnits), is_whole: error === null }),
  };
  const query = {
    ...buildAnswerQuery(request, splices),
    drops_usage: request.usage_splice !== null && callContext.settings.asks_usage !== false,
  };
  return guardStream(
    answer,
    query,
    { call_context: callContext, model, tokens, readUsage: account.readUsage },
    news,
  );
}

/**
 * Builds the context for reading the answer. Strings that the answer may repeat are those that were sent, after
 * changes.
 */
function buildAnswerQuery({ choices, repeatable }: WireRequest, splices: readonly Splice[]): AnswerContext {
  const changed = new Map(splices.map(({ start, text }) => [start, text]));
  const sent = repeatable.map(({ start, value }) => {
    const text = changed.get(start);
    return text === undefined ? value : (JSON.parse(text) as string);
  });
  return { choices: Math.max(1, choices), repeatable: new Set(sent) };
}

function countUnits({ node }: EventPiece): number {
  return node.kind === 'string' ? node.value.length : node.end - node.start;
}

async function relayWhole(
  callContext: LlmCallContext,
  { read: { request, size }, guarded: { shown_model: model, tokens, splices }, input, account }: SentCall,
  answer: UpstreamAnswer,
): Promise<LlmReply> {
  const { call, settings, ports } = callContext;
  const bytes = await collectBody(answer, settings.response_bytes_max);
  if (!isUtf8(bytes)) throw buildUnreadableFailure('The answer of the provider is not valid UTF-8.');
  const text = bytes.toString('utf8');
  const node = parseJsonTree(text, ports.policy.limits, { drops_vectors: true });
  if (node.kind === 'problem') throw buildUnreadableFailure(PROBLEMS[node.reason]);
  const stated = call.format.readAnswer(node, buildAnswerQuery(request, splices));
  if (stated === null)
    throw buildUnreadableFailure('The answer of the provider does not follow the requested protocol.');
  account.report(stated);
  const outputUnits = stated.texts.reduce((sum, { value }) => sum + value.length, 0);
  const spent = { estimate: estimateUsage(size, outputUnits), is_whole: true };
  const guarded = await guardAnswer(stated, text, {
    call_context: callContext,
    model,
    tokens,
    readUsage: account.readUsage,
  });
  if (guarded.denied !== null) {
    account.end('policy_violation', spent);
    return buildDenialReply(call, guarded.denied);
  }
  account.end(null, spent);
  const body = guarded.splices.length === 0 ? bytes : applySplices(text, guarded.splices);
  return {
    status: answer.status,
    headers: buildAnswerHeaders(answer, selectReportedRuling(input, guarded.ruling), callContext),
    body,
  };
}

const PROBLEMS: Readonly<Record<JsonParseError['reason'], string>> = {
  malformed: 'The answer of the provider is no JSON that can be read.',
  depth_max: 'The answer of the provider is nested deeper than scan.depth_max.',
  nodes_max: 'The answer of the provider has more parts than scan.nodes_max.',
};

/** Reads all bytes of an answer. Throws if it breaks off or exceeds `bytesMax`. */
export async function collectBody({ body }: UpstreamAnswer, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax)
      throw buildUnreadableFailure(
        `The answer of the provider is longer than proxy.response_bytes_max (${bytesMax} bytes).`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}
