import {
  getCount,
  getItems,
  getListIndex,
  getMember,
  getMembers,
  getStringNode,
  getText,
  getUniqueText,
} from '../json/nodes.ts';
import { quoteJson } from '../json/splice.ts';
import type { JsonNode } from '../types/json.ts';
import type { AnswerDraft } from './answer-draft.ts';
import { isBase64, looksLikeIdentifier } from './vocabulary.ts';

/**
 * The progress of a streamed response. Clients find items by index, by id or by order, and ignore events that do
 * not fit the item, so an event that clients could place differently is refused. Some servers send no index, a new
 * id with each event, or no event at the beginning of a message. Their events are sent with the index and the id of
 * the item that they were judged with, so that every client places them there.
 */
export interface OutputItems {
  /** In order; the index of the last item is the length less one. */
  readonly list: Item[];
}

interface Item {
  readonly type: string;
  /** The id with which its events are sent; `null` until an event states one. */
  id: string | null;
  readonly call_id: string | null;
  /** The number of parts that its content has so far. */
  parts: number;
  is_done: boolean;
  /** Per text: `true` if the events about it state an id, as the first of them does. */
  readonly has_id: Map<string, boolean>;
}

/** Returns the state without any items. */
export function createOutputItems(): OutputItems {
  return { list: [] };
}

/** Types of items, by the name of the events about their texts and arguments. */
const ITEM_OF: ReadonlyMap<string, string> = new Map([
  ['output_text', 'message'],
  ['refusal', 'message'],
  ['function_call_arguments', 'function_call'],
  ['custom_tool_call_input', 'custom_tool_call'],
  ['mcp_call_arguments', 'mcp_call'],
  ['code_interpreter_call_code', 'code_interpreter_call'],
  ['reasoning_text', 'reasoning'],
  ['reasoning_summary_text', 'reasoning'],
  ['reasoning_summary_part', 'reasoning'],
  ['reasoning_part', 'reasoning'],
]);
/** Types of items that may begin without an event. A call may not, because its tool would be unknown. */
const UNANNOUNCED = new Set(['message', 'reasoning']);

const BEGINNINGS = new Set(['response.created', 'response.queued', 'response.in_progress']);
export const FINAL_EVENTS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

/** Returns whether every text and call at the end of a response was sent before, if any was. */
export function endsAsAnnounced(
  reported: ReadonlySet<string>,
  { repeats }: AnswerDraft,
  { list }: OutputItems,
): boolean {
  if (list.length === 0) return true;
  return repeats.every(({ kind, joins, channel }) => {
    const isOwn = kind === 'text' && joins.length === 0;
    return isOwn || reported.has(channel);
  });
}

/**
 * Checks the order of the events. Returns the index of the item that an event is about; `null` if it is out of
 * order.
 */
export function checkEventOrder(
  draft: AnswerDraft,
  type: string,
  event: JsonNode,
  { list }: OutputItems,
): number | null {
  const output = getMember(getMember(event, 'response'), 'output');
  if (BEGINNINGS.has(type)) return getItems(output).length === 0 ? 0 : null;
  if (FINAL_EVENTS.has(type)) return endsList(draft, output, list) ? 0 : null;
  const name = NAME.exec(type)?.[1] ?? '';
  if (!PLACED.test(type) || !(ITEM_OF.has(name) || OF_ITEMS.has(name)))
    return getCount(event, 'output_index') ?? 0;
  const item = getMember(event, 'item');
  const isNew = type === 'response.output_item.added';
  const at = getListIndex(event, 'output_index', isNew ? list.length : findItem(event, item, list));
  if (at === null || (isNew && at !== list.length)) return null;
  if (at === list.length) beginItem(list, name, item);
  const known = list[at];
  if (known === undefined || known.is_done) return null;
  writeOutputIndex(draft, event, at);
  if (isNew) return getItems(getMember(item, 'content')).length === 0 ? at : null;
  if (type === 'response.output_item.done') {
    known.is_done = true;
    return known.type === (getUniqueText(item, 'type') ?? '') ? at : null;
  }
  return isAbout(name, type, event, known) && writeItemId(draft, type, event, known) ? at : null;
}

