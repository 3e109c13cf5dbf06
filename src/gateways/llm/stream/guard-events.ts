import type { EventParts, SseEvent } from '../../../core/wire/wire-format.ts';
import { refuseCrossing } from '../../../runtime/enforcement/enforce.ts';
import { buildToolCrossing } from '../../../runtime/enforcement/tool-calls.ts';
import { aboutCall } from '../call.ts';
import { isToolName, nameIn } from '../guard-call.ts';
import { type Outgoing, outgoingOf } from './outgoing.ts';
import {
  BROKEN,
  type EventGuardParts,
  type EventsEnd,
  emit,
  type Guarding,
  isWaiting,
  letGo,
  send,
  startGuarding,
} from './state.ts';
import { endCall, hasCalls, takeCalls } from './take-calls.ts';
import { endText, isKnownClean, takeTexts } from './take-texts.ts';

/** Guards the events of one answer: what goes out is a valid stream of the same protocol at all times. */
export interface EventGuard {
  /** Takes the next event. Gives how the stream ends with it, if it does. */
  readonly take: (event: SseEvent) => Promise<EventsEnd | null>;
  /** Says that no event comes any more, and gives how the stream ends. */
  readonly end: () => Promise<EventsEnd>;
  /** What may go out by now, once. */
  readonly flush: () => string;
}

/** Opens the guard of one answer's events. */
export function openEventGuard(parts: EventGuardParts): EventGuard {
  const state = startGuarding(parts);
  return {
    take: (event) => take(state, event),
    end: () => endEarly(state),
    flush: () => {
      const { out } = state;
      if (out.length === 0) return '';
      state.out = [];
      return out.length === 1 ? out[0]! : out.join('');
    },
  };
}

async function take(state: Guarding, event: SseEvent): Promise<EventsEnd | null> {
  const parts = state.reader.read(event);
  if (parts === null || !parts.put_words.every((word) => isKnownClean(state, word))) return BROKEN;
  state.note(parts);
  if (parts.is_added_usage && state.drops_usage) return null;
  const outgoing = outgoingOf(event, parts.name, [...parts.repairs]);
  if (isSignOfLife(parts, event)) {
    send(state, outgoing);
    return null;
  }
  const taken = takeTexts(state, parts, outgoing);
  if (taken === 'blocked') return denied(state);
  if (taken === 'broken') return BROKEN;
  if (hasCalls(state, parts)) {
    const end = await takeCalls(state, parts, outgoing);
    if (end !== null) return end;
  }
  state.finished += parts.finish_reasons.length;
  if (parts.is_last) return finish(state, outgoing);
  // What waits keeps the place of what is held of its text.
  if (taken !== 'hollow' || isWaiting(state)) emit(state, outgoing);
  return state.held_units > state.answering.road.settings.held_units_max ? tooMuch(state) : null;
}

/** Comments and pings keep a connection open, and wait for nothing. */
function isSignOfLife({ pieces, closed, repeats, is_last, name }: EventParts, { data }: SseEvent): boolean {
  if (pieces.length + closed.length + repeats.length > 0 || is_last) return false;
  return name === 'ping' || data.trim() === '';
}

/** The last events go out when it is written down what all texts came to. */
async function finish(state: Guarding, last: Outgoing | null): Promise<EventsEnd> {
  const { ruling, crossing } = await state.texts.finish();
  if (ruling.verdict.decision === 'block') return { how: 'denied', denial: { ruling, crossing } };
  letGo(state);
  if (last !== null) send(state, last);
  return { how: 'whole', ruling };
}

/** Not every server says that an answer is over; it is where every one of its parts has said why it ends. */
async function endEarly(state: Guarding): Promise<EventsEnd> {
  if (state.finished < state.choices) return BROKEN;
  for (const channel of state.channels.values()) if (!endText(state, channel)) return denied(state);
  for (const name of state.calls.keys()) {
    const end = await endCall(state, name);
    if (end !== null) return end;
  }
  return finish(state, null);
}

async function denied({ texts }: Guarding): Promise<EventsEnd> {
  const { ruling, crossing } = await texts.finish();
  return ruling.verdict.decision === 'block' ? { how: 'denied', denial: { ruling, crossing } } : BROKEN;
}

/** A call that cannot be judged whole is not let be. */
async function tooMuch({ answering, calls }: Guarding): Promise<EventsEnd> {
  const { road, model } = answering;
  const all = [...calls.values()];
  const open = all.find(({ judged }) => judged === null) ?? all.at(-1);
  if (open === undefined) return BROKEN;
  const crossing = buildToolCrossing(road.call.acting, {
    phase: 'request',
    tool: open.tool !== null && isToolName(open.tool) ? nameIn(open.tool, road).shown : 'unknown',
    content: { kind: 'text', text: '' },
    destination_agent_id: null,
    capability: null,
  });
  const reason = `More than proxy.stream_buffer_bytes_max (${road.settings.held_units_max}) would have to wait until the tool calls are whole.`;
  const ruling = await refuseCrossing(
    { rule: 'limit.held_bytes', reason },
    crossing,
    road.call.caller,
    'llm_tool_call',
    road.ports,
    { buildMetadata: () => aboutCall(road.call, model) },
  );
  return { how: 'denied', denial: { ruling, crossing } };
}
