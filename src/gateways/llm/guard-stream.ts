import { createSseReader, type SsePiece } from '../../core/wire/sse.ts';
import type { AnswerContext, EventParts, StreamEnding, WireError } from '../../core/wire/wire-format.ts';
import { buildTextContext } from '../../runtime/enforcement/crossings.ts';
import { enforceStream, type GuardedStream } from '../../runtime/enforcement/enforce-stream.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import type { UpstreamAnswer } from '../upstream/types.ts';
import { buildFailureError, buildUnreadableFailure } from './call-errors.ts';
import type { ModelAnswerContext } from './guard-tool-call.ts';
import { buildCallMetadata } from './llm-call.ts';
import { type EventGuard, openEventGuard } from './stream/guard-events.ts';
import type { AnswerEnding } from './stream/guard-state.ts';

/** Observes a stream while it is forwarded. */
export interface StreamObserver {
  readonly onChunk: () => void;
  readonly onEvent: (parts: EventParts) => void;
  /** Runs once when the stream is over, however it ends. `error` is `null` if the stream completed. */
  readonly onEnd: (error: string | null) => void;
}

/** The parts of a request that its streamed answer is read with. */
export interface StreamReadOptions extends AnswerContext {
  readonly drops_usage: boolean;
}

/**
 * Returns the events of a streamed answer that may be sent. Reading pulls from the upstream; `return` stops the
 * upstream. However the stream ends, the event on its texts is durable by then.
 */
export async function guardStream(
  answer: UpstreamAnswer,
  request: StreamReadOptions,
  context: ModelAnswerContext,
  news: StreamObserver,
): Promise<AsyncGenerator<string>> {
  const { call_context, model, readUsage } = context;
  const { call, ports } = call_context;
  const envelope = buildTextContext('output', call.acting);
  const buildMetadata = () => buildCallMetadata(call, model, readUsage?.());
  // The session's taint tags are read before any part of the answer.
  const texts = await enforceStream(envelope, call.caller, 'llm_response', ports, { buildMetadata });
  const reader = call.format.openEvents(request);
  const ending = call.format.openEnding();
  const guard = openEventGuard({ ...request, reader, ending, texts, context, onEvent: news.onEvent });
  return streamEvents(answer, { guard, texts, ending }, context, news);
}

interface Guards {
  readonly guard: EventGuard;
  readonly texts: GuardedStream;
  readonly ending: StreamEnding;
}

const UNREADABLE = 'The answer of the provider ended early, or contains content that cannot be scanned.';

async function* streamEvents(
  answer: UpstreamAnswer,
  { guard, texts, ending }: Guards,
  answering: ModelAnswerContext,
  news: StreamObserver,
): AsyncGenerator<string> {
  const { call, settings } = answering.call_context;
  const sse = createSseReader({ event_units_max: settings.held_units_max });
  const chunks = answer.body[Symbol.asyncIterator]();
  const held = texts.is_held ? openHeldText(settings.response_bytes_max) : null;
  let end: AnswerEnding | null = null;
  let failure: unknown = null;
  try {
    while (end === null) {
      const { done, value } = await chunks.next();
      news.onChunk();
      end = await takeAllEvents(done === true ? sse.end() : sse.read(value), guard);
      if (done === true) end ??= await guard.end();
      const text = guard.flush();
      if (text === '') continue;
      if (held === null) yield text;
      else held.add(text);
    }
    if (end.how === 'broken') failure = buildUnreadableFailure(UNREADABLE);
  } catch (fault) {
    end = { how: 'broken' };
    failure = fault;
  } finally {
    leaveStream(chunks, end);
    // The received texts are recorded even if the client has disconnected or receives an error.
    const ruling = await texts.finish();
    call.onRuling?.(ruling);
    news.onEnd(getCause(end, failure));
  }
  if (held !== null && end.how === 'whole') yield* held.texts;
  const error = getError(end, failure, answering);
  if (error === null) return;
  const isDenied = end.how === 'denied' && !end.denial.verdict.fault;
  // No held event was sent, so the stream ends as one that has not begun.
  const { denialEvents, errorEvents } = held === null ? ending : call.format.openEnding();
  yield isDenied ? denialEvents(error) : errorEvents(error);
}

/** The events of a stream that wait for the decision of a classifier on the whole. */
interface HeldText {
  readonly texts: readonly string[];
  /** @throws UpstreamFailure if the events become longer than an answer without streaming may be */
  readonly add: (text: string) => void;
}

function openHeldText(bytesMax: number): HeldText {
  const texts: string[] = [];
  let bytes = 0;
  return {
    texts,
    add: (text) => {
      bytes += Buffer.byteLength(text);
      if (bytes > bytesMax)
        throw buildUnreadableFailure(
          `The answer of the provider is longer than proxy.response_bytes_max (${bytesMax} bytes), and a classifier decides on the whole of it.`,
        );
      texts.push(text);
    },
  };
}

/** Returns why a stream did not complete; `null` if it did. A stream that the client abandons has no end. */
function getCause(end: AnswerEnding | null, failure: unknown): string | null {
  if (end === null) return 'aborted';
  if (end.how === 'whole') return null;
  if (end.how === 'denied') return 'policy_violation';
  return failure instanceof UpstreamFailure ? failure.code : 'internal_error';
}

/**
 * Stops the upstream. After the last event only the end of the body is left: reading it keeps the connection
 * reusable.
 */
function leaveStream(chunks: AsyncIterator<Uint8Array>, end: AnswerEnding | null): void {
  const stop = async (): Promise<void> => {
    if (end?.how === 'whole' && (await chunks.next()).done === true) return;
    await chunks.return?.();
  };
  stop().catch(() => {});
}

async function takeAllEvents({ events, problem }: SsePiece, guard: EventGuard): Promise<AnswerEnding | null> {
  for (const event of events) {
    const end = await guard.take(event);
    if (end !== null) return end;
  }
  return problem === null ? null : { how: 'broken' };
}

function getError(
  end: AnswerEnding,
  failure: unknown,
  { call_context }: ModelAnswerContext,
): WireError | null {
  const { call } = call_context;
  if (end.how === 'whole') return null;
  if (end.how === 'denied') return call.describeDenial(end.denial);
  const error = buildFailureError(failure, call.request_id);
  return error.code === 'aborted' ? null : error;
}
