import {
  findLargestCount,
  getCount,
  getItems,
  getMember,
  getMembers,
  getText,
  getUniqueText,
  isMemberTrue,
} from '../../json/nodes.ts';
import type { JsonMember, JsonNode } from '../../types/json.ts';
import {
  type AnswerDraft,
  addEcho,
  addMember,
  addMemberPieces,
  addPiece,
  addRepeat,
  addStrayItem,
  addTexts,
  addUnlistedCall,
  type CallIdentity,
  failAnswer,
  isChannelOpen,
  requireList,
} from '../answer-draft.ts';
import { type BodyReader, createEventReader, readWholeAnswer } from '../event-reader.ts';
import { type CallPlaces, createCallPlaces, findCallPlace, readCallName } from '../openai-call-places.ts';
import { buildUsageSplice, readChoices } from '../openai-choices.ts';
import { writeOpenAiDenialEvents, writeOpenAiErrorBody, writeOpenAiErrorEvents } from '../openai-errors.ts';
import { OPENAI } from '../openai-vocabulary.ts';
import { createPlainEnding } from '../plain-ending.ts';
import {
  addRequestMember,
  addRequestText,
  addToolResult,
  createRequestDraft,
  finishRequest,
  type RequestDraft,
} from '../request-draft.ts';
import type { AnswerContext, WireFormat, WireRequest, WireText } from '../wire-format.ts';

/** `POST /v1/chat/completions` of OpenAI and of compatible providers. */
export const openAiChat: WireFormat = {
  name: 'openai.chat',
  family: 'openai',
  routes: [
    {
      path: '/v1/chat/completions',
      summary: 'OpenAI chat completions, guarded',
      example: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] },
    },
  ],
  path_pattern: /\/chat\/completions$/i,
  operation_name: 'chat',
  readRequest,
  readAnswer: (body) => readWholeAnswer(OPENAI, createBodyReader(), body),
  openEvents: (requested) => createEventReader(OPENAI, createBodyReader(requested)),
  errorBody: writeOpenAiErrorBody,
  errorEvents: writeOpenAiErrorEvents,
  openEnding: createPlainEnding(writeOpenAiDenialEvents, writeOpenAiErrorEvents),
};

function readRequest(body: JsonNode): WireRequest {
  const draft = createRequestDraft(OPENAI);
  if (body.kind !== 'object') addRequestText(draft, 'other', body, 'free');
  for (const member of getMembers(body)) {
    const { key, value } = member;
    if (key.value === 'messages' && value.kind === 'array') {
      for (const message of value.items) readMessage(draft, message);
    } else if (key.value === 'tools' || key.value === 'functions') {
      addRequestMember(draft, 'tool_definition', member, body);
    } else addRequestMember(draft, 'other', member, body);
  }
  return finishRequest(draft, body, {
    is_stream: isMemberTrue(body, 'stream'),
    max_output_tokens: findLargestCount([body], ['max_completion_tokens', 'max_tokens', 'max_output_tokens']),
    choices: getCount(body, 'n') ?? 1,
    usage_splice: buildUsageSplice(body),
  });
}

const ROLES: ReadonlyMap<string | null, WireText['role']> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
]);

function readMessage(draft: RequestDraft, message: JsonNode): void {
  const saidBy = getUniqueText(message, 'role');
  const role = ROLES.get(saidBy) ?? 'other';
  const isResult = saidBy === 'tool' || saidBy === 'function';
  if (message.kind !== 'object') addRequestText(draft, 'other', message);
  for (const member of getMembers(message)) {
    const { key, value } = member;
    if (key.value === 'content' && isResult) continue;
    // Users choose the names of participants; the name of a function is an identifier.
    if (key.value === 'name' && saidBy !== 'function') addRequestText(draft, 'other', value, 'free');
    else addRequestMember(draft, role, member, message);
  }
  if (isResult) {
    const call = { tool: getText(message, 'name'), call_id: getText(message, 'tool_call_id') };
    const contents = getMembers(message).filter((each) => each.key.value === 'content');
    addToolResult(
      draft,
      call,
      contents.map((each) => each.value),
    );
  }
  for (const call of getItems(getMember(message, 'tool_calls'))) {
    const id = getText(call, 'id');
    const name = getText(getPart(call), 'name');
    if (id !== null && name !== null) draft.calls.set(id, name);
  }
}

/**
 * Returns the member that describes the call: a function with arguments, or a custom tool with free-form input.
 */
function getPart(call: JsonNode): JsonNode | null {
  const isPart = ({ key, value }: JsonMember): boolean =>
    (key.value === 'function' || key.value === 'custom') && value.kind === 'object';
  return getMembers(call).findLast(isPart)?.value ?? null;
}

function createBodyReader(requested?: AnswerContext): BodyReader {
  const places = createCallPlaces();
  return (draft, body) => {
    readChoices(draft, body, (_draft, choice, root) => readChoice(draft, choice, root, places), requested);
    return true;
  };
}

