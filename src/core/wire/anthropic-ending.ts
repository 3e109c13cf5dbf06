import { writeAnthropicErrorEvents } from './anthropic-errors.ts';
import { writeSseEvent } from './sse.ts';
import type { StreamEnding, WireError } from './wire-format.ts';

/**
 * Ends a stream of messages. After a block it ends like a finished message whose last text is the reason. Clients
 * treat an `error` event as a network failure and retry at once, without limit.
 */
export function openAnthropicEnding(): StreamEnding {
  const sent = { is_started: false, open: new Set<number>(), next: 0 };
  return {
    forward: (data) => {
      if (MARKS.test(data)) noteSentEvent(sent, data);
      return data;
    },
    denialEvents: (error) => writeFinishedMessage(sent, error),
    errorEvents: writeAnthropicErrorEvents,
  };
}

interface SentBlocks {
  is_started: boolean;
  readonly open: Set<number>;
  /** The index of the next block. */
  next: number;
}

/**
 * Most events are pieces of text and are not parsed. A quote within a text is escaped, so it cannot match.
 */
const MARKS = /"(?:message_start|content_block_start|content_block_stop)"/;

function noteSentEvent(sent: SentBlocks, data: string): void {
  const event = tryParseJson(data);
  const index = typeof event?.index === 'number' ? event.index : 0;
  if (event?.type === 'message_start') sent.is_started = true;
  if (event?.type === 'content_block_stop') sent.open.delete(index);
  if (event?.type !== 'content_block_start') return;
  sent.open.add(index);
  sent.next = Math.max(sent.next, index + 1);
}

function tryParseJson(data: string): { readonly type?: unknown; readonly index?: unknown } | null {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

function writeFinishedMessage(
  { is_started, open, next: index }: SentBlocks,
  { message, code, request_id, extra }: WireError,
): string {
  const events = [
    ...(is_started ? [] : [{ type: 'message_start', message: buildStartedMessage(request_id) }]),
    ...[...open].map((each) => ({ type: 'content_block_stop', index: each })),
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text: message } },
    { type: 'content_block_stop', index },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 1 },
      ...extra,
      error_code: code,
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => writeSseEvent(event.type, JSON.stringify(event))).join('');
}

function buildStartedMessage(requestId: string): object {
  return {
    id: `msg_${requestId}`,
    type: 'message',
    role: 'assistant',
    model: 'unknown',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  };
}
