import type { EventParts, EventPiece } from '../../../core/wire/wire-format.ts';
import { guardToolCall } from '../guard-tool-call.ts';
import { buildStringSplice } from '../texts.ts';
import {
  addCallPiece,
  applyJudgedArguments,
  type CallChannel,
  hasConflictingArguments,
  isRepeatedCall,
  joinArguments,
  openCallChannel,
  readValueText,
} from './call-channel.ts';
import { type AnswerEnding, BROKEN_END, type GuardState } from './guard-state.ts';
import type { OutgoingEvent } from './outgoing-event.ts';

/**
 * Processes the tool calls of an event, and judges those that are complete. Returns the end of the stream if it must
 * end before this event.
 */
export async function processCalls(
  state: GuardState,
  parts: EventParts,
  outgoing: OutgoingEvent,
): Promise<AnswerEnding | null> {
  for (const piece of parts.pieces) {
    if (piece.kind === 'arguments' && !addPiece(state, piece, outgoing)) return BROKEN_END;
  }
  const ending = parts.is_last ? [...state.calls.keys()] : parts.closed;
  for (const name of ending) {
    const end = await judgeEndedCall(state, name);
    if (end !== null) return end;
  }
  for (const piece of parts.repeats) {
    const end = piece.kind === 'arguments' ? await processRepeat(state, piece, outgoing) : null;
    if (end !== null) return end;
  }
  return null;
}

/** Returns whether the event needs asynchronous work on tool calls. */
export function hasCallWork(
  { calls }: GuardState,
  { pieces, repeats, closed, is_last }: EventParts,
): boolean {
  const isOfCall = ({ kind }: EventPiece): boolean => kind === 'arguments';
  return (
    pieces.some(isOfCall) || repeats.some(isOfCall) || (calls.size > 0 && (is_last || closed.length > 0))
  );
}

function addPiece(state: GuardState, piece: EventPiece, outgoing: OutgoingEvent): boolean {
  let call = state.calls.get(piece.channel);
  if (call === undefined) {
    call = openCallChannel();
    state.calls.set(piece.channel, call);
  }
  if (call.judged !== null) return false;
  addCallPiece(call, piece, outgoing);
  return true;
}

/** Judges a call that has not been judged. */
export async function judgeEndedCall(state: GuardState, name: string): Promise<AnswerEnding | null> {
  const call = state.calls.get(name);
  if (call === undefined || call.judged !== null) return null;
  return judgeCall(state, call);
}

async function judgeCall({ context }: GuardState, call: CallChannel): Promise<AnswerEnding | null> {
  if (hasConflictingArguments(call)) return BROKEN_END;
  const request = { tool: call.tool, arguments: joinArguments(call), is_free: call.is_free };
  const guarded = await guardToolCall(request, context);
  if (guarded.denied !== null) return { how: 'denied', denial: guarded.denied };
  applyJudgedArguments(call, guarded.arguments);
  return null;
}

/** Processes a repeated call. If it equals the earlier one, it is sent as that was sent; else it is judged here. */
async function processRepeat(
  state: GuardState,
  piece: EventPiece,
  outgoing: OutgoingEvent,
): Promise<AnswerEnding | null> {
  const { node, channel: name } = piece;
  const end = await judgeEndedCall(state, name);
  if (end !== null) return end;
  const known = state.calls.get(name);
  const again = node.kind === 'string' ? node.value : readValueText(outgoing, node);
  if (known !== undefined && known.judged !== null && isRepeatedCall(known, again)) {
    if (again === known.judged) return null;
    const { start, end: until } = node;
    outgoing.edits.push(
      node.kind === 'string'
        ? buildStringSplice(node, known.judged)
        : { start, end: until, text: known.judged },
    );
    return null;
  }
  const call = openCallChannel();
  addCallPiece(call, piece, outgoing);
  if (known === undefined) state.calls.set(name, call);
  return judgeCall(state, call);
}
