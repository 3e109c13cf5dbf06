import {
  type AnswerDraft,
  addEcho,
  addMember,
  addMemberPieces,
  addPiece,
  addTexts,
  closeChannels,
  endStream,
} from '../answer.ts';
import { openAnthropicEnding } from '../anthropic-ending.ts';
import { anthropicErrorBody, anthropicErrorEvents } from '../anthropic-errors.ts';
import { readMessagesRequest } from '../anthropic-request.ts';
import { ANTHROPIC } from '../anthropic-vocabulary.ts';
import { openJsonEvents, readWhole } from '../events.ts';
import { countOf, memberOf, membersOf, onlyTextOf, textOf } from '../nodes.ts';
import type { EventReader, JsonNode, WireFormat, WireUsage } from '../types.ts';

/** `POST /v1/messages` of Anthropic. */
export const anthropicMessages: WireFormat = {
  name: 'anthropic.messages',
  family: 'anthropic',
  operation_name: 'chat',
  readRequest: readMessagesRequest,
  readAnswer: (body) => readWhole(ANTHROPIC, readMessage, body),
  openEvents,
  errorBody: anthropicErrorBody,
  errorEvents: anthropicErrorEvents,
  openEnding: openAnthropicEnding,
};

/** A whole message; the first event of a stream holds one without its content. */
function readMessage(draft: AnswerDraft, message: JsonNode): boolean {
  draft.id = textOf(message, 'id');
  draft.model = textOf(message, 'model');
  draft.usage = usageOf(memberOf(message, 'usage'), null);
  addReason(draft, message);
  if (message.kind !== 'object') addTexts(draft, message, 'free');
  for (const member of membersOf(message)) {
    const { key, value } = member;
    if (key.value !== 'content' || value.kind !== 'array') addMember(draft, member, message);
    else for (const [at, block] of value.items.entries()) readBlock(draft, `block.${at}`, block);
  }
  return true;
}

function addReason(draft: AnswerDraft, holder: JsonNode | null): void {
  const reason = textOf(holder, 'stop_reason');
  if (reason !== null) draft.finish_reasons.push(reason);
}

/** A block, or the beginning of one: what it holds goes on in the events that follow. */
function readBlock(draft: AnswerDraft, channel: string, block: JsonNode): void {
  if (block.kind !== 'object') {
    addTexts(draft, block);
    return;
  }
  const type = onlyTextOf(block, 'type');
  // Tools of servers are called by the provider itself: what they are asked is a text like any other.
  const input = type === 'tool_use' ? memberOf(block, 'input') : null;
  if (type === 'tool_use') {
    const named = { tool: textOf(block, 'name'), call_id: textOf(block, 'id') };
    addPiece(draft, channel, 'arguments', input ?? { kind: 'null', start: block.end, end: block.end }, named);
  }
  for (const member of block.members) {
    const { key, value } = member;
    if (value === input) continue;
    if ((key.value === 'text' || key.value === 'thinking') && value.kind === 'string') {
      addPiece(draft, channel, 'text', value);
    } else if (type === 'redacted_thinking' && key.value === 'data') addTexts(draft, value, 'sealed');
    else addMember(draft, member, block);
    if (key.value === 'signature') addEcho(draft, channel, value, '""');
  }
}

function openEvents(): EventReader {
  const known: { usage: WireUsage | null } = { usage: null };
  return openJsonEvents(ANTHROPIC, (draft, body) => {
    readEvent(draft, body);
    const usage = memberOf(body, 'usage') ?? memberOf(memberOf(body, 'message'), 'usage');
    if (usage?.kind === 'object') known.usage = usageOf(usage, known.usage);
    draft.usage = usage?.kind === 'object' ? known.usage : null;
    return true;
  });
}

function readEvent(draft: AnswerDraft, body: JsonNode): void {
  const type = onlyTextOf(body, 'type');
  const channel = `block.${countOf(body, 'index') ?? 0}`;
  for (const member of membersOf(body)) {
    const { key, value } = member;
    if (key.value === 'message' && type === 'message_start') readMessage(draft, value);
    else if (key.value === 'content_block') readBlock(draft, channel, value);
    else if (key.value === 'delta' && type === 'content_block_delta') readDelta(draft, channel, value);
    else addMember(draft, member, body);
  }
  if (type === 'message_delta') addReason(draft, memberOf(body, 'delta'));
  if (type === 'content_block_stop') closeChannels(draft, channel);
  if (type === 'message_stop' || type === 'error') endStream(draft);
}

function readDelta(draft: AnswerDraft, channel: string, delta: JsonNode): void {
  if (delta.kind !== 'object') addTexts(draft, delta);
  const kind = draft.channels.calls.has(channel) ? 'arguments' : 'text';
  for (const member of membersOf(delta)) {
    const { key, value } = member;
    if (value.kind === 'string' && (key.value === 'text' || key.value === 'thinking')) {
      addPiece(draft, channel, 'text', value);
    } else if (value.kind === 'string' && key.value === 'partial_json') addPiece(draft, channel, kind, value);
    else if (key.value === 'citation') addMember(draft, member, delta);
    else addMemberPieces(draft, member, delta, channel);
    if (key.value === 'signature') addEcho(draft, channel, value, '""');
  }
  // The signature is the end of what it vouches for: what of that is held has to go out first.
  if (memberOf(delta, 'signature') !== null) closeChannels(draft, channel);
}

/**
 * What went in and out. The input is given in three parts that add up. In a stream the beginning says what went
 * in, and every later figure is a new total that counts in its place.
 */
function usageOf(usage: JsonNode | null, before: WireUsage | null): WireUsage | null {
  if (usage?.kind !== 'object') return before;
  const { input_tokens = 0, output_tokens = 0, cache_read_tokens = 0, cache_write_tokens = 0 } = before ?? {};
  const fresh = input_tokens - cache_read_tokens - cache_write_tokens;
  const read = countOf(usage, 'cache_read_input_tokens') ?? cache_read_tokens;
  const written = countOf(usage, 'cache_creation_input_tokens') ?? cache_write_tokens;
  const kept = countOf(memberOf(usage, 'cache_creation'), 'ephemeral_1h_input_tokens');
  const cache_write_1h_tokens = kept ?? before?.cache_write_1h_tokens ?? 0;
  return {
    input_tokens: (countOf(usage, 'input_tokens') ?? fresh) + read + written,
    output_tokens: countOf(usage, 'output_tokens') ?? output_tokens,
    cache_read_tokens: read,
    cache_write_tokens: written,
    ...(cache_write_1h_tokens > 0 && { cache_write_1h_tokens }),
  };
}
