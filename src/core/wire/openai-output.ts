import { getCount, getItems, getMember, getMembers, getText, getUniqueText } from '../json/nodes.ts';
import type { JsonNode } from '../types/json.ts';
import {
  type AnswerDraft,
  addEcho,
  addMember,
  addMemberPieces,
  addMemberUnless,
  addPiece,
  addRepeat,
  addStrayItem,
  addTexts,
  addUnlistedCall,
  type CallIdentity,
  closeAllChannels,
  closeChannels,
  endStream,
  requireList,
  requireText,
} from './answer-draft.ts';
import { type BodyReader, setEventName } from './event-reader.ts';
import { findClientCall, isToolOfNamespace } from './openai-items.ts';
import { checkEventOrder, createOutputItems, endsAsAnnounced, FINAL_EVENTS } from './openai-output-order.ts';
import type { AnswerContext, WireUsage } from './wire-format.ts';

/**
 * Members of a response that repeat the request. Their texts that were in the request were judged as input. Other
 * texts, such as those of a prompt that the provider stores, are texts of the answer.
 */
export const REQUEST_MEMBERS: ReadonlySet<string> = new Set(
  `instructions metadata prompt prompt_cache_key safety_identifier text tools tool_choice user conversation
   previous_response_id`.split(/\s+/),
);

/** Reads a whole response, from an answer or from the first and last events of a stream. */
export function readResponseObject(draft: AnswerDraft, response: JsonNode, request?: AnswerContext): boolean {
  draft.id = getText(response, 'id');
  draft.model = getText(response, 'model');
  draft.usage = getUsage(getMember(response, 'usage'));
  const status = getText(response, 'status');
  if (status !== null && status !== 'in_progress' && status !== 'queued') draft.finish_reasons.push(status);
  if (response.kind !== 'object') addTexts(draft, response, 'free');
  for (const member of getMembers(response)) {
    const { key, value } = member;
    if (key.value === 'output') requireList(draft, value);
    if (REQUEST_MEMBERS.has(key.value))
      addMemberUnless(draft, member, response, request?.repeatable ?? NOTHING);
    else if (key.value !== 'output' || value.kind !== 'array') addMember(draft, member, response);
    else for (const [at, item] of value.items.entries()) readItem(draft, `item.${at}`, item, addRepeat);
  }
  return true;
}

const NOTHING: ReadonlySet<string> = new Set();

/** Members of events that hold a whole object. */
const WHOLE = new Set(['response', 'item', 'part']);

/** Returns a reader of the events of one stream. */
export function createOutputReader(request?: AnswerContext): BodyReader {
  const items = createOutputItems();
  return (draft, event, name) => {
    const type = getUniqueText(event, 'type') ?? '';
    setEventName(draft, name, type);
    const at = checkEventOrder(draft, type, event, items);
    if (at === null) return false;
    const { whole, open, closed } = draft.channels;
    const reported = FINAL_EVENTS.has(type) ? new Set([...whole, ...open, ...closed]) : null;
    const root = `item.${at}`;
    const inner = getMember(event, INNER.get(type) ?? '');
    for (const member of getMembers(event)) {
      // A client that reads the member regardless of the event type would read it too.
      const isWhole = WHOLE.has(member.key.value) && member.value.kind === 'object';
      if (isWhole && member.value !== inner) return false;
      const isRead = inner === null ? isTextMember(type, member.key.value) : member.value === inner;
      const isReplaced = draft.repairs.some(({ start }) => start === member.value.start);
      if (!isRead && !isReplaced) addMember(draft, member, event);
    }
    if (inner !== null) readInner(draft, type, root, event, inner, request);
    else if (ABOUT_TEXT.test(type)) readText(draft, type, root, event);
    if (type === 'response.output_item.done') closeChannels(draft, root);
    if (reported !== null && !endsAsAnnounced(reported, draft, items)) return false;
    if (reported !== null) endStream(draft);
    if (type === 'error') {
      // `response.failed` may follow, or nothing.
      closeAllChannels(draft);
      draft.finish_reasons.push('failed');
    }
    return true;
  };
}

/** Events that hold a whole object, and the member that does. */
const INNER: ReadonlyMap<string, string> = new Map([
  ['response.created', 'response'],
  ['response.queued', 'response'],
  ['response.in_progress', 'response'],
  ['response.completed', 'response'],
  ['response.incomplete', 'response'],
  ['response.failed', 'response'],
  ['response.output_item.added', 'item'],
  ['response.output_item.done', 'item'],
  ['response.content_part.added', 'part'],
  ['response.content_part.done', 'part'],
  // vLLM sends events of its own for the parts of its reasoning.
  ['response.reasoning_part.added', 'part'],
  ['response.reasoning_part.done', 'part'],
  ['response.reasoning_summary_part.added', 'part'],
  ['response.reasoning_summary_part.done', 'part'],
]);

