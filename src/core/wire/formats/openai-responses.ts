import { isTrue, largestCountOf, membersOf, stringsIn } from '../../json/nodes.ts';
import type { JsonNode } from '../../types/json.ts';
import { openJsonEvents, readWhole } from '../events.ts';
import { openAiErrorBody, responsesErrorEvents } from '../openai-errors.ts';
import { readInputItem } from '../openai-items.ts';
import { ASKED, openOutput, readResponse } from '../openai-output.ts';
import { OPENAI } from '../openai-vocabulary.ts';
import { finishRequest, say, sayMember, startRequest } from '../request.ts';
import { openResponsesEnding } from '../responses-ending.ts';
import type { WireFormat, WireRequest } from '../types.ts';

/** `POST /v1/responses` of OpenAI. */
export const openAiResponses: WireFormat = {
  name: 'openai.responses',
  family: 'openai',
  operation_name: 'chat',
  readRequest,
  readAnswer: (body, asked) =>
    readWhole(OPENAI, (draft, response) => readResponse(draft, response, asked), body),
  openEvents: (asked) => openJsonEvents(OPENAI, openOutput(asked)),
  errorBody: openAiErrorBody,
  errorEvents: responsesErrorEvents,
  openEnding: openResponsesEnding,
};

function readRequest(body: JsonNode): WireRequest {
  const draft = startRequest(OPENAI);
  if (body.kind !== 'object') say(draft, 'other', body, 'free');
  for (const member of membersOf(body)) {
    const { key, value } = member;
    if (key.value === 'input' && value.kind === 'array') {
      for (const item of value.items) readInputItem(draft, item);
    } else if (key.value === 'input') say(draft, 'user', value);
    else if (key.value === 'instructions') say(draft, 'system', value);
    else sayMember(draft, key.value === 'tools' ? 'tool_definition' : 'other', member, body);
  }
  const repeated = membersOf(body).filter(({ key }) => ASKED.has(key.value));
  return finishRequest(draft, body, {
    repeatable: repeated.flatMap(({ value }) => stringsIn(value)),
    is_stream: isTrue(body, 'stream'),
    max_output_tokens: largestCountOf([body], ['max_output_tokens', 'max_completion_tokens', 'max_tokens']),
    choices: 1,
    usage_splice: null,
  });
}
