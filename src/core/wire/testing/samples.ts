import { anthropicCountTokensSample, anthropicMessagesSample } from './anthropic.ts';
import { geminiGenerateSample } from './gemini.ts';
import { openAiChatSample } from './openai-chat.ts';
import { openAiCompletionsSample } from './openai-completions.ts';
import { openAiEmbeddingsSample } from './openai-embeddings.ts';
import { openAiResponsesSample } from './openai-responses.ts';
import type { Sample } from './sample.ts';

/** Bodies for every format. */
export const samples: readonly Sample[] = [
  anthropicCountTokensSample,
  anthropicMessagesSample,
  geminiGenerateSample,
  openAiChatSample,
  openAiCompletionsSample,
  openAiEmbeddingsSample,
  openAiResponsesSample,
];
