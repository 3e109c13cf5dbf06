import { findLargestCount, getCount, getMember, getMembers, getText, getUniqueText } from '../json/nodes.ts';
import { quoteJson } from '../json/splice.ts';
import type { JsonNode } from '../types/json.ts';
import { GEMINI, toCamelCase } from './gemini-vocabulary.ts';
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

/**
 * Reads the body of a Gemini request. The path, not the body, states the model and whether the answer is streamed.
 */
export function readGenerateRequest(body: JsonNode): WireRequest {
  const draft = createRequestDraft(GEMINI);
  if (body.kind !== 'object') addRequestText(draft, 'other', body, 'free');
  const configs: JsonNode[] = [];
  for (const member of getMembers(body)) {
    const { value } = member;
    const key = toCamelCase(member.key.value);
    if (key === 'generationConfig') configs.push(value);
    if (key === 'contents' && value.kind === 'array')
      for (const each of value.items) readContent(draft, each);
    else if (key === 'contents') readContent(draft, value);
    else if (key === 'systemInstruction') addRequestText(draft, 'system', value);
    else addRequestMember(draft, key === 'tools' ? 'tool_definition' : 'other', member, body);
  }
  return finishRequest(draft, body, {
    is_stream: false,
    max_output_tokens: findLargestCount(configs, ['maxOutputTokens', 'max_output_tokens'], getFigure),
    choices: findLargestCount(configs, ['candidateCount', 'candidate_count'], getFigure) ?? 1,
    usage_splice: null,
  });
}

/** Returns a count; Gemini accepts a string for one too. */
function getFigure(config: JsonNode, key: string): number | null {
  const written = getText(config, key) ?? '';
  return /^\d{1,9}$/.test(written) ? Number(written) : getCount(config, key);
}

const ROLES: ReadonlyMap<string | null, WireText['role']> = new Map([
  [null, 'user'],
  ['user', 'user'],
  ['model', 'assistant'],
  ['system', 'system'],
]);

function readContent(draft: RequestDraft, content: JsonNode): void {
  const role = ROLES.get(getUniqueText(content, 'role')) ?? 'other';
  if (content.kind !== 'object') addRequestText(draft, 'user', content);
  for (const member of getMembers(content)) {
    const { key, value } = member;
    if (key.value !== 'parts' || value.kind !== 'array') addRequestMember(draft, role, member, content);
    else for (const part of value.items) readPart(draft, role, part);
  }
}

function readPart(draft: RequestDraft, role: WireText['role'], part: JsonNode): void {
  if (part.kind !== 'object') addRequestText(draft, role, part);
  for (const member of getMembers(part)) {
    const { value } = member;
    const key = toCamelCase(member.key.value);
    if (value.kind === 'object' && RESULTS.has(key)) readResult(draft, key, value);
    else {
      if (key === 'functionCall') nameCall(draft, value);
      addRequestMember(draft, role, member, part);
    }
  }
}

function nameCall(draft: RequestDraft, call: JsonNode): void {
  const id = getText(call, 'id');
  const name = getText(call, 'name');
  if (id !== null && name !== null) draft.calls.set(id, name);
}

/** Parts that hold tool results, and the members with the results. */
const RESULTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['functionResponse', ['response', 'parts']],
  ['codeExecutionResult', ['output']],
  ['toolResponse', ['response']],
]);

function readResult(draft: RequestDraft, key: string, result: JsonNode): void {
  const given = getMembers(result).filter((each) => RESULTS.get(key)?.includes(each.key.value));
  for (const member of getMembers(result)) {
    if (!given.includes(member)) addRequestMember(draft, 'other', member, result);
  }
  const name = getText(result, 'name') ?? (key === 'codeExecutionResult' ? 'code_execution' : null);
  const replaced = (notice: string) =>
    given.map(({ key: { value: of }, value }) => {
      if (of === 'parts') return replaceNodeText(value, '[]');
      return replaceNodeText(
        value,
        of === 'response' ? JSON.stringify({ error: notice }) : quoteJson(notice),
      );
    });
  const call = { tool: name, call_id: getMember(result, 'id') === null ? null : getText(result, 'id') };
  // The function defines its result, so nothing in it belongs to the protocol.
  addToolResult(
    draft,
    call,
    given.map((each) => each.value),
    replaced,
    (value) =>
      given.some((each) => each.value === value && each.key.value === 'response') ? 'free' : 'said',
  );
}