/** Members of the events about one text that contain or repeat that text. */
const TEXT_KEYS = ['text', 'refusal', 'arguments', 'input', 'code', 'command', 'transcript', 'delta'];

const ABOUT_TEXT = /\.(?:delta|done|added)$/;

function isTextMember(type: string, key: string): boolean {
  return ABOUT_TEXT.test(type) && (TEXT_KEYS.includes(key) || key === 'logprobs');
}

type Add = typeof addRepeat;

function readInner(
  draft: AnswerDraft,
  type: string,
  root: string,
  event: JsonNode,
  inner: JsonNode,
  request: AnswerContext | undefined,
): void {
  const add = type.endsWith('.added') ? addPiece : addRepeat;
  if (INNER.get(type) === 'response') readResponseObject(draft, inner, request);
  else if (INNER.get(type) === 'item') readItem(draft, root, inner, add);
  else {
    const index = getCount(event, 'content_index') ?? getCount(event, 'summary_index') ?? 0;
    readPart(draft, root, index, inner, add);
  }
}

/** Texts that clients concatenate across parts and items: by kind, and all texts of contents. */
const JOINED: ReadonlyMap<string, readonly string[]> = new Map([
  ['output_text', ['output_text', 'contents']],
  ['refusal', ['refusal', 'contents']],
  ['reasoning_text', ['reasoning_text', 'contents']],
  ['reasoning_summary_text', ['reasoning_summary_text']],
]);

function getJoins(name: string): readonly string[] {
  return JOINED.get(name) ?? [];
}

/** Returns the identity of the call that an event about arguments states, if any. Events leave the namespace out. */
function getCall({ channels: { calls } }: AnswerDraft, channel: string, event: JsonNode): CallIdentity {
  const name = getText(event, 'name');
  const known = calls.get(channel)?.tool ?? null;
  const isKnown = name !== null && known !== null && isToolOfNamespace(known, name);
  return { tool: isKnown ? known : name, call_id: getText(event, 'call_id') };
}

/** Returns the name of a text's channel: the name of its events and its index within the item. */
function getChannel(root: string, name: string, index: number): string {
  return `${root}.${name}.${index}`;
}

/** Arguments of calls that the client has to execute. The input of the provider's own tools is a text. */
const ARGUMENTS = new Set(['function_call_arguments', 'custom_tool_call_input']);

/** Reads a piece of one text, or all of it at its end. */
function readText(draft: AnswerDraft, type: string, root: string, event: JsonNode): void {
  const name = type.replace(/^response\./, '').replace(ABOUT_TEXT, '');
  const index =
    getCount(event, 'content_index') ??
    getCount(event, 'summary_index') ??
    getCount(event, 'command_index') ??
    0;
  const channel = ARGUMENTS.has(name) ? `${root}.call` : getChannel(root, name, index);
  const kind = ARGUMENTS.has(name) ? 'arguments' : 'text';
  const more = { joins: getJoins(name), call: getCall(draft, channel, event) };
  const add = type.endsWith('.done') ? addRepeat : addPiece;
  for (const member of getMembers(event)) {
    const { key, value } = member;
    if (!TEXT_KEYS.includes(key.value)) continue;
    if (name === 'audio') {
      addTexts(draft, value, 'sealed');
      addEcho(draft, getChannel(root, 'audio.transcript', index), value, '""');
    } else if (value.kind === 'string') add(draft, channel, kind, value, more);
    else if (more.joins.length > 0) requireText(draft, value);
    else if (key.value === 'delta') addMemberPieces(draft, member, event, channel);
    else addMember(draft, member, event);
  }
  readLogprobs(draft, channel, event);
  if (type.endsWith('.done')) closeChannels(draft, channel);
}

/**
 * Reads an item. Parts with events of their own are added to the channels of these events, all others as own texts.
 */
