import { type AnswerDraft, blank, finishAnswer, hear, hearMember, startAnswer } from '../answer.ts';
import {
  addMemberPieces,
  addMemberTexts,
  addPiece,
  closeChannels,
  type EventDraft,
  openJsonEvents,
} from '../events.ts';
import { countOf, isTrue, itemsOf, memberOf, membersOf, onlyTextOf, stringOf, textOf } from '../nodes.ts';
import { openAiErrorBody, openAiErrorEvents } from '../openai-errors.ts';
import { askForUsage, isUsageAlone, usageOf } from '../openai-usage.ts';
import { OPENAI } from '../openai-vocabulary.ts';
import { finishRequest, type RequestDraft, say, sayMember, sayResult, startRequest } from '../request.ts';
import type { JsonNode, WireAnswer, WireFormat, WireRequest, WireText } from '../types.ts';

/** `POST /v1/chat/completions`, of OpenAI and of all who speak as it does. */
export const openAiChat: WireFormat = {
  name: 'openai.chat',
  family: 'openai',
  operation_name: 'chat',
  readRequest,
  readAnswer,
  openEvents: () => openJsonEvents(OPENAI, readChunk),
  errorBody: openAiErrorBody,
  errorEvents: openAiErrorEvents,
};

function readRequest(body: JsonNode): WireRequest {
  const draft = startRequest(OPENAI);
  if (body.kind !== 'object') say(draft, 'other', body, 'free');
  for (const member of membersOf(body)) {
    const { key, value } = member;
    if (key.value === 'messages' && value.kind === 'array') {
      for (const message of value.items) readMessage(draft, message);
    } else if (key.value === 'tools' || key.value === 'functions')
      sayMember(draft, 'tool_definition', member, body);
    else sayMember(draft, 'other', member, body);
  }
  return finishRequest(draft, body, {
    is_stream: isTrue(body, 'stream'),
    max_output_tokens: countOf(body, 'max_completion_tokens') ?? countOf(body, 'max_tokens'),
    choices: countOf(body, 'n') ?? 1,
    usage_splice: askForUsage(body),
  });
}

