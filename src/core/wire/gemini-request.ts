import { countOf, largestCountOf, memberOf, membersOf, onlyTextOf, textOf } from '../json/nodes.ts';
import { jsonString } from '../json/splice.ts';
import type { JsonNode } from '../types/json.ts';
import { camelCase, GEMINI } from './gemini-vocabulary.ts';
import {
  finishRequest,
  inPlaceOf,
  type RequestDraft,
  say,
  sayMember,
  sayResult,
  startRequest,
} from './request.ts';
import type { WireRequest, WireText } from './types.ts';

/** Reads what Gemini is asked with. Model and streaming are in the path, and not here. */
export function readGenerateRequest(body: JsonNode): WireRequest {
  const draft = startRequest(GEMINI);
  if (body.kind !== 'object') say(draft, 'other', body, 'free');
  const configs: JsonNode[] = [];
  for (const member of membersOf(body)) {
    const { value } = member;
    const key = camelCase(member.key.value);
    if (key === 'generationConfig') configs.push(value);
    if (key === 'contents' && value.kind === 'array')
      for (const each of value.items) readContent(draft, each);
    else if (key === 'contents') readContent(draft, value);
    else if (key === 'systemInstruction') say(draft, 'system', value);
    else sayMember(draft, key === 'tools' ? 'tool_definition' : 'other', member, body);
  }
  return finishRequest(draft, body, {
    is_stream: false,
    max_output_tokens: largestCountOf(configs, ['maxOutputTokens', 'max_output_tokens'], figureOf),
    choices: largestCountOf(configs, ['candidateCount', 'candidate_count'], figureOf) ?? 1,
    usage_splice: null,
  });
}

/** A count; Gemini takes one as a string too. */
function figureOf(config: JsonNode, key: string): number | null {
  const written = textOf(config, key) ?? '';
  return /^\d{1,9}$/.test(written) ? Number(written) : countOf(config, key);
}

const ROLES: ReadonlyMap<string | null, WireText['role']> = new Map([
  [null, 'user'],
  ['user', 'user'],
  ['model', 'assistant'],
  ['system', 'system'],
]);

function readContent(draft: RequestDraft, content: JsonNode): void {
  const role = ROLES.get(onlyTextOf(content, 'role')) ?? 'other';
  if (content.kind !== 'object') say(draft, 'user', content);
  for (const member of membersOf(content)) {
    const { key, value } = member;
    if (key.value !== 'parts' || value.kind !== 'array') sayMember(draft, role, member, content);
    else for (const part of value.items) readPart(draft, role, part);
  }
}

function readPart(draft: RequestDraft, role: WireText['role'], part: JsonNode): void {
  if (part.kind !== 'object') say(draft, role, part);
  for (const member of membersOf(part)) {
    const { value } = member;
    const key = camelCase(member.key.value);
    if (value.kind === 'object' && RESULTS.has(key)) readResult(draft, key, value);
    else {
      if (key === 'functionCall') nameCall(draft, value);
      sayMember(draft, role, member, part);
    }
  }
}

function nameCall(draft: RequestDraft, call: JsonNode): void {
  const id = textOf(call, 'id');
  const name = textOf(call, 'name');
  if (id !== null && name !== null) draft.calls.set(id, name);
}

/** Parts that hold what a tool gave back, and the members that do. */
const RESULTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['functionResponse', ['response', 'parts']],
  ['codeExecutionResult', ['output']],
  ['toolResponse', ['response']],
]);

function readResult(draft: RequestDraft, key: string, result: JsonNode): void {
  const given = membersOf(result).filter((each) => RESULTS.get(key)?.includes(each.key.value));
  for (const member of membersOf(result)) {
    if (!given.includes(member)) sayMember(draft, 'other', member, result);
  }
  const name = textOf(result, 'name') ?? (key === 'codeExecutionResult' ? 'code_execution' : null);
  const replaced = (notice: string) =>
    given.map(({ key: { value: of }, value }) => {
      if (of === 'parts') return inPlaceOf(value, '[]');
      return inPlaceOf(value, of === 'response' ? JSON.stringify({ error: notice }) : jsonString(notice));
    });
  const call = { tool: name, call_id: memberOf(result, 'id') === null ? null : textOf(result, 'id') };
  // What a function gives back is made up by it: nothing in it is of the protocol.
  sayResult(
    draft,
    call,
    given.map((each) => each.value),
    replaced,
    (value) =>
      given.some((each) => each.value === value && each.key.value === 'response') ? 'free' : 'said',
  );
}
