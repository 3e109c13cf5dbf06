import { type AnswerDraft, blank, finishAnswer, hear, hearMember, startAnswer } from '../answer.ts';
import { anthropicErrorBody, anthropicErrorEvents } from '../anthropic-errors.ts';
import { callOf, isClientCall, readMessagesRequest } from '../anthropic-request.ts';
import { ANTHROPIC } from '../anthropic-vocabulary.ts';
import {
  addMemberPieces,
  addMemberTexts,
  addPiece,
  addTexts,
  closeAll,
  closeChannels,
  type EventDraft,
  openJsonEvents,
} from '../events.ts';
import { countOf, memberOf, membersOf, onlyTextOf, stringOf, textOf } from '../nodes.ts';
import type { EventReader, JsonNode, WireAnswer, WireFormat, WireUsage } from '../types.ts';

/** `POST /v1/messages` of Anthropic. */
export const anthropicMessages: WireFormat = {
  name: 'anthropic.messages',
  family: 'anthropic',
  operation_name: 'chat',
  readRequest: readMessagesRequest,
  readAnswer,
  openEvents,
  errorBody: anthropicErrorBody,
  errorEvents: anthropicErrorEvents,
};

function readAnswer(body: JsonNode): WireAnswer {
  const draft = startAnswer(ANTHROPIC);
  if (body.kind !== 'object') hear(draft, body, 'free');
  for (const member of membersOf(body)) {
    if (member.key.value !== 'content' || member.value.kind !== 'array') hearMember(draft, member, body);
    else for (const block of member.value.items) readBlock(draft, block);
  }
  const reason = textOf(body, 'stop_reason');
  if (reason !== null) draft.finish_reasons.push(reason);
  return finishAnswer(draft, body, usageOf(memberOf(body, 'usage'), null));
}

function readBlock(draft: AnswerDraft, block: JsonNode): void {
  if (block.kind !== 'object') {
    hear(draft, block);
    return;
  }
  const type = onlyTextOf(block, 'type');
  const is_call = isClientCall(block);
  if (is_call) draft.tool_calls.push({ ...callOf(block), arguments: memberOf(block, 'input')! });
  for (const member of block.members) {
    const { key, value } = member;
    if (is_call && key.value === 'input' && value === memberOf(block, 'input')) continue;
    if (type === 'redacted_thinking' && key.value === 'data') hear(draft, value, 'sealed');
    else hearMember(draft, member, block);
  }
  const thinking = stringOf(block, 'thinking');
  const splice = blank(block, 'signature', '""');
  if (thinking !== null && splice !== null) draft.echoes.push({ of: thinking, splice });
}

/**
 * What went in and out. The input is given in three parts that add up. In a stream the beginning says what went
 * in, and every later figure is a new total that counts in its place.
 */
function usageOf(usage: JsonNode | null, before: WireUsage | null): WireUsage | null {
  if (usage?.kind !== 'object') return before;
  const read = countOf(usage, 'cache_read_input_tokens') ?? before?.cache_read_tokens ?? 0;
  const written = countOf(usage, 'cache_creation_input_tokens') ?? before?.cache_write_tokens ?? 0;
  const fresh_before =
    before === null ? 0 : before.input_tokens - before.cache_read_tokens - before.cache_write_tokens;
  return {
    input_tokens: (countOf(usage, 'input_tokens') ?? fresh_before) + read + written,
    output_tokens: countOf(usage, 'output_tokens') ?? before?.output_tokens ?? 0,
    cache_read_tokens: read,
    cache_write_tokens: written,
  };
}

function openEvents(): EventReader {
  const known: { usage: WireUsage | null } = { usage: null };
  return openJsonEvents(ANTHROPIC, (draft, body) => {
    readEvent(draft, body);
    const usage = memberOf(body, 'usage') ?? memberOf(memberOf(body, 'message'), 'usage');
    if (usage !== null) known.usage = usageOf(usage, known.usage);
    draft.usage = usage === null ? null : known.usage;
    return true;
  });
}

function readEvent(draft: EventDraft, body: JsonNode): void {
  const type = onlyTextOf(body, 'type');
  const channel = `block.${countOf(body, 'index') ?? 0}`;
  for (const member of membersOf(body)) {
    const { key, value } = member;
    if (type === 'message_start' && key.value === 'message') readStart(draft, value);
    else if (type === 'content_block_start' && key.value === 'content_block')
      readBlockStart(draft, channel, value);
    else if (type === 'content_block_delta' && key.value === 'delta') readDelta(draft, channel, value);
    else addMemberTexts(draft, member, body);
  }
  const reason = type === 'message_delta' ? textOf(memberOf(body, 'delta'), 'stop_reason') : null;
  if (reason !== null) draft.finish_reasons.push(reason);
  if (type === 'content_block_stop') closeChannels(draft, channel);
  if (type !== 'message_stop' && type !== 'error') return;
  closeAll(draft);
  draft.is_last = true;
}

function readStart(draft: EventDraft, message: JsonNode): void {
  draft.id = textOf(message, 'id');
  draft.model = textOf(message, 'model');
  addTexts(draft, message);
}

function readBlockStart(draft: EventDraft, channel: string, block: JsonNode): void {
  if (block.kind !== 'object') {
    addTexts(draft, block);
    return;
  }
  const type = onlyTextOf(block, 'type');
  const is_call = isClientCall(block);
  for (const member of block.members) {
    const { key, value } = member;
    if (is_call && key.value === 'input') addPiece(draft, channel, 'arguments', value, callOf(block));
    else if ((key.value === 'text' || key.value === 'thinking') && value.kind === 'string') {
      addPiece(draft, channel, 'text', value);
    } else if (type === 'redacted_thinking' && key.value === 'data') addTexts(draft, value, 'sealed');
    else addMemberTexts(draft, member, block);
  }
  const splice = blank(block, 'signature', '""');
  if (splice !== null && splice.end - splice.start > 2) draft.echoes.push({ of: channel, splice });
}

function readDelta(draft: EventDraft, channel: string, delta: JsonNode): void {
  if (delta.kind !== 'object') {
    addTexts(draft, delta);
    return;
  }
  for (const member of delta.members) {
    const { key, value } = member;
    const is_text = key.value === 'text' || key.value === 'thinking';
    if (value.kind === 'string' && is_text) addPiece(draft, channel, 'text', value);
    else if (value.kind === 'string' && key.value === 'partial_json') {
      const is_call = draft.channels.calls.has(channel);
      addPiece(draft, channel, is_call ? 'arguments' : 'text', value);
    } else if (key.value === 'citation') addMemberTexts(draft, member, delta);
    else addMemberPieces(draft, member, delta, channel);
  }
  const splice = blank(delta, 'signature', '""');
  if (splice === null) return;
  // The signature is the end of what it vouches for: what of that is held has to go out first.
  draft.echoes.push({ of: channel, splice });
  closeChannels(draft, channel);
}
