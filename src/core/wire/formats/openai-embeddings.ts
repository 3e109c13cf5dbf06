import { getMembers } from '../../json/nodes.ts';
import type { JsonNode } from '../../types/json.ts';
import { type AnswerDraft, addTexts } from '../answer-draft.ts';
import { createEventReader, readWholeAnswer } from '../event-reader.ts';
import { readChoices } from '../openai-choices.ts';
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
import type { WireFormat, WireRequest } from '../wire-format.ts';

/** `POST /v1/embeddings` of OpenAI: the request has texts, and the answer has numbers. */
export const openAiEmbeddings: WireFormat = {
  name: 'openai.embeddings',
  family: 'openai',
  routes: [
    {
      path: '/v1/embeddings',
      summary: 'OpenAI embeddings, guarded',
      example: { model: 'text-embedding-3-small', input: 'A sentence.' },
    },
  ],
  path_pattern: /\/embeddings$/i,
  operation_name: 'embeddings',
  readRequest,
  readAnswer: (body) => readWholeAnswer(OPENAI, readBody, body),
  openEvents: () => createEventReader(OPENAI, readBody),
  errorBody: writeOpenAiErrorBody,
  errorEvents: writeOpenAiErrorEvents,
  openEnding: createPlainEnding(writeOpenAiDenialEvents, writeOpenAiErrorEvents),
};

function readRequest(body: JsonNode): WireRequest {
  const draft = createRequestDraft(OPENAI);
  if (body.kind !== 'object') addRequestText(draft, 'other', body, 'free');
  for (const member of getMembers(body)) {
    const isSaid = member.key.value === 'input';
    if (isSaid) readTokenPrompt(draft, member.value);
    addRequestMember(draft, isSaid ? 'user' : 'other', member, body);
  }
  return finishRequest(draft, body, {
    is_stream: false,
    max_output_tokens: 0,
    choices: 1,
    usage_splice: null,
  });
}

function readBody(draft: AnswerDraft, body: JsonNode): boolean {
  readChoices(draft, body, (_, choice) => addTexts(draft, choice));
  return true;
}
