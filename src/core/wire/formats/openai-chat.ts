import {
  countOf,
  isTrue,
  itemsOf,
  largestCountOf,
  memberOf,
  membersOf,
  onlyTextOf,
  textOf,
} from '../../json/nodes.ts';
import type { JsonMember, JsonNode } from '../../types/json.ts';
import {
  type AnswerDraft,
  addEcho,
  addMember,
  addMemberPieces,
  addPiece,
  addRepeat,
  addTexts,
  type CallName,
  failAnswer,
  isOpen,
} from '../answer.ts';
import { plainEnding } from '../endings.ts';
import { openJsonEvents, type ReadBody, readWhole } from '../events.ts';
import { type CallPlaces, nameOf, startPlaces, takePlace } from '../openai-call-places.ts';
import { askForUsage, readChoices } from '../openai-choices.ts';
import { openAiDenialEvents, openAiErrorBody, openAiErrorEvents } from '../openai-errors.ts';
import { OPENAI } from '../openai-vocabulary.ts';
import { finishRequest, type RequestDraft, say, sayMember, sayResult, startRequest } from '../request.ts';
import type { AnswerAsked, WireFormat, WireRequest, WireText } from '../types.ts';

/** `POST /v1/chat/completions`, of OpenAI and of all who speak as it does. */
export const openAiChat: WireFormat = {
  name: 'openai.chat',
  family: 'openai',
  operation_name: 'chat',
  readRequest,
  readAnswer: (body) => readWhole(OPENAI, readerFor(), body),
  openEvents: (asked) => openJsonEvents(OPENAI, readerFor(asked)),
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
    max_output_tokens: largestCountOf([body], ['max_completion_tokens', 'max_tokens', 'max_output_tokens']),
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

function readerFor(asked?: AnswerAsked): ReadBody {
  const places = startPlaces();
  return (draft, body) => {
    readChoices(draft, body, (_draft, choice, root) => readChoice(draft, choice, root, places), asked);
    return true;
  };
}

function readChoice(draft: AnswerDraft, choice: JsonNode, root: string, places: CallPlaces): void {
  for (const member of membersOf(choice)) {
    const { key, value } = member;
    if (key.value === 'delta') readDelta(draft, root, value, places);
    else if (key.value === 'message')
      readMessagePart(draft, draft.is_stream ? `${root}.message` : root, value);
    else if (key.value !== 'logprobs') addMember(draft, member, choice);
  }
  // After the texts that they tell again, wherever they stand.
  for (const { key, value } of membersOf(choice)) {
    if (key.value === 'logprobs') readLogprobs(draft, root, value);
  }
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

/** What an event adds to a message. */
function readDelta(draft: AnswerDraft, root: string, delta: JsonNode, places: CallPlaces): void {
  readTexts(draft, root, delta, addPiece);
  for (const { key, value } of membersOf(delta)) {
    if (key.value === 'tool_calls' && value.kind === 'array') {
      for (const call of value.items) {
        const place = takePlace(draft, root, call, partOf(call), places);
        readCall(draft, `${root}.call.${place.at}`, call, partOf(call), addPiece, place.name);
      }
    } else if (key.value === 'function_call')
      readCall(draft, `${root}.function_call`, value, value, addPiece);
  }
}

/** A whole message; some servers add it to each event, with all that was said by then. */
function readMessagePart(draft: AnswerDraft, root: string, message: JsonNode): void {
  readTexts(draft, root, message, addRepeat);
  for (const { key, value } of membersOf(message)) {
    if (key.value === 'tool_calls' && value.kind === 'array') {
      value.items.forEach((call, at) => {
        readCall(draft, `${root}.call.${at}`, call, partOf(call), addRepeat);
      });
    } else if (key.value === 'function_call')
      readCall(draft, `${root}.function_call`, value, value, addRepeat);
  }
}

/** All of a message but its calls. */
function readTexts(draft: AnswerDraft, root: string, message: JsonNode, add: Add): void {
  if (message.kind !== 'object') addTexts(draft, message);
  for (const member of membersOf(message)) {
    const { key, value } = member;
    if ((key.value === 'tool_calls' && value.kind === 'array') || key.value === 'function_call') continue;
    if (key.value === 'content' && !itemsOf(value).every(({ kind }) => kind === 'object')) failAnswer(draft);
    if (key.value === 'audio') readAudio(draft, `${root}.audio`, value, add);
    else if (key.value === 'annotations') addMember(draft, member, message);
    else addMemberPieces(draft, member, message, root, add);
  }
}

type Add = typeof addPiece;

/** Sound, which cannot be heard here, and what is said in it. */
function readAudio(draft: AnswerDraft, root: string, audio: JsonNode, add: Add): void {
  if (audio.kind !== 'object') addTexts(draft, audio);
  for (const member of membersOf(audio)) {
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
  named: CallName = nameOf(call, part),
): void {
  if (call.kind !== 'object') {
    // A list of calls with anything else in it has other places in the eyes of some clients.
    if (call.kind !== 'null') failAnswer(draft);
    return;
  }
  if (part !== call && holdsTwo(call)) failAnswer(draft);
  const said = memberOf(part, 'arguments') ?? memberOf(part, 'input');
  // A call without arguments is one all the same.
  const { end } = part ?? call;
  const is_free = part !== call && memberOf(call, 'custom') === part && part !== null;
  add(draft, channel, 'arguments', said ?? { kind: 'null', start: end, end }, {
    call: { ...named, is_free },
  });
  for (const member of call.members) {
    if (part !== call && member.value !== part) addMember(draft, member, call);
  }
  for (const member of membersOf(part)) {
    if (member.value !== said) addMember(draft, member, part!);
  }
}

/** Which of the two a client takes nobody can say. */
function holdsTwo(call: JsonNode): boolean {
  const held = ['function', 'custom'].map((key) => memberOf(call, key));
  return held.every((each) => each !== null && each.kind !== 'null');
}
