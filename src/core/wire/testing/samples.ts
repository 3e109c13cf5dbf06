import { anthropicCountTokensSample, anthropicMessagesSample } from './anthropic.ts';
import { geminiGenerateSample } from './gemini.ts';
import { openAiChatSample } from './openai-chat.ts';
import { openAiCompletionsSample } from './openai-completions.ts';
import { openAiEmbeddingsSample } from './openai-embeddings.ts';
import { openAiResponsesSample } from './openai-responses.ts';
import type { WireSample } from './sample.ts';

/** Bodies for every format. */
export const wireSamples: readonly WireSample[] = [
  anthropicCountTokensSample,
  anthropicMessagesSample,
  geminiGenerateSample,
  openAiChatSample,
  openAiCompletionsSample,
  openAiEmbeddingsSample,
  openAiResponsesSample,
];
