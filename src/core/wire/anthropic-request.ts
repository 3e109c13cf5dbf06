import {
  findLargestCount,
  getItems,
  getMembers,
  getText,
  getUniqueText,
  isMemberTrue,
} from '../json/nodes.ts';
import { quoteJson } from '../json/splice.ts';
import type { JsonNode, Splice } from '../types/json.ts';
import { ANTHROPIC } from './anthropic-vocabulary.ts';
import {
  addRequestMember,
  addRequestText,
  addToolResult,
  createRequestDraft,
  finishRequest,
  type RequestDraft,
  replaceNodeText,
} from './request-draft.ts';
import type { WireRequest, WireText } from './wire-format.ts';

/** Reads the body of a request to Anthropic's Messages API or to its token counting. */
export function readMessagesRequest(body: JsonNode): WireRequest {
  const draft = createRequestDraft(ANTHROPIC);
  if (body.kind !== 'object') addRequestText(draft, 'other', body, 'free');
  for (const member of getMembers(body)) {
    const { key, value } = member;
    if (key.value === 'messages' && value.kind === 'array') {
      for (const message of value.items) readMessage(draft, message);
    } else if (key.value === 'system') readContent(draft, 'system', value);
    else addRequestMember(draft, key.value === 'tools' ? 'tool_definition' : 'other', member, body);
  }
  return finishRequest(draft, body, {
    is_stream: isMemberTrue(body, 'stream'),
    max_output_tokens: findLargestCount([body], ['max_tokens']),
    choices: 1,
    usage_splice: null,
  });
}

function readMessage(draft: RequestDraft, message: JsonNode): void {
  const saidBy = getUniqueText(message, 'role');
  const role = saidBy === 'user' || saidBy === 'assistant' || saidBy === 'system' ? saidBy : 'other';
  if (message.kind !== 'object') addRequestText(draft, 'other', message);
  for (const member of getMembers(message)) {
    if (member.key.value === 'content') readContent(draft, role, member.value);
    else addRequestMember(draft, 'other', member, message);
  }
}

function readContent(draft: RequestDraft, role: WireText['role'], content: JsonNode): void {
  if (content.kind !== 'array') addRequestText(draft, role, content);
  for (const block of getItems(content)) readBlock(draft, role, block);
}

/** The type of a tool result ends in this, for tools of the client, of MCP servers and of the provider. */
const RESULT = /tool_result$/;
/** The type of a call ends in this. */
const CALL = /tool_use$/;

function readBlock(draft: RequestDraft, role: WireText['role'], block: JsonNode): void {
  const type = getUniqueText(block, 'type') ?? '';
  if (block.kind !== 'object') addRequestText(draft, role, block);
  else if (type === 'thinking') readThinking(draft, block);
  else if (RESULT.test(type)) readResult(draft, type, block);
  else {
    const id = getText(block, 'id');
    const name = getText(block, 'name');
    if (CALL.test(type) && id !== null && name !== null) draft.calls.set(id, name);
    for (const member of block.members) {
      if (type === 'redacted_thinking' && member.key.value === 'data')
        addRequestText(draft, role, member.value, 'sealed');
      else addRequestMember(draft, role, member, block);
    }
  }
}

/** The block that replaces withheld reasoning, because a block must not be empty. */
const WITHHELD = '{"type":"text","text":"[reasoning withheld]"}';

/**
 * Reads a block of reasoning. The provider signs reasoning and refuses it if it was changed. Reasoning that would
 * change is therefore removed whole. So is reasoning without a signature, because this service changed it in an
 * earlier answer.
 */
function readThinking(draft: RequestDraft, block: JsonNode): void {
  const out: readonly Splice[] = [replaceNodeText(block, WITHHELD)];
  if ((getText(block, 'signature') ?? '') === '') {
    draft.repairs.push(...out);
    return;
  }
  const before = draft.texts.length;
  for (const member of getMembers(block)) addRequestMember(draft, 'assistant', member, block);
  for (let at = before; at < draft.texts.length; at++) {
    draft.texts[at] = { ...draft.texts[at]!, if_changed: out };
  }
}

function readResult(draft: RequestDraft, type: string, block: JsonNode): void {
  const contents = getMembers(block).filter((each) => each.key.value === 'content');
  const callId = getText(block, 'tool_use_id');
  addToolResult(
    draft,
    { tool: null, call_id: callId },
    contents.map((each) => each.value),
    (notice) => contents.map(({ value }) => replaceNodeText(value, buildNotice(type, notice))),
  );
  for (const member of getMembers(block)) {
    if (member.key.value !== 'content') addRequestMember(draft, 'other', member, block);
  }
}

/**
 * Returns a notice in the form of a result. The provider's own tools have different forms of results; the form that
 * fits them all is their error.
 */
function buildNotice(type: string, notice: string): string {
  if (type === 'tool_result' || type === 'mcp_tool_result') return quoteJson(notice);
  return JSON.stringify({ type: `${type}_error`, error_code: 'unavailable' });
}
