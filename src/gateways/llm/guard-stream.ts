import type { CrossingContext } from '../../core/types/index.ts';
import { createSseReader, type SsePiece } from '../../core/wire/sse.ts';
import type { AnswerContext, EventParts, StreamEnding, WireError } from '../../core/wire/wire-format.ts';
import { enforceStream, type GuardedStream } from '../../runtime/enforcement/enforce-stream.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import type { UpstreamAnswer } from '../upstream/types.ts';
import { buildFailureError, buildUnreadableFailure } from './call-errors.ts';
import type { ModelAnswerContext } from './guard-tool-call.ts';
import { buildCallMetadata } from './llm-call.ts';
import { type EventGuard, openEventGuard } from './stream/guard-events.ts';
import type { StreamEnd } from './stream/guard-state.ts';

/** What is told of a stream while it goes by. */
export interface StreamObserver {
  readonly onChunk: () => void;
  readonly onEvent: (parts: EventParts) => void;
  /** The stream is over; `null`: it came to its end, else why not. Once, however it ends. */
  readonly onEnd: (error: string | null) => void;
}

/** What of the request concerns its stream. */
export interface StreamReadOptions extends AnswerContext {
  readonly drops_usage: boolean;
}

/**
 * The events of a streamed answer as they may go out. It reads on when it is read; its `return` stops the upstream.
 * However it ends, what was decided on its texts is durable by then.
 */
export async function guardStream(
  answer: UpstreamAnswer,
  asked: StreamReadOptions,
  context: ModelAnswerContext,
  news: StreamObserver,
): Promise<AsyncGenerator<string>> {
  const { call_context, model } = context;
  const { call, ports } = call_context;
  const envelope: CrossingContext = {
    ...call.acting,
    boundary: 'output',
    phase: null,
    destination_agent_id: null,
    tool: null,
  };
  const buildMetadata = () => buildCallMetadata(call, model);
  // What the session has read is looked up before any of the answer is.
  const texts = await enforceStream(envelope, call.caller, 'llm_response', ports, { buildMetadata });
  const reader = call.format.openEvents(asked);
  const ending = call.format.openEnding();
  const guard = openEventGuard({ ...asked, reader, ending, texts, context, onEvent: news.onEvent });
  return events(answer, { guard, texts, ending }, context, news);
}

interface Guards {
  readonly guard: EventGuard;
  readonly texts: GuardedStream;
  readonly ending: StreamEnding;
}

const UNREADABLE = 'The answer of the provider ended early, or contains content that cannot be scanned.';

async function* events(
  answer: UpstreamAnswer,
  { guard, texts, ending }: Guards,
  answering: ModelAnswerContext,
  news: StreamObserver,
): AsyncGenerator<string> {
  const { call, settings } = answering.call_context;
  const sse = createSseReader({ event_units_max: settings.held_units_max });
  const chunks = answer.body[Symbol.asyncIterator]();
  let end: StreamEnd | null = null;
  let failure: unknown = null;
  try {
    while (end === null) {
      const { done, value } = await chunks.next();
      news.onChunk();
      end = await takeAll(done === true ? sse.end() : sse.read(value), guard);
      if (done === true) end ??= await guard.end();
      const text = guard.flush();
      if (text !== '') yield text;
    }
    if (end.how === 'broken') failure = buildUnreadableFailure(UNREADABLE);
  } catch (fault) {
    end = { how: 'broken' };
    failure = fault;
  } finally {
    leave(chunks, end);
    // Whoever is gone, or is told of an error: what had come is written down all the same.
    const ended = await texts.finish();
    call.onRuling?.({ boundary: 'output', ...ended });
    news.onEnd(causeOf(end, failure));
  }
  const error = errorOf(end, failure, answering);
  if (error === null) return;
  const is_denied = end.how === 'denied' && !end.denial.ruling.verdict.fault;
  yield is_denied ? ending.denialEvents(error) : ending.errorEvents(error);
}

/** Why a stream did not come to its end; `null` where it did. One that is left has no end. */
function causeOf(end: StreamEnd | null, failure: unknown): string | null {
  if (end === null) return 'aborted';
  if (end.how === 'whole') return null;
  if (end.how === 'denied') return 'policy_violation';
  return failure instanceof UpstreamFailure ? failure.code : 'internal_error';
}

/** Stops the upstream. Behind its last event there is but the end of the body: read, it leaves the connection usable. */
function leave(chunks: AsyncIterator<Uint8Array>, end: StreamEnd | null): void {
  const stop = async (): Promise<void> => {
    if (end?.how === 'whole' && (await chunks.next()).done === true) return;
    await chunks.return?.();
  };
  stop().catch(() => {});
}

async function takeAll({ events, problem }: SsePiece, guard: EventGuard): Promise<StreamEnd | null> {
  for (const event of events) {
    const end = await guard.take(event);
    if (end !== null) return end;
  }
  return problem === null ? null : { how: 'broken' };
}

function errorOf(end: StreamEnd, failure: unknown, { call_context }: ModelAnswerContext): WireError | null {
  const { call } = call_context;
  if (end.how === 'whole') return null;
  if (end.how === 'denied') return call.describeDenial(end.denial);
  const error = buildFailureError(failure, call.request_id);
  return error.code === 'aborted' ? null : error;
}
