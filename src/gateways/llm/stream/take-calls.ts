import type { EventParts, EventPiece } from '../../../core/wire/wire-format.ts';
import { guardCall } from '../guard-call.ts';
import { written } from '../texts.ts';
import {
  addToCall,
  argumentsOf,
  type CallChannel,
  openCall,
  saysAgain,
  saysTwo,
  settleCall,
  textAt,
} from './call-channel.ts';
import type { Outgoing } from './outgoing.ts';
import { BROKEN, type EventsEnd, type Guarding } from './state.ts';

/** Takes the tool calls of an event, and judges those that are whole. Gives why the stream ends before it, if it does. */
export async function takeCalls(
  state: Guarding,
  parts: EventParts,
  outgoing: Outgoing,
): Promise<EventsEnd | null> {
  for (const piece of parts.pieces) {
    if (piece.kind === 'arguments' && !takePiece(state, piece, outgoing)) return BROKEN;
  }
  const ending = parts.is_last ? [...state.calls.keys()] : parts.closed;
  for (const name of ending) {
    const end = await endCall(state, name);
    if (end !== null) return end;
  }
  for (const piece of parts.repeats) {
    const end = piece.kind === 'arguments' ? await takeAgain(state, piece, outgoing) : null;
    if (end !== null) return end;
  }
  return null;
}

/** Whether there is anything here that takes time. */
export function hasCalls({ calls }: Guarding, { pieces, repeats, closed, is_last }: EventParts): boolean {
  const isOfCall = ({ kind }: EventPiece): boolean => kind === 'arguments';
  return (
    pieces.some(isOfCall) || repeats.some(isOfCall) || (calls.size > 0 && (is_last || closed.length > 0))
  );
}

function takePiece(state: Guarding, piece: EventPiece, outgoing: Outgoing): boolean {
  let call = state.calls.get(piece.channel);
  if (call === undefined) {
    call = openCall();
    state.calls.set(piece.channel, call);
  }
  if (call.judged !== null) return false;
  addToCall(call, piece, outgoing);
  return true;
}

/** Judges a call that has not been judged. */
export async function endCall(state: Guarding, name: string): Promise<EventsEnd | null> {
  const call = state.calls.get(name);
  if (call === undefined || call.judged !== null) return null;
  return judge(state, call);
}

async function judge({ answering }: Guarding, call: CallChannel): Promise<EventsEnd | null> {
  if (saysTwo(call)) return BROKEN;
  const asked = { tool: call.tool, arguments: argumentsOf(call), is_free: call.is_free };
  const guarded = await guardCall(asked, answering);
  if (guarded.denied !== null) return { how: 'denied', denial: guarded.denied };
  settleCall(call, guarded.arguments);
  return null;
}

/** A call that is said again goes out as it did before; one that is not the same, or is new, is judged here. */
async function takeAgain(state: Guarding, piece: EventPiece, outgoing: Outgoing): Promise<EventsEnd | null> {
  const { node, channel: name } = piece;
  const end = await endCall(state, name);
  if (end !== null) return end;
  const known = state.calls.get(name);
  const again = node.kind === 'string' ? node.value : textAt(outgoing, node);
  if (known !== undefined && known.judged !== null && saysAgain(known, again)) {
    if (again === known.judged) return null;
    const { start, end: until } = node;
    outgoing.edits.push(
      node.kind === 'string' ? written(node, known.judged) : { start, end: until, text: known.judged },
    );
    return null;
  }
  const call = openCall();
  addToCall(call, piece, outgoing);
  if (known === undefined) state.calls.set(name, call);
  return judge(state, call);
}
