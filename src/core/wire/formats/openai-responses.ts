import { findLargestCount, getMembers, isMemberTrue, listStrings } from '../../json/nodes.ts';
import type { JsonNode } from '../../types/json.ts';
import { createEventReader, readWholeAnswer } from '../event-reader.ts';
import { writeOpenAiErrorBody, writeResponsesErrorEvents } from '../openai-errors.ts';
import { readInputItem } from '../openai-items.ts';
import { createOutputReader, REQUEST_MEMBERS, readResponseObject } from '../openai-output.ts';
import { OPENAI } from '../openai-vocabulary.ts';
import { addRequestMember, addRequestText, createRequestDraft, finishRequest } from '../request-draft.ts';
import { openResponsesEnding } from '../responses-ending.ts';
import type { WireFormat, WireRequest } from '../wire-format.ts';

/** `POST /v1/responses` of OpenAI. */
export const openAiResponses: WireFormat = {
  name: 'openai.responses',
  family: 'openai',
  routes: [
    {
      path: '/v1/responses',
      summary: 'OpenAI responses, guarded',
      example: { model: 'gpt-4o-mini', input: 'Say hello.' },
    },
  ],
  path_pattern: /\/responses$/i,
  operation_name: 'chat',
  readRequest,
  readAnswer: (body, requested) =>
    readWholeAnswer(OPENAI, (draft, response) => readResponseObject(draft, response, requested), body),
  openEvents: (requested) => createEventReader(OPENAI, createOutputReader(requested)),
  errorBody: writeOpenAiErrorBody,
  errorEvents: writeResponsesErrorEvents,
  openEnding: openResponsesEnding,
};

function readRequest(body: JsonNode): WireRequest {
  const draft = createRequestDraft(OPENAI);
  if (body.kind !== 'object') addRequestText(draft, 'other', body, 'free');
  for (const member of getMembers(body)) {
    const { key, value } = member;
    if (key.value === 'input' && value.kind === 'array') {
      for (const item of value.items) readInputItem(draft, item);
    } else if (key.value === 'input') addRequestText(draft, 'user', value);
    else if (key.value === 'instructions') addRequestText(draft, 'system', value);
    else addRequestMember(draft, key.value === 'tools' ? 'tool_definition' : 'other', member, body);
  }
  const repeated = getMembers(body).filter(({ key }) => REQUEST_MEMBERS.has(key.value));
  return finishRequest(draft, body, {
    repeatable: repeated.flatMap(({ value }) => listStrings(value)),
    is_stream: isMemberTrue(body, 'stream'),
    max_output_tokens: findLargestCount([body], ['max_output_tokens', 'max_completion_tokens', 'max_tokens']),
    choices: 1,
    usage_splice: null,
  });
}
