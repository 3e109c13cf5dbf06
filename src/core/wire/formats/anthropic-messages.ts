import { getCount, getItems, getMember, getMembers, getText, getUniqueText } from '../../json/nodes.ts';
import type { JsonNode } from '../../types/json.ts';
import {
  type AnswerDraft,
  addEcho,
  addMember,
  addMemberPieces,
  addPiece,
  addStrayItem,
  addTexts,
  closeChannels,
  endStream,
  failAnswer,
  requireList,
  requireText,
} from '../answer-draft.ts';
import { openAnthropicEnding } from '../anthropic-ending.ts';
import { writeAnthropicErrorBody, writeAnthropicErrorEvents } from '../anthropic-errors.ts';
import { readMessagesRequest } from '../anthropic-request.ts';
import { ANTHROPIC } from '../anthropic-vocabulary.ts';
import { createEventReader, readWholeAnswer, setEventName } from '../event-reader.ts';
import { findUnlistedCall } from '../unlisted-calls.ts';
import type { EventReader, WireFormat, WireUsage } from '../wire-format.ts';

/** `POST /v1/messages` of Anthropic. */
export const anthropicMessages: WireFormat = {
  name: 'anthropic.messages',
  family: 'anthropic',
  routes: [
    {
      path: '/v1/messages',
      summary: 'Anthropic messages, guarded',
      example: {
        model: 'claude-sonnet-4-5',
        max_tokens: 256,
        messages: [{ role: 'user', content: 'Say hello.' }],
      },
    },
  ],
  // Many other services have `/messages` too, so without a version prefix it must be the whole path.
  path_pattern: /(?:^|\/v\d[^/]*)\/messages$/i,
  operation_name: 'chat',
  readRequest: readMessagesRequest,
  readAnswer: (body) => readWholeAnswer(ANTHROPIC, readMessage, body),
  openEvents,
  errorBody: writeAnthropicErrorBody,
  errorEvents: writeAnthropicErrorEvents,
  openEnding: openAnthropicEnding,
};

/** Reads a whole message. The first event of a stream contains a message without content. */
function readMessage(draft: AnswerDraft, message: JsonNode): boolean {
  draft.id = getText(message, 'id');
  draft.model = getText(message, 'model');
  draft.usage = readAnthropicUsage(getMember(message, 'usage'), null);
  addReason(draft, message);
  if (message.kind !== 'object') addTexts(draft, message, 'free');
  // Some clients number blocks from those in the initial message.
  if (draft.is_stream && getItems(getMember(message, 'content')).length > 0) failAnswer(draft);
  for (const member of getMembers(message)) {
    const { key, value } = member;
    if (key.value === 'content') requireList(draft, value);
    if (key.value !== 'content' || value.kind !== 'array') addMember(draft, member, message);
    else for (const [at, block] of value.items.entries()) readBlock(draft, `block.${at}`, block);
  }
  return true;
}

function addReason(draft: AnswerDraft, holder: JsonNode | null): void {
  const reason = getText(holder, 'stop_reason');
  if (reason !== null) draft.finish_reasons.push(reason);
}

/** Reads a block or the beginning of one, whose content continues in later events. */
function readBlock(draft: AnswerDraft, channel: string, block: JsonNode): void {
  if (block.kind !== 'object') {
    addStrayItem(draft, block);
    return;
  }
  const type = getUniqueText(block, 'type');
  // Some clients convert a list with one type to a string and read it as that type.
  requireText(draft, getMember(block, 'type') ?? block);
  // The provider itself calls server tools, so their input is a text like any other.
  const call = PROVIDER_CALLS.has(type ?? '') ? null : findUnlistedCall(block);
  if (call !== null) addPiece(draft, channel, 'arguments', call.arguments, { call });
  for (const member of block.members) {
    const { key, value } = member;
    if (value === call?.arguments) continue;
    if (JOINED.includes(key.value)) requireText(draft, value);
    if (key.value === type && JOINED.includes(type) && value.kind === 'string') {
      addPiece(draft, channel, 'text', value, { joins: [type] });
    } else if (type === 'redacted_thinking' && key.value === 'data') addTexts(draft, value, 'sealed');
    else addMember(draft, member, block);
    if (key.value === 'signature') addEcho(draft, channel, value, '""');
  }
}

/** Calls that the provider runs itself. A client may run any other, also one that is not known here. */
const PROVIDER_CALLS: ReadonlySet<string> = new Set(['server_tool_use', 'mcp_tool_use']);

/** Types of blocks whose text is in a member of the same name and which clients concatenate. */
const JOINED: readonly string[] = ['text', 'thinking'];

/**
 * The progress of a stream's blocks. Clients find a block by its index, by its order, or as the one that is open.
 */
interface Blocks {
  /** The index of the next block. */
  next: number;
  /** The type of the open block; `null` if none is open. */
  open: string | null;
  has_begun: boolean;
  /** `true` once the message has stated its stop reason. */
  has_ended: boolean;
}

function openEvents(): EventReader {
  const known: { usage: WireUsage | null } = { usage: null };
  const blocks: Blocks = { next: 0, open: null, has_begun: false, has_ended: false };
  return createEventReader(ANTHROPIC, (draft, body, name) => {
    const type = getUniqueText(body, 'type');
    setEventName(draft, name, type);
    if (!checkBlockOrder(draft, type, body, blocks)) return false;
    readEvent(draft, type, body, blocks);
    const usage = getMember(body, 'usage') ?? getMember(getMember(body, 'message'), 'usage');
    if (usage?.kind === 'object') known.usage = readAnthropicUsage(usage, known.usage);
    draft.usage = usage?.kind === 'object' ? known.usage : null;
    return true;
  });
}

