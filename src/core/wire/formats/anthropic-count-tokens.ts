import type { JsonNode } from '../../types/json.ts';
import { type AnswerDraft, addTexts } from '../answer-draft.ts';
import { openAnthropicEnding } from '../anthropic-ending.ts';
import { writeAnthropicErrorBody, writeAnthropicErrorEvents } from '../anthropic-errors.ts';
import { readMessagesRequest } from '../anthropic-request.ts';
import { ANTHROPIC } from '../anthropic-vocabulary.ts';
import { createEventReader, readWholeAnswer } from '../event-reader.ts';
import type { WireFormat } from '../wire-format.ts';

/**
 * `POST /v1/messages/count_tokens` of Anthropic. The request is a message as it would be sent, and the answer is a
 * number. Counting is free, so the answer reports no usage.
 */
export const anthropicCountTokens: WireFormat = {
  name: 'anthropic.count_tokens',
  family: 'anthropic',
  routes: [
    {
      path: '/v1/messages/count_tokens',
      summary: 'Anthropic count of tokens, guarded',
      example: { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'Say hello.' }] },
    },
  ],
  path_pattern: /(?:^|\/v\d[^/]*)\/messages\/count_tokens$/i,
  is_free: true,
  operation_name: 'chat',
  readRequest: (body) => ({ ...readMessagesRequest(body), max_output_tokens: 0 }),
  readAnswer: (body) => readWholeAnswer(ANTHROPIC, readBody, body),
  openEvents: () => createEventReader(ANTHROPIC, readBody),
  errorBody: writeAnthropicErrorBody,
  errorEvents: writeAnthropicErrorEvents,
  openEnding: openAnthropicEnding,
};

function readBody(draft: AnswerDraft, body: JsonNode): boolean {
  addTexts(draft, body);
  return true;
}
