import type { EventParts, SseEvent } from '../../../core/wire/wire-format.ts';
import { buildToolCrossing, NO_TEXT } from '../../../runtime/enforcement/crossings.ts';
import { refuseInCall } from '../decide-in-call.ts';
import { isValidToolName, judgeCalledName } from '../guard-tool-call.ts';
import {
  type AnswerEnding,
  BROKEN_END,
  createGuardState,
  type EventGuardParts,
  emitEvent,
  type GuardState,
  releaseHeldEvents,
  sendEvent,
  shouldHoldEvents,
} from './guard-state.ts';
import { createOutgoingEvent, type OutgoingEvent } from './outgoing-event.ts';
import { hasCallWork, judgeEndedCall, processCalls } from './process-calls.ts';
import { flushText, isVerifiedWord, processTexts } from './process-texts.ts';

/** Guards the events of one answer. Its output is a valid stream of the same protocol at all times. */
export interface EventGuard {
  /** Processes the next event. Returns the end of the stream if this event ends it. */
  readonly take: (event: SseEvent) => Promise<AnswerEnding | null>;
  /** Signals that no more events follow, and returns how the stream ends. */
  readonly end: () => Promise<AnswerEnding>;
  /** Returns the output that may be sent by now, and clears it. */
  readonly flush: () => string;
}

/** Opens the guard of one answer's events. */
export function openEventGuard(parts: EventGuardParts): EventGuard {
  const state = createGuardState(parts);
  return {
    take: (event) => takeEvent(state, event),
    end: () => endWithoutLast(state),
    flush: () => {
      const { out } = state;
      if (out.length === 0) return '';
      state.out = [];
      return out.length === 1 ? out[0]! : out.join('');
    },
  };
}

async function takeEvent(state: GuardState, event: SseEvent): Promise<AnswerEnding | null> {
  const parts = state.reader.read(event);
  if (parts === null || !parts.put_words.every((word) => isVerifiedWord(state, word))) return BROKEN_END;
  state.onEvent(parts);
  if (parts.is_added_usage && state.drops_usage) return null;
  const outgoing = createOutgoingEvent(event, parts.name, [...parts.repairs]);
  if (isKeepAlive(parts, event)) {
    sendEvent(state, outgoing);
    return null;
  }
  const taken = processTexts(state, parts, outgoing);
  if (taken === 'blocked') return buildDeniedEnd(state);
  if (taken === 'broken') return BROKEN_END;
  if (hasCallWork(state, parts)) {
    const end = await processCalls(state, parts, outgoing);
    if (end !== null) return end;
  }
  state.finished += parts.finish_reasons.length;
  if (parts.is_last) return finishStream(state, outgoing);
  // A held event marks the position of the held part of its text.
  if (taken !== 'hollow' || shouldHoldEvents(state)) emitEvent(state, outgoing);
  return state.held_units > state.context.call_context.settings.held_units_max ? denyHeldLimit(state) : null;
}

/** Returns whether an event is a comment or a ping. These keep a connection open and are never held. */
function isKeepAlive({ pieces, closed, repeats, is_last, name }: EventParts, { data }: SseEvent): boolean {
  if (pieces.length + closed.length + repeats.length > 0 || is_last) return false;
  return name === 'ping' || data.trim() === '';
}

/** Finishes a stream. The last events are sent only when the event on all texts is durable. */
async function finishStream(state: GuardState, last: OutgoingEvent | null): Promise<AnswerEnding> {
  const ruling = await state.texts.finish();
  if (ruling.verdict.decision === 'block') return { how: 'denied', denial: ruling };
  releaseHeldEvents(state);
  if (last !== null) sendEvent(state, last);
  return { how: 'whole', ruling };
}

/** Ends a stream without a last event, which some servers omit. It is complete if each choice has a finish reason. */
async function endWithoutLast(state: GuardState): Promise<AnswerEnding> {
  if (state.finished < state.choices) return BROKEN_END;
  for (const channel of state.channels.values()) if (!flushText(state, channel)) return buildDeniedEnd(state);
  for (const name of state.calls.keys()) {
    const end = await judgeEndedCall(state, name);
    if (end !== null) return end;
  }
  return finishStream(state, null);
}

async function buildDeniedEnd({ texts }: GuardState): Promise<AnswerEnding> {
  const denial = await texts.finish();
  return denial.verdict.decision === 'block' ? { how: 'denied', denial } : BROKEN_END;
}

/** Denies a call that exceeds the limit of held units, because it cannot be judged as a whole. */
async function denyHeldLimit({ context, calls }: GuardState): Promise<AnswerEnding> {
  const { call_context, model } = context;
  const all = [...calls.values()];
  const open = all.find(({ judged }) => judged === null) ?? all.at(-1);
  if (open === undefined) return BROKEN_END;
  const crossing = buildToolCrossing(call_context.call.acting, {
    phase: 'request',
    tool:
      open.tool !== null && isValidToolName(open.tool)
        ? judgeCalledName(open.tool, call_context).shown
        : 'unknown',
    content: NO_TEXT,
  });
  const reason = `More than proxy.stream_buffer_bytes_max (${call_context.settings.held_units_max}) would have to wait until the tool calls are whole.`;
  const refused = { rule: 'limit.held_bytes', reason };
  return { how: 'denied', denial: await refuseInCall(refused, crossing, call_context, model) };
}
