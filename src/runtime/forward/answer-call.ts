import { isUtf8 } from 'node:buffer';
import { readJson } from '../../core/wire/json-text.ts';
import { splice } from '../../core/wire/splice.ts';
import type { EventPiece } from '../../core/wire/types.ts';
import type { Ruling } from '../types.ts';
import type { LlmReply, ModelsAsked, ReadCall, Road } from './call.ts';
import { estimatedUsage } from './estimate.ts';
import { errorOfFailure, unreadable } from './faults.ts';
import { guardAnswer } from './guard-answer.ts';
import type { GuardedRequest } from './guard-request.ts';
import { guardStream, type StreamNews } from './guard-stream.ts';
import { denialReply, errorReply, headerIn, rulingHeaders, toldRuling, withoutLength } from './reply.ts';
import type { Spending } from './spending.ts';
import type { UpstreamAnswer, Upstreams } from './types.ts';

/** Gives an answer back whose headers are there: guarded, or byte for byte where the provider says why it has none. */
export async function answerCall(
  road: Road,
  read: ReadCall,
  guarded: GuardedRequest,
  input: Ruling,
  answer: UpstreamAnswer,
  spending: Spending,
): Promise<LlmReply> {
  const { call } = road;
  spending.at(answer.provider, answer.model);
  const type = headerIn(answer.headers, 'content-type') ?? '';
  try {
    if (answer.status >= 400) {
      spending.nothing();
      const body = await collected(answer, road.settings.answer_bytes_max);
      return { status: answer.status, headers: headersOf(answer, input), body };
    }
    if (/^text\/event-stream\b/i.test(type)) {
      const body = await streamed(road, read, guarded, answer, spending);
      return { status: answer.status, headers: headersOf(answer, input), body };
    }
    return await whole(road, read, guarded, input, answer, spending);
  } catch (fault) {
    const error = errorOfFailure(fault, call.request_id);
    spending.settle(estimatedUsage(read.size, 0), false);
    return errorReply(call.format, error, rulingHeaders(input));
  }
}

function headersOf({ headers }: UpstreamAnswer, told: Ruling): readonly string[] {
  return [...withoutLength(headers), ...rulingHeaders(told)];
}

function streamed(
  road: Road,
  { request, size }: ReadCall,
  { model, tokens }: GuardedRequest,
  answer: UpstreamAnswer,
  spending: Spending,
): Promise<AsyncGenerator<string>> {
  let output_units = 0;
  const news: StreamNews = {
    note: ({ pieces, usage }) => {
      for (const piece of pieces) output_units += unitsOf(piece);
      if (usage !== null) spending.said(usage);
    },
    over: (is_whole) => spending.settle(estimatedUsage(size, output_units), is_whole),
  };
  const asked = { choices: request.choices, drops_usage: request.usage_splice !== null };
  return guardStream(answer, asked, { road, model, tokens }, news);
}

function unitsOf({ node }: EventPiece): number {
  return node.kind === 'string' ? node.value.length : node.end - node.start;
}

async function whole(
  road: Road,
  { size }: ReadCall,
  { model, tokens }: GuardedRequest,
  input: Ruling,
  answer: UpstreamAnswer,
  spending: Spending,
): Promise<LlmReply> {
  const { call, settings, ports } = road;
  const bytes = await collected(answer, settings.answer_bytes_max);
  if (!isUtf8(bytes)) throw unreadable('The answer of the provider is not valid UTF-8.');
  const text = bytes.toString('utf8');
  const node = readJson(text, ports.policy.limits);
  if (node.kind === 'problem') throw unreadable('The answer of the provider is no JSON that can be read.');
  const said = call.format.readAnswer(node);
  if (said.usage !== null) spending.said(said.usage);
  const output_units = said.texts.reduce((sum, { value }) => sum + value.length, 0);
  spending.settle(estimatedUsage(size, output_units), true);
  const guarded = await guardAnswer(said, text, { road, model, tokens });
  if (guarded.denied !== null) return denialReply(call, guarded.denied);
  const body = guarded.splices.length === 0 ? bytes : splice(text, guarded.splices);
  return { status: answer.status, headers: headersOf(answer, toldRuling(input, guarded.ruling)), body };
}

/** All bytes of an answer; one that is too long, or breaks off, has none. */
async function collected({ body }: UpstreamAnswer, bytes_max: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytes_max)
      throw unreadable(
        `The answer of the provider is longer than proxy.answer_bytes_max (${bytes_max} bytes).`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

/** Which models there are, as the provider says it. */
export async function answerModels(
  { path, headers, signal, request_id, format }: ModelsAsked,
  upstreams: Upstreams,
  bytes_max: number,
): Promise<LlmReply> {
  try {
    const answer = await upstreams.send({
      wire: 'openai.models',
      method: 'GET',
      path,
      headers,
      model: null,
      bodyFor: () => null,
      affinity: null,
      signal,
    });
    return {
      status: answer.status,
      headers: withoutLength(answer.headers),
      body: await collected(answer, bytes_max),
    };
  } catch (fault) {
    return errorReply(format, errorOfFailure(fault, request_id));
  }
}
