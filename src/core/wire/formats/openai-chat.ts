import {
  type AnswerDraft,
  addEcho,
  addMember,
  addMemberPieces,
  addPiece,
  addTexts,
  closeChannels,
  isOpen,
} from '../answer.ts';
import { plainEnding } from '../endings.ts';
import { openJsonEvents, readWhole } from '../events.ts';
import {
  countOf,
  isTrue,
  itemsOf,
  largestCountOf,
  memberOf,
  membersOf,
  onlyTextOf,
  textOf,
} from '../nodes.ts';
import { askForUsage, readChoices } from '../openai-choices.ts';
import { openAiDenialEvents, openAiErrorBody, openAiErrorEvents } from '../openai-errors.ts';
import { OPENAI } from '../openai-vocabulary.ts';
import { finishRequest, type RequestDraft, say, sayMember, sayResult, startRequest } from '../request.ts';
import type { JsonMember, JsonNode, WireFormat, WireRequest, WireText } from '../types.ts';

/** `POST /v1/chat/completions`, of OpenAI and of all who speak as it does. */
export const openAiChat: WireFormat = {
  name: 'openai.chat',
  family: 'openai',
  operation_name: 'chat',
  readRequest,
  readAnswer: (body) => readWhole(OPENAI, readBody, body),
  openEvents: () => openJsonEvents(OPENAI, readBody),
  errorBody: openAiErrorBody,
  errorEvents: openAiErrorEvents,
  openEnding: plainEnding(openAiDenialEvents, openAiErrorEvents),
};

function readRequest(body: JsonNode): WireRequest {
  const draft = startRequest(OPENAI);
  if (body.kind !== 'object') say(draft, 'other', body, 'free');
  for (const member of membersOf(body)) {
    const { key, value } = member;
    if (key.value === 'messages' && value.kind === 'array') {
      for (const message of value.items) readMessage(draft, message);
    } else if (key.value === 'tools' || key.value === 'functions') {
      sayMember(draft, 'tool_definition', member, body);
    } else sayMember(draft, 'other', member, body);
  }
  return finishRequest(draft, body, {
    is_stream: isTrue(body, 'stream'),
    max_output_tokens: largestCountOf(body, ['max_completion_tokens', 'max_tokens']),
    choices: countOf(body, 'n') ?? 1,
    usage_splice: askForUsage(body),
  });
}

const ROLES: ReadonlyMap<string | null, WireText['role']> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
]);

function readMessage(draft: RequestDraft, message: JsonNode): void {
  const said_by = onlyTextOf(message, 'role');
  const role = ROLES.get(said_by) ?? 'other';
  const is_result = said_by === 'tool' || said_by === 'function';
  if (message.kind !== 'object') say(draft, 'other', message);
  for (const member of membersOf(message)) {
    const { key, value } = member;
    if (key.value === 'content' && is_result) continue;
    // Whoever takes part is named by people; the name of a function is a word.
    if (key.value === 'name' && said_by !== 'function') say(draft, 'other', value, 'free');
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
  const isPart = ({ key, value }: JsonMember): boolean =>
    (key.value === 'function' || key.value === 'custom') && value.kind === 'object';
  return membersOf(call).findLast(isPart)?.value ?? null;
}

function readBody(draft: AnswerDraft, body: JsonNode): boolean {
  readChoices(draft, body, readChoice);
  return true;
}

function readChoice(draft: AnswerDraft, choice: JsonNode, root: string): void {
  for (const member of membersOf(choice)) {
    const { key, value } = member;
    if (key.value === 'delta' || key.value === 'message') readMessagePart(draft, root, value);
    else if (key.value !== 'logprobs') addMember(draft, member, choice);
  }
  // After the texts that they tell again, wherever they stand.
  for (const { key, value } of membersOf(choice)) {
    if (key.value === 'logprobs') readLogprobs(draft, root, value);
  }
  if (textOf(choice, 'finish_reason') !== null) closeChannels(draft, root);
}

/** Log probabilities say a text again, token by token. Where there is no such text they are texts themselves. */
function readLogprobs(draft: AnswerDraft, root: string, logprobs: JsonNode): void {
  if (logprobs.kind !== 'object') addTexts(draft, logprobs);
  for (const member of membersOf(logprobs)) {
    const of = `${root}.${member.key.value}`;
    if (isOpen(draft, of)) addEcho(draft, of, member.value, 'null');
    else addMember(draft, member, logprobs);
  }
}

/** A message, or what an event adds to it. */
function readMessagePart(draft: AnswerDraft, root: string, message: JsonNode): void {
  if (message.kind !== 'object') addTexts(draft, message);
  for (const member of membersOf(message)) {
    const { key, value } = member;
    if (key.value === 'tool_calls' && value.kind === 'array') {
      value.items.forEach((call, at) => {
        readCall(draft, `${root}.call.${countOf(call, 'index') ?? at}`, call, partOf(call));
      });
    } else if (key.value === 'function_call') readCall(draft, `${root}.function_call`, value, value);
    else if (key.value === 'audio') readAudio(draft, `${root}.audio`, value);
    else if (key.value === 'annotations') addMember(draft, member, message);
    else addMemberPieces(draft, member, message, root);
  }
}

/** Sound, which cannot be heard here, and what is said in it. */
function readAudio(draft: AnswerDraft, root: string, audio: JsonNode): void {
  if (audio.kind !== 'object') addTexts(draft, audio);
  for (const member of membersOf(audio)) {
    if (member.key.value !== 'data') addMemberPieces(draft, member, audio, root);
    else {
      addTexts(draft, member.value, 'sealed');
      addEcho(draft, `${root}.transcript`, member.value, '""');
    }
  }
}

function readCall(draft: AnswerDraft, channel: string, call: JsonNode, part: JsonNode | null): void {
  if (call.kind !== 'object') {
    addTexts(draft, call);
    return;
  }
  const said = memberOf(part, 'arguments') ?? memberOf(part, 'input');
  const named = { tool: textOf(part, 'name'), call_id: call === part ? null : textOf(call, 'id') };
  // A call without arguments is one all the same.
  const { end } = part ?? call;
  addPiece(draft, channel, 'arguments', said ?? { kind: 'null', start: end, end }, named);
  for (const member of call.members) {
    if (part !== call && member.value !== part) addMember(draft, member, call);
  }
  for (const member of membersOf(part)) {
    if (member.value !== said) addMember(draft, member, part!);
  }
}