const PLACED = /\.(?:added|delta|done)$/;
const NAME = /^response\.([a-z_]+)\./;
/** Names of events about items and parts of any type. */
const OF_ITEMS = new Set(['output_item', 'content_part']);

/**
 * Returns the index of the item of an event without an index: the item with its id, else the last item that is not
 * done.
 */
function findItem(event: JsonNode, item: JsonNode | null, list: readonly Item[]): number {
  const id = getText(event, 'item_id') ?? getText(item, 'id');
  const callId = getText(item, 'call_id');
  const stated = list.findLastIndex(
    (each) => (id !== null && each.id === id) || (callId !== null && each.call_id === callId),
  );
  if (stated !== -1) return stated;
  const last = list.findLastIndex((each) => !each.is_done);
  return last === -1 ? list.length : last;
}

/** Begins the next item if the event states its type. */
function beginItem(list: Item[], name: string, item: JsonNode | null): void {
  const expected = name === 'content_part' ? 'message' : (ITEM_OF.get(name) ?? '');
  if (name !== 'output_item' && !UNANNOUNCED.has(expected)) return;
  list.push({
    type: name === 'output_item' ? (getUniqueText(item, 'type') ?? '') : expected,
    id: getText(item, 'id') || null,
    call_id: getText(item, 'call_id'),
    parts: 0,
    is_done: false,
    has_id: new Map(),
  });
}

function writeOutputIndex({ repairs }: AnswerDraft, event: JsonNode, at: number): void {
  const index = getMember(event, 'output_index');
  if (index === null) {
    const comma = getMembers(event).length === 0 ? '' : ',';
    repairs.push({ start: event.start + 1, end: event.start + 1, text: `"output_index":${at}${comma}` });
  } else if (index.kind === 'null') repairs.push({ start: index.start, end: index.end, text: `${at}` });
}

/** Longer values are not ids, and would be repeated in each event. */
const ID_UNITS_MAX = 2_048;

function isId(id: string): boolean {
  return looksLikeIdentifier(id) || (id.length <= ID_UNITS_MAX && isBase64(id));
}

/** Makes an event state the id of its item; returns `false` if only some events about a text state one. */
function writeItemId(
  { repairs, put_words }: AnswerDraft,
  type: string,
  event: JsonNode,
  item: Item,
): boolean {
  const stated = getStringNode(event, 'item_id');
  if (stated === null && (getMember(event, 'item_id')?.kind ?? 'null') !== 'null') return false;
  if (stated !== null) {
    item.id ??= stated.value;
    if (stated.value !== item.id) {
      if (!isId(item.id)) return false;
      put_words.push(item.id);
      repairs.push({ start: stated.start, end: stated.end, text: quoteJson(item.id) });
    }
  }
  if (!type.endsWith('.delta')) return true;
  const indices = INDICES.map((key) => getListIndex(event, key, 0));
  const channel = `${NAME.exec(type)?.[1] ?? ''}.${indices.join('.')}`;
  const first = item.has_id.get(channel) ?? stated !== null;
  item.has_id.set(channel, first);
  return first === (stated !== null);
}

const INDICES = ['content_index', 'summary_index', 'command_index'];

/** Returns whether an event fits its item. */
function isAbout(name: string, type: string, event: JsonNode, item: Item): boolean {
  const expected = ITEM_OF.get(name);
  if (expected !== undefined && expected !== item.type) return false;
  const indices = INDICES.map((key) => getListIndex(event, key, 0));
  if (indices.includes(null)) return false;
  if (type !== 'response.content_part.added') return true;
  item.parts += 1;
  return indices[0] === item.parts - 1;
}

/**
 * Returns whether the final list repeats the items that were sent, in order, possibly not all of them. If no item
 * was sent, it may have any, but only if no text was sent either.
 */
function endsList({ channels }: AnswerDraft, output: JsonNode | null, list: readonly Item[]): boolean {
  const items = getItems(output);
  if (list.length === 0) return channels.whole.size + channels.open.size === 0;
  return (
    items.length <= list.length && items.every((item, at) => getUniqueText(item, 'type') === list[at]?.type)
  );
}