/**
 * The events that have these members. A client that reads the member regardless of the event would read it in
 * others too.
 */
const HOLDERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['message', ['message_start']],
  ['content_block', ['content_block_start']],
  ['delta', ['content_block_delta', 'message_delta']],
]);

function holdsItsOwn(type: string, body: JsonNode): boolean {
  return getMembers(body).every(({ key, value }) => {
    const holders = value.kind === 'object' ? HOLDERS.get(key.value) : undefined;
    return holders === undefined || holders.includes(type);
  });
}

/**
 * Checks the order of the events; returns `false` if one is out of order, because clients would place it
 * differently.
 */
function checkBlockOrder(draft: AnswerDraft, type: string | null, body: JsonNode, blocks: Blocks): boolean {
  const index = getCount(body, 'index');
  if (!holdsItsOwn(type ?? '', body)) return false;
  if (type === 'message_start') {
    if (blocks.has_begun || blocks.next > 0) return false;
    blocks.has_begun = true;
  } else if (type === 'content_block_start') {
    if (blocks.has_ended || index !== blocks.next) return false;
    if (index > 0) closeChannels(draft, `block.${index - 1}`);
    blocks.next += 1;
    blocks.open = getUniqueText(getMember(body, 'content_block'), 'type') ?? '';
  } else if (type === 'content_block_delta') {
    if (blocks.has_ended || blocks.open === null || index !== blocks.next - 1) return false;
    if (!isDeltaOf(blocks.open, getMember(body, 'delta'))) return false;
  } else if (type === 'content_block_stop') {
    if (blocks.open === null || index !== blocks.next - 1) return false;
    blocks.open = null;
  } else if (type === 'message_delta' && getText(getMember(body, 'delta'), 'stop_reason') !== null) {
    blocks.has_ended = true;
  }
  return true;
}

/**
 * Members of deltas that continue a block: the type of the delta, and the suffix of the type of the block.
 */
const DELTAS: ReadonlyMap<string, readonly [type: string, block: string]> = new Map([
  ['text', ['text_delta', 'text']],
  ['thinking', ['thinking_delta', 'thinking']],
  ['partial_json', ['input_json_delta', 'tool_use']],
]);

/**
 * Returns whether a delta fits the open block. Some clients ignore a delta that does not, and some do not.
 */
function isDeltaOf(block: string, delta: JsonNode | null): boolean {
  const type = getUniqueText(delta, 'type');
  return getMembers(delta).every(({ key }) => {
    const expected = DELTAS.get(key.value);
    return expected === undefined || (type === expected[0] && block.endsWith(expected[1]));
  });
}

function readEvent(draft: AnswerDraft, type: string | null, body: JsonNode, { next }: Blocks): void {
  const channel = `block.${next - 1}`;
  for (const member of getMembers(body)) {
    const { key, value } = member;
    if (key.value === 'message' && type === 'message_start') readMessage(draft, value);
    else if (key.value === 'content_block' && type === 'content_block_start')
      readBlock(draft, channel, value);
    else if (key.value === 'delta' && type === 'content_block_delta') readDelta(draft, channel, value);
    else addMember(draft, member, body);
  }
  if (type === 'message_delta') addReason(draft, getMember(body, 'delta'));
  if (type === 'content_block_stop') closeChannels(draft, channel);
  if (type === 'message_stop' || type === 'error') endStream(draft);
}

function readDelta(draft: AnswerDraft, channel: string, delta: JsonNode): void {
  if (delta.kind !== 'object') addTexts(draft, delta);
  const kind = draft.channels.calls.has(channel) ? 'arguments' : 'text';
  for (const member of getMembers(delta)) {
    const { key, value } = member;
    if (JOINED.includes(key.value)) requireText(draft, value);
    if (value.kind === 'string' && JOINED.includes(key.value)) {
      addPiece(draft, channel, 'text', value, { joins: [key.value] });
    } else if (value.kind === 'string' && key.value === 'partial_json') addPiece(draft, channel, kind, value);
    else if (key.value === 'citation') addMember(draft, member, delta);
    else addMemberPieces(draft, member, delta, channel);
    if (key.value === 'signature') addEcho(draft, channel, value, '""');
  }
  // The signature ends the text that it covers, so held parts of that text must be sent first.
  if (getMember(delta, 'signature') !== null) closeChannels(draft, channel);
}

/**
 * Reads the usage. The input is reported in three parts that add up. In a stream the first event reports the input,
 * and every later figure is a new total that replaces it.
 */
function readAnthropicUsage(usage: JsonNode | null, before: WireUsage | null): WireUsage | null {
  if (usage?.kind !== 'object') return before;
  const { input_tokens = 0, output_tokens = 0, cache_read_tokens = 0, cache_write_tokens = 0 } = before ?? {};
  const fresh = input_tokens - cache_read_tokens - cache_write_tokens;
  const read = getCount(usage, 'cache_read_input_tokens') ?? cache_read_tokens;
  const written = getCount(usage, 'cache_creation_input_tokens') ?? cache_write_tokens;
  const kept = getCount(getMember(usage, 'cache_creation'), 'ephemeral_1h_input_tokens');
  const cacheWrite1hTokens = kept ?? before?.cache_write_1h_tokens ?? 0;
  return {
    input_tokens: (getCount(usage, 'input_tokens') ?? fresh) + read + written,
    output_tokens: getCount(usage, 'output_tokens') ?? output_tokens,
    cache_read_tokens: read,
    cache_write_tokens: written,
    ...(cacheWrite1hTokens > 0 && { cache_write_1h_tokens: cacheWrite1hTokens }),
  };
}