const ROLES: Readonly<Record<string, WireText['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

function readMessage(draft: RequestDraft, message: JsonNode): void {
  const said_by = onlyTextOf(message, 'role') ?? '';
  const role = Object.hasOwn(ROLES, said_by) ? ROLES[said_by]! : 'other';
  const is_result = said_by === 'tool' || said_by === 'function';
  if (message.kind !== 'object') say(draft, 'other', message);
  for (const member of membersOf(message)) {
    const { key, value } = member;
    if (key.value === 'content' && is_result) continue;
    // Whoever takes part is named by people; the name of a function is a word.
    if (key.value === 'name' && said_by !== 'function') say(draft, 'other', value);
    else sayMember(draft, role, member, message);
  }
  if (is_result) {
    const call = { tool: textOf(message, 'name'), call_id: textOf(message, 'tool_call_id') };
    const contents = membersOf(message).filter((each) => each.key.value === 'content');
    sayResult(
      draft,
      call,
      contents.map((each) => each.value),
    );
  }
  for (const call of itemsOf(memberOf(message, 'tool_calls'))) {
    const id = textOf(call, 'id');
    const name = textOf(partOf(call), 'name');
    if (id !== null && name !== null) draft.calls.set(id, name);
  }
}

/** What a call is about: a function with arguments, or a custom tool with an input of its own form. */
function partOf(call: JsonNode): JsonNode | null {
  return memberOf(call, 'function') ?? memberOf(call, 'custom');
}

function argumentsOf(part: JsonNode | null): JsonNode | null {
  return memberOf(part, 'arguments') ?? memberOf(part, 'input');
}

function readAnswer(body: JsonNode): WireAnswer {
  const draft = startAnswer(OPENAI);
  if (body.kind !== 'object') hear(draft, body, 'free');
  for (const member of membersOf(body)) {
    const { key, value } = member;
    if (key.value !== 'choices' || value.kind !== 'array') hearMember(draft, member, body);
    else for (const choice of value.items) readChoice(draft, choice);
  }
  return finishAnswer(draft, body, usageOf(body));
}

function readChoice(draft: AnswerDraft, choice: JsonNode): void {
  if (choice.kind !== 'object') hear(draft, choice);
  const reason = textOf(choice, 'finish_reason');
  if (reason !== null) draft.finish_reasons.push(reason);
  const message = memberOf(choice, 'message');
  for (const member of membersOf(choice)) {
    if (member.key.value === 'message') readAnswerMessage(draft, member.value);
    else if (member.key.value !== 'logprobs') hearMember(draft, member, choice);
    else readLogprobs(draft, member.value, message);
  }
}

/** Log probabilities say a text again, token by token. Where there is no such text they are texts themselves. */
function readLogprobs(draft: AnswerDraft, logprobs: JsonNode, message: JsonNode | null): void {
  if (logprobs.kind !== 'object') hear(draft, logprobs);
  for (const member of membersOf(logprobs)) {
    const of = stringOf(message, member.key.value);
    const splice = blank(logprobs, member.key.value, 'null');
    if (of === null) hearMember(draft, member, logprobs);
    else if (splice !== null) draft.echoes.push({ of, splice });
  }
}

function readAnswerMessage(draft: AnswerDraft, message: JsonNode): void {
  for (const member of membersOf(message)) {
    const { key, value } = member;
    if (key.value === 'tool_calls')
      for (const call of itemsOf(value)) readCall(draft, call, textOf(call, 'id'));
    else if (key.value === 'function_call' && value.kind === 'object') readCall(draft, value, null, value);
    else hearMember(draft, member, message);
  }
  const audio = memberOf(message, 'audio');
  const transcript = stringOf(audio, 'transcript');
  const splice = blank(audio, 'data', '""');
  if (transcript !== null && splice !== null) draft.echoes.push({ of: transcript, splice });
}

function readCall(
  draft: AnswerDraft,
  call: JsonNode,
  call_id: string | null,
  part: JsonNode | null = partOf(call),
): void {
  const said = argumentsOf(part);
  draft.tool_calls.push({
    tool: textOf(part, 'name') ?? '',
    call_id,
    arguments: said ?? nothingIn(part ?? call),
  });
  for (const member of membersOf(call)) {
    if (part !== call && member.value !== part) hearMember(draft, member, call);
  }
  for (const member of membersOf(part)) {
    if (member.value !== said) hearMember(draft, member, part!);
  }
}

/** In place of arguments that are not there. */
function nothingIn({ end }: JsonNode): JsonNode {
  return { kind: 'null', start: end, end };
}

function readChunk(draft: EventDraft, body: JsonNode): boolean {
  draft.id = textOf(body, 'id');
  draft.model = textOf(body, 'model');
  draft.usage = usageOf(body);
  draft.is_added_usage = isUsageAlone(body);
  for (const member of membersOf(body)) {
    const { key, value } = member;
    if (key.value !== 'choices' || value.kind !== 'array') addMemberTexts(draft, member, body);
    else for (const choice of value.items) readChunkChoice(draft, choice);
  }
  return true;
}

function readChunkChoice(draft: EventDraft, choice: JsonNode): void {
  const index = `${countOf(choice, 'index') ?? 0}`;
  for (const member of membersOf(choice)) {
    const { key, value } = member;
    if (key.value === 'delta' || key.value === 'message') readDelta(draft, index, value);
    else if (key.value !== 'logprobs') addMemberTexts(draft, member, choice);
    else {
      for (const { key: of } of membersOf(value)) {
        const splice = blank(value, of.value, 'null');
        if (splice !== null) draft.echoes.push({ of: `${index}.${of.value}`, splice });
      }
    }
  }
  const reason = textOf(choice, 'finish_reason');
  if (reason === null) return;
  draft.finish_reasons.push(reason);
  closeChannels(draft, index);
}

function readDelta(draft: EventDraft, index: string, delta: JsonNode): void {
  for (const member of membersOf(delta)) {
    const { key, value } = member;
    if (key.value === 'tool_calls') {
      itemsOf(value).forEach((call, at) => {
        readCallDelta(draft, `${index}.call.${countOf(call, 'index') ?? at}`, call, partOf(call));
      });
    } else if (key.value === 'function_call' && value.kind === 'object') {
      readCallDelta(draft, `${index}.function_call`, value, value);
    } else if (key.value === 'content' || key.value === 'refusal') {
      if (value.kind === 'string') addPiece(draft, `${index}.${key.value}`, 'text', value);
      else addMemberPieces(draft, member, delta, index);
    } else addMemberPieces(draft, member, delta, index);
  }
  const splice = blank(memberOf(delta, 'audio'), 'data', '""');
  if (splice !== null) draft.echoes.push({ of: `${index}.audio.transcript`, splice });
}

function readCallDelta(draft: EventDraft, channel: string, call: JsonNode, part: JsonNode | null): void {
  const said = argumentsOf(part);
  const named = { tool: textOf(part, 'name'), call_id: call === part ? null : textOf(call, 'id') };
  addPiece(draft, channel, 'arguments', said ?? nothingIn(part ?? call), named);
  for (const member of membersOf(call)) {
    if (part !== call && member.value !== part) addMemberTexts(draft, member, call);
  }
  for (const member of membersOf(part)) {
    if (member.value !== said) addMemberTexts(draft, member, part!);
  }
}
