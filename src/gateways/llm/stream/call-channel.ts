import { canonicalizeJson } from '../../../core/policy/compile/canonical-json.ts';
import type { Json } from '../../../core/types/index.ts';
import type { JsonNode, StringNode } from '../../../core/types/json.ts';
import type { EventPiece } from '../../../core/wire/wire-format.ts';
import { buildStringSplice } from '../texts.ts';
import type { OutgoingEvent } from './outgoing-event.ts';

/** One tool call of a streamed answer. Its events are held until the complete call is judged. */
export interface CallChannel {
  tool: string | null;
  /** See `EventPiece`. */
  is_free: boolean;
  readonly pieces: { readonly outgoing: OutgoingEvent; readonly node: StringNode }[];
  /** The arguments if they come as a JSON value instead of a string. */
  whole: { readonly outgoing: OutgoingEvent; readonly node: JsonNode } | null;
  /** The arguments to forward; `null` before the call is judged. */
  judged: string | null;
}

/** Opens the channel of a call before its first piece. */
export function openCallChannel(): CallChannel {
  return { tool: null, is_free: false, pieces: [], whole: null, judged: null };
}

/** Adds the piece of a call in an event. */
export function addCallPiece(
  call: CallChannel,
  { node, tool, is_free }: EventPiece,
  outgoing: OutgoingEvent,
): void {
  call.tool ??= tool;
  call.is_free ||= is_free;
  if (node.kind === 'string') call.pieces.push({ outgoing, node });
  else call.whole = { outgoing, node };
}

/** Joins all received arguments, as JSON. If all pieces are blank, the initial arguments count. */
export function joinArguments({ pieces, whole }: CallChannel): string {
  const text = pieces.map(({ node }) => node.value).join('');
  return whole === null || text.trim() !== '' ? text : readValueText(whole.outgoing, whole.node);
}

/** Returns whether a call began with arguments and continued with different ones. Clients differ in which they use. */
export function hasConflictingArguments(call: CallChannel): boolean {
  const { pieces, whole } = call;
  if (whole === null || pieces.every(({ node }) => node.value.trim() === '')) return false;
  const begun = readValueText(whole.outgoing, whole.node).trim();
  return begun !== '' && begun !== 'null' && !/^\{\s*\}$/.test(begun) && !isRepeatedCall(call, begun);
}

/** Returns the JSON text of a value in an event. */
export function readValueText({ event }: OutgoingEvent, { start, end }: JsonNode): string {
  return event.data.slice(start, end);
}

/**
 * Writes the judged arguments into the events of the call: all into the first event with arguments, none into the
 * others. An event that only opens the call stays unchanged.
 */
export function applyJudgedArguments(call: CallChannel, judged: string): void {
  const isChanged = judged !== joinArguments(call);
  call.judged = judged;
  if (!isChanged) return;
  const { pieces, whole } = call;
  const bringing = pieces.filter(({ node }) => node.value !== '');
  (bringing.length > 0 || whole !== null ? bringing : pieces.slice(0, 1)).forEach(
    ({ outgoing, node }, at) => {
      outgoing.edits.push(buildStringSplice(node, at === 0 ? judged : ''));
    },
  );
  if (whole === null || bringing.length > 0) return;
  const { start, end } = whole.node;
  whole.outgoing.edits.push({ start, end, text: judged });
}

/** Returns whether an event repeats the call, as text or as a value. */
export function isRepeatedCall(call: CallChannel, again: string): boolean {
  const received = joinArguments(call);
  if (received === again) return true;
  const form = canonicalizeArguments(received);
  return form !== null && form === canonicalizeArguments(again);
}

function canonicalizeArguments(text: string): string | null {
  try {
    return canonicalizeJson(text.trim() === '' ? {} : (JSON.parse(text) as Json));
  } catch {
    return null;
  }
}
