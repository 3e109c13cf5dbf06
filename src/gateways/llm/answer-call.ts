import { isUtf8 } from 'node:buffer';
import { parseJsonTree } from '../../core/json/json-tree.ts';
import { applySplices } from '../../core/json/splice.ts';
import type { JsonParseError, Splice } from '../../core/types/json.ts';
import type { AnswerContext, EventPiece, WireRequest } from '../../core/wire/wire-format.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import type { UpstreamAnswer } from '../upstream/types.ts';
import type { Account } from './account.ts';
import type { LlmReply, ReadCall, Road } from './call.ts';
import { estimatedUsage } from './estimate.ts';
import { errorOfFailure, unreadable } from './faults.ts';
import { guardAnswer } from './guard-answer.ts';
import type { GuardedRequest } from './guard-request.ts';
import { guardStream, type StreamNews } from './guard-stream.ts';
import { denialReply, errorReply, givenHeaders, headerIn, rulingHeaders, toldRuling } from './reply.ts';

/** What was made of a call before its answer. */
export interface Sent {
  readonly read: ReadCall;
  readonly guarded: GuardedRequest;
  /** On the input; it is durable. */
  readonly input: Ruling;
  readonly account: Account;
}

/** Gives an answer back whose headers are there: guarded, or byte for byte where the provider says why it has none. */
export async function answerCall(road: Road, sent: Sent, answer: UpstreamAnswer): Promise<LlmReply> {
  const { account, read, input } = sent;
  account.answered(answer);
  const type = headerIn(answer.headers, 'content-type') ?? '';
  try {
    if (answer.status >= 400) {
      const body = await collected(answer, road.settings.response_bytes_max);
      account.end(`${answer.status}`, null);
      return { status: answer.status, headers: [...headersOf(answer, input), ...notAgain(answer)], body };
    }
    if (/^text\/event-stream\b/i.test(type)) {
      const body = await streamed(road, sent, answer);
      return { status: answer.status, headers: headersOf(answer, input), body };
    }
    return await whole(road, sent, answer);
  } catch (fault) {
    const error = errorOfFailure(fault, road.call.request_id);
    const is_refused = answer.status >= 400;
    account.end(error.code, is_refused ? null : { estimate: estimatedUsage(read.size, 0), is_whole: false });
    return errorReply(road.call.format, error, rulingHeaders(input));
  }
}

/** What was tried again here is not to be tried again by the client: its tries would multiply ours. */
function notAgain({ attempts, headers }: UpstreamAnswer): readonly string[] {
  return attempts > 1 && headerIn(headers, 'x-should-retry') === null ? ['x-should-retry', 'false'] : [];
}

function headersOf({ headers }: UpstreamAnswer, told: Ruling): readonly string[] {
  return [...givenHeaders(headers), ...rulingHeaders(told)];
}

function streamed(
  road: Road,
  { read: { request, size }, guarded: { shown_model: model, tokens, splices }, account }: Sent,
  answer: UpstreamAnswer,
): Promise<AsyncGenerator<string>> {
  let output_units = 0;
  const news: StreamNews = {
    chunk: account.chunk,
    note: (parts) => {
      for (const piece of parts.pieces) output_units += unitsOf(piece);
      account.said(parts);
    },
    over: (error) =>
      account.end(error, { estimate: estimatedUsage(size, output_units), is_whole: error === null }),
  };
  const asked = {
    ...askedOf(request, splices),
    drops_usage: request.usage_splice !== null && road.settings.asks_usage !== false,
  };
  return guardStream(answer, asked, { road, model, tokens }, news);
}

/** What the answer is read with: the strings of the request that it may repeat are those that were sent. */
function askedOf({ choices, repeatable }: WireRequest, splices: readonly Splice[]): AnswerContext {
  const changed = new Map(splices.map(({ start, text }) => [start, text]));
  const sent = repeatable.map(({ start, value }) => {
    const text = changed.get(start);
    return text === undefined ? value : (JSON.parse(text) as string);
  });
  return { choices: Math.max(1, choices), repeatable: new Set(sent) };
}

function unitsOf({ node }: EventPiece): number {
  return node.kind === 'string' ? node.value.length : node.end - node.start;
}

async function whole(
  road: Road,
  { read: { request, size }, guarded: { shown_model: model, tokens, splices }, input, account }: Sent,
  answer: UpstreamAnswer,
): Promise<LlmReply> {
  const { call, settings, ports } = road;
  const bytes = await collected(answer, settings.response_bytes_max);
  if (!isUtf8(bytes)) throw unreadable('The answer of the provider is not valid UTF-8.');
  const text = bytes.toString('utf8');
  const node = parseJsonTree(text, ports.policy.limits, { drops_vectors: true });
  if (node.kind === 'problem') throw unreadable(PROBLEMS[node.reason]);
  const said = call.format.readAnswer(node, askedOf(request, splices));
  if (said === null) throw unreadable('The answer of the provider does not follow the requested protocol.');
  account.said(said);
  const output_units = said.texts.reduce((sum, { value }) => sum + value.length, 0);
  const spent = { estimate: estimatedUsage(size, output_units), is_whole: true };
  const guarded = await guardAnswer(said, text, { road, model, tokens });
  if (guarded.denied !== null) {
    account.end('policy_violation', spent);
    return denialReply(call, guarded.denied);
  }
  account.end(null, spent);
  const body = guarded.splices.length === 0 ? bytes : applySplices(text, guarded.splices);
  return { status: answer.status, headers: headersOf(answer, toldRuling(input, guarded.ruling)), body };
}

const PROBLEMS: Readonly<Record<JsonParseError['reason'], string>> = {
  malformed: 'The answer of the provider is no JSON that can be read.',
  depth_max: 'The answer of the provider is nested deeper than scan.depth_max.',
  nodes_max: 'The answer of the provider has more parts than scan.nodes_max.',
};

/** All bytes of an answer; one that is too long, or breaks off, has none. */
export async function collected({ body }: UpstreamAnswer, bytes_max: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytes_max)
      throw unreadable(
        `The answer of the provider is longer than proxy.response_bytes_max (${bytes_max} bytes).`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}
