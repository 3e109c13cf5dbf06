import { getListIndex, getMember, getMembers, getStringNode, getText } from '../json/nodes.ts';
import { quoteJson } from '../json/splice.ts';
import type { JsonNode } from '../types/json.ts';
import { type AnswerDraft, type CallIdentity, failAnswer } from './answer-draft.ts';

/**
 * The places of the tool calls of a stream. Clients put a call together by its index; some take another name or id at
 * an index for another call, some for the same call under a new name. Servers exist that give every parallel call the
 * index 0, or none. So each call is judged by itself, and its events go out with an index of its own.
 */
export interface CallPlaces {
  /** By choice: the call that an index of the provider stands for by now, and the next index that is free. */
  readonly by_root: Map<string, { readonly by_index: Map<number | null, OpenCall>; next: number }>;
}

interface OpenCall {
  readonly at: number;
  tool: string | null;
  call_id: string | null;
}

/** The place of a piece of a call, and what it is called as far as this piece says something new. */
export interface CallPlace {
  readonly at: number;
  readonly name: CallIdentity;
}

/** More calls than any answer has; an index is a place in a list that clients make so long. */
const CALLS_MAX = 1_024;

/** No calls yet. */
export function createCallPlaces(): CallPlaces {
  return { by_root: new Map() };
}

/** The name and the id that a call says; blank ones are none. */
export function readCallName(call: JsonNode, part: JsonNode | null): CallIdentity {
  return { tool: getText(part, 'name'), call_id: call === part ? null : getText(call, 'id') };
}

/** Finds the place of a piece, and has its event say this place where it says another one. */
export function findCallPlace(
  draft: AnswerDraft,
  root: string,
  call: JsonNode,
  part: JsonNode | null,
  { by_root }: CallPlaces,
): CallPlace {
  const known = by_root.get(root) ?? { by_index: new Map(), next: 0 };
  by_root.set(root, known);
  const index = getListIndex(call, 'index', -1);
  if (index === null || index >= CALLS_MAX || known.next >= CALLS_MAX) failAnswer(draft);
  const said = { tool: getText(part, 'name') || null, call_id: getText(call, 'id') || null };
  let open = known.by_index.get(index);
  if (open === undefined || isAnother(open, said)) {
    open = { at: Math.max(index ?? 0, known.next), ...said };
    known.by_index.set(index, open);
    known.next = open.at + 1;
  } else {
    // Clients differ in whether a name that is said again takes the place of the first, or is added to it.
    const again = open.tool === null ? null : getStringNode(part, 'name');
    if (again !== null && again.value !== '')
      draft.repairs.push({ start: again.start, end: again.end, text: quoteJson('') });
    open.tool ??= said.tool;
    open.call_id ??= said.call_id;
  }
  if (index !== open.at) sayPlace(draft, call, open.at);
  return { at: open.at, name: { tool: open.tool, call_id: open.call_id } };
}

/** An id alone is no sign of another call: there are servers that make up a new one for each piece. */
function isAnother(open: OpenCall, said: CallIdentity): boolean {
  if (said.tool === null || open.tool === null) return false;
  return (
    said.tool !== open.tool || (said.call_id !== null && said.call_id !== (open.call_id ?? said.call_id))
  );
}

function sayPlace({ repairs }: AnswerDraft, call: JsonNode, at: number): void {
  const index = getMember(call, 'index');
  if (index !== null) repairs.push({ start: index.start, end: index.end, text: `${at}` });
  else {
    const comma = getMembers(call).length === 0 ? '' : ',';
    repairs.push({ start: call.start + 1, end: call.start + 1, text: `"index":${at}${comma}` });
  }
}