function readItem(draft: AnswerDraft, root: string, item: JsonNode, add: Add): void {
  if (item.kind !== 'object') {
    addStrayItem(draft, item);
    return;
  }
  const type = getUniqueText(item, 'type') ?? '';
  // Some clients convert a list with one type to a string and read it as that type.
  requireText(draft, getMember(item, 'type') ?? item);
  const call = addCall(draft, root, item, add);
  for (const member of item.members) {
    const { key, value } = member;
    const isList = value.kind === 'array' && (key.value === 'content' || key.value === 'summary');
    if (value === call) continue;
    if (key.value === 'content' || key.value === 'summary') requireList(draft, value);
    if (isList) for (const [at, part] of getItems(value).entries()) readPart(draft, root, at, part, add);
    else if (value.kind === 'string' && type === 'mcp_call' && key.value === 'arguments') {
      add(draft, getChannel(root, 'mcp_call_arguments', 0), 'text', value);
    } else if (value.kind === 'string' && type === 'code_interpreter_call' && key.value === 'code') {
      add(draft, getChannel(root, 'code_interpreter_call_code', 0), 'text', value);
    } else if (type === 'image_generation_call' && key.value === 'result') addTexts(draft, value, 'sealed');
    else addMember(draft, member, item);
  }
}

/** Types of calls whose arguments are strings. */
const STRING_CALLS = new Set(['function_call', 'custom_tool_call', 'mcp_approval_request']);

/**
 * Adds and returns the arguments of a call that the client has to execute; `null` if the item is not such a call.
 */
function addCall(draft: AnswerDraft, root: string, item: JsonNode, add: Add): JsonNode | null {
  const call = findClientCall(item);
  if (call === null) return null;
  const named: CallIdentity = {
    ...call,
    is_free: getUniqueText(item, 'type') === 'custom_tool_call',
  };
  // When an item begins, a string of arguments continues in later events, and any other value comes whole later.
  const type = getUniqueText(item, 'type') ?? '';
  if (add === addPiece && call.arguments.kind !== 'string' && !STRING_CALLS.has(type)) return null;
  add(draft, `${root}.call`, 'arguments', call.arguments, { call: named });
  return call.arguments;
}

/** Types of parts, with the member that holds the text and the name of its events. */
const PARTS: ReadonlyMap<string, readonly [key: string, name: string]> = new Map([
  ['output_text', ['text', 'output_text']],
  ['refusal', ['refusal', 'refusal']],
  ['reasoning_text', ['text', 'reasoning_text']],
  ['summary_text', ['text', 'reasoning_summary_text']],
  ['output_audio', ['transcript', 'audio.transcript']],
]);

function readPart(draft: AnswerDraft, root: string, index: number, part: JsonNode, add: Add): void {
  if (part.kind !== 'object') {
    addStrayItem(draft, part);
    return;
  }
  const call = addUnlistedCall(draft, part);
  const [text, name] = PARTS.get(getUniqueText(part, 'type') ?? '') ?? ['', ''];
  const channel = getChannel(root, name, index);
  for (const member of part.members) {
    const { key, value } = member;
    if (value === call) continue;
    if (key.value === text || key.value === 'text') requireText(draft, value);
    if (value.kind === 'string' && (key.value === text || key.value === 'text')) {
      const isOwn = key.value === text;
      const stated = isOwn ? channel : getChannel(root, 'unknown_part', index);
      add(draft, stated, 'text', value, { joins: getJoins(isOwn ? name : 'output_text') });
    } else if (name === 'audio.transcript' && key.value === 'data') {
      addTexts(draft, value, 'sealed');
      addEcho(draft, channel, value, '""');
    } else if (key.value !== 'logprobs' || name === '') addMember(draft, member, part);
  }
  if (name !== '') readLogprobs(draft, channel, part);
}

/**
 * Reads log probabilities, which repeat a text token by token. Without such a text they are texts themselves.
 */
function readLogprobs(draft: AnswerDraft, channel: string, holder: JsonNode): void {
  const isSaid = [...draft.pieces, ...draft.repeats].some((each) => each.channel === channel);
  for (const member of getMembers(holder)) {
    if (member.key.value !== 'logprobs') continue;
    if (isSaid && member.value.kind === 'array') addEcho(draft, channel, member.value, '[]');
    else addMember(draft, member, holder);
  }
}

function getUsage(usage: JsonNode | null): WireUsage | null {
  const input = getCount(usage, 'input_tokens');
  if (input === null) return null;
  const details = getMember(usage, 'input_tokens_details');
  return {
    input_tokens: input,
    output_tokens: getCount(usage, 'output_tokens') ?? 0,
    cache_read_tokens: getCount(details, 'cached_tokens') ?? 0,
    cache_write_tokens: getCount(details, 'cache_write_tokens') ?? 0,
  };
}
