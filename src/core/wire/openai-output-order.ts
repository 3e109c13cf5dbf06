import type { AnswerDraft } from './answer.ts';
import { itemsOf, memberOf, onlyTextOf, placeOf, textOf } from './nodes.ts';
import type { JsonNode } from './types.ts';

/**
 * How far the items of a streamed response have come. Clients find items by index, by id or by their order, and pass
 * over events that do not fit the item: an event that some would put elsewhere is refused.
 */
export interface Items {
  /** In their order; the last one's index is the length less one. */
  readonly list: Item[];
}

interface Item {
  readonly type: string;
  /** How many parts its content has by now. */
  parts: number;
  is_done: boolean;
  /** The id by which events about each of its texts go, of the first of them. */
  readonly ids: Map<string, string>;
}

/** No items yet. */
export function startItems(): Items {
  return { list: [] };
}

/** Types of items, by what the events about their texts and arguments are called. */
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
]);

const BEGINNINGS = new Set(['response.created', 'response.queued', 'response.in_progress']);
export const ENDINGS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

/** Whether all texts and calls that the end of a response says are those that came before, where any came. */
export function endsAsTold(told: ReadonlySet<string>, { repeats }: AnswerDraft, { list }: Items): boolean {
  if (list.length === 0) return true;
  return repeats.every(({ kind, joins, channel }) => {
    const is_own = kind === 'text' && joins.length === 0;
    return is_own || told.has(channel);
  });
}

/** Follows the order of the events; `false` if one is out of order. */
export function takeTurn(draft: AnswerDraft, type: string, event: JsonNode, { list }: Items): boolean {
  if (BEGINNINGS.has(type)) return itemsOf(memberOf(memberOf(event, 'response'), 'output')).length === 0;
  if (ENDINGS.has(type)) return isEndOf(draft, memberOf(memberOf(event, 'response'), 'output'), list);
  const name = NAME.exec(type)?.[1] ?? '';
  if (!PLACED.test(type) || !(ITEM_OF.has(name) || OF_ITEMS.has(name))) return true;
  const at = placeOf(event, 'output_index', null);
  if (at === null) return false;
  const item = memberOf(event, 'item');
  const is_new = type === 'response.output_item.added';
  if (is_new || (type === 'response.output_item.done' && at === list.length))
    list.push({ type: onlyTextOf(item, 'type') ?? '', parts: 0, is_done: false, ids: new Map() });
  if (is_new) return at === list.length - 1 && itemsOf(memberOf(item, 'content')).length === 0;
  const known = list[at];
  if (known === undefined || known.is_done) return false;
  if (type !== 'response.output_item.done') return isAbout(name, type, event, known);
  known.is_done = true;
  return known.type === (onlyTextOf(item, 'type') ?? '');
}

const PLACED = /\.(?:added|delta|done)$/;
const NAME = /^response\.([a-z_]+)\./;
/** Names of events about items and parts of any type. */
const OF_ITEMS = new Set(['output_item', 'content_part']);

/** Whether an event goes with its item, and with what came of the same text before. */
function isAbout(name: string, type: string, event: JsonNode, item: Item): boolean {
  const expected = ITEM_OF.get(name);
  if (expected !== undefined && expected !== item.type) return false;
  const indices = ['content_index', 'summary_index', 'command_index'].map((key) => placeOf(event, key, 0));
  if (indices.includes(null)) return false;
  if (type === 'response.content_part.added') {
    item.parts += 1;
    return indices[0] === item.parts - 1;
  }
  if (!type.endsWith('.delta')) return true;
  const channel = `${name}.${indices.join('.')}`;
  const id = textOf(event, 'item_id') ?? '';
  const first = item.ids.get(channel) ?? id;
  item.ids.set(channel, first);
  return id === first;
}

/** Whether the end tells the items that came, in their order, or as many of them as it tells; or all, if none came. */
function isEndOf({ channels }: AnswerDraft, output: JsonNode | null, list: readonly Item[]): boolean {
  const items = itemsOf(output);
  if (list.length === 0) return channels.whole.size + channels.open.size === 0;
  return (
    items.length <= list.length && items.every((item, at) => onlyTextOf(item, 'type') === list[at]?.type)
  );
}
