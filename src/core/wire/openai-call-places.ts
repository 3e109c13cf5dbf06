import { getListIndex, getMember, getMembers, getStringNode, getText } from '../json/nodes.ts';
import { quoteJson } from '../json/splice.ts';
import type { JsonNode } from '../types/json.ts';
import { type AnswerDraft, type CallIdentity, failAnswer } from './answer-draft.ts';

/**
 * The places of the tool calls of a stream. Clients assemble a call by its index. Given another name or id at an
 * index, some clients read another call, and some the same call under a new name. Some servers send index 0, or
 * none, for every parallel call. Each call is therefore judged separately, and its events are sent with an index of
 * its own.
 */
export interface CallPlaces {
  /** The state of each choice: the open call for each index of the provider, and the next free index. */
  readonly by_root: Map<string, { readonly by_index: Map<number | null, OpenCall>; next: number }>;
}

interface OpenCall {
  readonly at: number;
  tool: string | null;
  call_id: string | null;
}

/** The place of a piece of a call, and the identity of the call if this piece states something new. */
export interface CallPlace {
  readonly at: number;
  readonly name: CallIdentity;
}

/** The maximum number of calls; no real answer has as many. Some clients allocate a list up to the index. */
const CALLS_MAX = 1_024;

/** Returns the state without any calls. */
export function createCallPlaces(): CallPlaces {
  return { by_root: new Map() };
}

/** Returns the name and the id in a call. Empty ones count as missing. */
export function readCallName(call: JsonNode, part: JsonNode | null): CallIdentity {
  return { tool: getText(part, 'name'), call_id: call === part ? null : getText(call, 'id') };
}

/** Returns the place of a piece. If its event states another place, the event is rewritten. */
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
  const stated = { tool: getText(part, 'name') || null, call_id: getText(call, 'id') || null };
  let open = known.by_index.get(index);
  if (open === undefined || isAnother(open, stated)) {
    open = { at: Math.max(index ?? 0, known.next), ...stated };
    known.by_index.set(index, open);
    known.next = open.at + 1;
  } else {
    // Clients differ in whether a repeated name replaces the first one or is appended to it.
    const again = open.tool === null ? null : getStringNode(part, 'name');
    if (again !== null && again.value !== '')
      draft.repairs.push({ start: again.start, end: again.end, text: quoteJson('') });
    open.tool ??= stated.tool;
    open.call_id ??= stated.call_id;
  }
  if (index !== open.at) writeCallIndex(draft, call, open.at);
  return { at: open.at, name: { tool: open.tool, call_id: open.call_id } };
}

/** A new id alone does not mean a new call, because some servers generate an id for each piece. */
function isAnother(open: OpenCall, stated: CallIdentity): boolean {
  if (stated.tool === null || open.tool === null) return false;
  return (
    stated.tool !== open.tool ||
    (stated.call_id !== null && stated.call_id !== (open.call_id ?? stated.call_id))
  );
}

function writeCallIndex({ repairs }: AnswerDraft, call: JsonNode, at: number): void {
  const index = getMember(call, 'index');
  if (index !== null) repairs.push({ start: index.start, end: index.end, text: `${at}` });
  else {
    const comma = getMembers(call).length === 0 ? '' : ',';
    repairs.push({ start: call.start + 1, end: call.start + 1, text: `"index":${at}${comma}` });
  }
}
