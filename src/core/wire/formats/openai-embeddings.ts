import { membersOf } from '../../json/nodes.ts';
import type { JsonNode } from '../../types/json.ts';
import { type AnswerDraft, addTexts } from '../answer.ts';
import { plainEnding } from '../endings.ts';
import { openJsonEvents, readWhole } from '../events.ts';
import { readChoices } from '../openai-choices.ts';
import { openAiDenialEvents, openAiErrorBody, openAiErrorEvents } from '../openai-errors.ts';
import { OPENAI } from '../openai-vocabulary.ts';
import { finishRequest, readTokens, say, sayMember, startRequest } from '../request.ts';
import type { WireFormat, WireRequest } from '../types.ts';

/** `POST /v1/embeddings` of OpenAI: texts go in, and numbers come out. */
export const openAiEmbeddings: WireFormat = {
  name: 'openai.embeddings',
  family: 'openai',
  operation_name: 'embeddings',
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
    const is_said = member.key.value === 'input';
    if (is_said) readTokens(draft, member.value);
    sayMember(draft, is_said ? 'user' : 'other', member, body);
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
