import { countOf, isTrue, itemsOf, largestCountOf, memberOf, membersOf } from '../../json/nodes.ts';
import type { JsonNode } from '../../types/json.ts';
import { type AnswerDraft, addEcho, addMember, addPiece, isOpen, requireText } from '../answer.ts';
import { plainEnding } from '../endings.ts';
import { openJsonEvents, type ReadBody, readWhole } from '../events.ts';
import { askForUsage, readChoices } from '../openai-choices.ts';
import { openAiDenialEvents, openAiErrorBody, openAiErrorEvents } from '../openai-errors.ts';
import { OPENAI } from '../openai-vocabulary.ts';
import { finishRequest, readTokens, say, sayMember, startRequest } from '../request.ts';
import type { AnswerAsked, WireFormat, WireRequest } from '../types.ts';

/** `POST /v1/completions` of OpenAI: text that is continued. */
export const openAiCompletions: WireFormat = {
  name: 'openai.completions',
  family: 'openai',
  operation_name: 'text_completion',
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
    const is_said = member.key.value === 'prompt' || member.key.value === 'suffix';
    if (member.key.value === 'prompt') readTokens(draft, member.value);
    sayMember(draft, is_said ? 'user' : 'other', member, body);
  }
  const prompts = Math.max(1, itemsOf(memberOf(body, 'prompt')).length);
  return finishRequest(draft, body, {
    is_stream: isTrue(body, 'stream'),
    max_output_tokens: largestCountOf([body], ['max_tokens', 'max_completion_tokens']),
    // Of `best_of` answers only the best is given, and all are paid for.
    choices: Math.max(countOf(body, 'n') ?? 1, countOf(body, 'best_of') ?? 1) * prompts,
    usage_splice: askForUsage(body),
  });
}

function readerFor(asked?: AnswerAsked): ReadBody {
  return (draft, body) => {
    readChoices(draft, body, readChoice, asked);
    return true;
  };
}

function readChoice(draft: AnswerDraft, choice: JsonNode, root: string): void {
  const channel = `${root}.text`;
  for (const member of membersOf(choice)) {
    const { key, value } = member;
    if (key.value === 'text') requireText(draft, value);
    if (key.value === 'text' && value.kind === 'string') addPiece(draft, channel, 'text', value);
    else if (key.value !== 'logprobs') addMember(draft, member, choice);
  }
  // After the text that they tell again, wherever they stand.
  for (const member of membersOf(choice)) {
    if (member.key.value !== 'logprobs') continue;
    if (isOpen(draft, channel)) addEcho(draft, channel, member.value, 'null');
    else addMember(draft, member, choice);
  }
}
