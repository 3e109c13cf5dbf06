import {
  findLargestCount,
  getCount,
  getItems,
  getMember,
  getMembers,
  isMemberTrue,
} from '../../json/nodes.ts';
import type { JsonNode } from '../../types/json.ts';
import {
  type AnswerDraft,
  addEcho,
  addMember,
  addPiece,
  isChannelOpen,
  requireText,
} from '../answer-draft.ts';
import { type BodyReader, createEventReader, readWholeAnswer } from '../event-reader.ts';
import { buildUsageSplice, readChoices } from '../openai-choices.ts';
import { writeOpenAiDenialEvents, writeOpenAiErrorBody, writeOpenAiErrorEvents } from '../openai-errors.ts';
import { OPENAI } from '../openai-vocabulary.ts';
import { createPlainEnding } from '../plain-ending.ts';
import {
  addRequestMember,
  addRequestText,
  createRequestDraft,
  finishRequest,
  readTokenPrompt,
} from '../request-draft.ts';
import type { AnswerContext, WireFormat, WireRequest } from '../wire-format.ts';

/** `POST /v1/completions` of OpenAI, which continues a text. */
export const openAiCompletions: WireFormat = {
  name: 'openai.completions',
  family: 'openai',
  routes: [
    {
      path: '/v1/completions',
      summary: 'OpenAI completions, guarded',
      example: { model: 'gpt-3.5-turbo-instruct', prompt: 'Say hello.' },
    },
  ],
  path_pattern: /(?<!\/chat)\/completions$/i,
  operation_name: 'text_completion',
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
    const isSaid = member.key.value === 'prompt' || member.key.value === 'suffix';
    if (member.key.value === 'prompt') readTokenPrompt(draft, member.value);
    addRequestMember(draft, isSaid ? 'user' : 'other', member, body);
  }
  const prompts = Math.max(1, getItems(getMember(body, 'prompt')).length);
  return finishRequest(draft, body, {
    is_stream: isMemberTrue(body, 'stream'),
    max_output_tokens: findLargestCount([body], ['max_tokens', 'max_completion_tokens']),
    // Only the best of `best_of` answers is returned, but all are charged.
    choices: Math.max(getCount(body, 'n') ?? 1, getCount(body, 'best_of') ?? 1) * prompts,
    usage_splice: buildUsageSplice(body),
  });
}

function createBodyReader(requested?: AnswerContext): BodyReader {
  return (draft, body) => {
    readChoices(draft, body, readChoice, requested);
    return true;
  };
}

function readChoice(draft: AnswerDraft, choice: JsonNode, root: string): void {
  const channel = `${root}.text`;
  for (const member of getMembers(choice)) {
    const { key, value } = member;
    if (key.value === 'text') requireText(draft, value);
    if (key.value === 'text' && value.kind === 'string') addPiece(draft, channel, 'text', value);
    else if (key.value !== 'logprobs') addMember(draft, member, choice);
  }
  // Read after the text that they repeat, wherever they are in the object.
  for (const member of getMembers(choice)) {
    if (member.key.value !== 'logprobs') continue;
    if (isChannelOpen(draft, channel)) addEcho(draft, channel, member.value, 'null');
    else addMember(draft, member, choice);
  }
}