function readChoice(draft: AnswerDraft, choice: JsonNode, root: string, places: CallPlaces): void {
  for (const member of getMembers(choice)) {
    const { key, value } = member;
    if (key.value === 'delta') readDelta(draft, root, value, places);
    else if (key.value === 'message')
      readMessagePart(draft, draft.is_stream ? `${root}.message` : root, value);
    else if (key.value !== 'logprobs') addMember(draft, member, choice);
  }
  // Read after the texts that they repeat, wherever they are in the object.
  for (const { key, value } of getMembers(choice)) {
    if (key.value === 'logprobs') readLogprobs(draft, root, value);
  }
}

/**
 * Reads log probabilities, which repeat a text token by token. Without such a text they are texts themselves.
 */
function readLogprobs(draft: AnswerDraft, root: string, logprobs: JsonNode): void {
  if (logprobs.kind !== 'object') addTexts(draft, logprobs);
  for (const member of getMembers(logprobs)) {
    const of = `${root}.${member.key.value}`;
    if (isChannelOpen(draft, of)) addEcho(draft, of, member.value, 'null');
    else addMember(draft, member, logprobs);
  }
}

/** Reads the delta of a message in an event. */
function readDelta(draft: AnswerDraft, root: string, delta: JsonNode, places: CallPlaces): void {
  readTexts(draft, root, delta, addPiece);
  for (const { key, value } of getMembers(delta)) {
    if (key.value === 'tool_calls' && value.kind === 'array') {
      for (const call of value.items) {
        const place = findCallPlace(draft, root, call, getPart(call), places);
        readCall(draft, `${root}.call.${place.at}`, call, getPart(call), addPiece, place.name);
      }
    } else if (key.value === 'function_call')
      readCall(draft, `${root}.function_call`, value, value, addPiece);
  }
}

/** Reads a whole message. Some servers add one to each event, with the complete text so far. */
function readMessagePart(draft: AnswerDraft, root: string, message: JsonNode): void {
  readTexts(draft, root, message, addRepeat);
  for (const { key, value } of getMembers(message)) {
    if (key.value === 'tool_calls' && value.kind === 'array') {
      value.items.forEach((call, at) => {
        readCall(draft, `${root}.call.${at}`, call, getPart(call), addRepeat);
      });
    } else if (key.value === 'function_call')
      readCall(draft, `${root}.function_call`, value, value, addRepeat);
  }
}

/** Reads everything in a message except its calls. */
function readTexts(draft: AnswerDraft, root: string, message: JsonNode, add: Add): void {
  if (message.kind !== 'object') addStrayItem(draft, message);
  for (const member of getMembers(message)) {
    const { key, value } = member;
    if (key.value === 'tool_calls') requireList(draft, value);
    if ((key.value === 'tool_calls' && value.kind === 'array') || key.value === 'function_call') continue;
    if (key.value === 'content' && !getItems(value).every(({ kind }) => kind === 'object')) failAnswer(draft);
    if (key.value === 'audio') readAudio(draft, `${root}.audio`, value, add);
    else if (key.value === 'annotations') addMember(draft, member, message);
    else addMemberPieces(draft, member, message, root, add);
  }
}

type Add = typeof addPiece;

/** Reads audio: the transcript is a text, and the sound itself is not scanned. */
function readAudio(draft: AnswerDraft, root: string, audio: JsonNode, add: Add): void {
  if (audio.kind !== 'object') addTexts(draft, audio);
  for (const member of getMembers(audio)) {
    if (member.key.value !== 'data') addMemberPieces(draft, member, audio, root, add);
    else {
      addTexts(draft, member.value, 'sealed');
      addEcho(draft, `${root}.transcript`, member.value, '""');
    }
  }
}

function readCall(
  draft: AnswerDraft,
  channel: string,
  call: JsonNode,
  part: JsonNode | null,
  add: Add,
  named: CallIdentity = readCallName(call, part),
): void {
  if (call.kind !== 'object') {
    // Other values in a list of calls shift the position of the calls for some clients.
    if (call.kind !== 'null') failAnswer(draft);
    return;
  }
  if (part !== call && holdsTwo(call)) failAnswer(draft);
  const stated = getMember(part, 'arguments') ?? getMember(part, 'input');
  // A call without arguments is still a call.
  const { end } = part ?? call;
  const isFree = part !== call && getMember(call, 'custom') === part && part !== null;
  add(draft, channel, 'arguments', stated ?? { kind: 'null', start: end, end }, {
    call: { ...named, is_free: isFree },
  });
  // Some clients use a name next to the part.
  const other = part === call ? null : addUnlistedCall(draft, call);
  for (const member of call.members) {
    if (part !== call && member.value !== part && member.value !== other) addMember(draft, member, call);
  }
  for (const member of getMembers(part)) {
    if (member.value !== stated) addMember(draft, member, part!);
  }
}

/** Returns whether a call has both a function and a custom tool. Clients differ in which of them they use. */
function holdsTwo(call: JsonNode): boolean {
  const held = ['function', 'custom'].map((key) => getMember(call, key));
  return held.every((each) => each !== null && each.kind !== 'null');
}
