import type { WireFormat } from '../wire-format.ts';
import { anthropicCountTokens } from './anthropic-count-tokens.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { geminiGenerate } from './gemini-generate.ts';
import { openAiChat } from './openai-chat.ts';
import { openAiCompletions } from './openai-completions.ts';
import { openAiEmbeddings } from './openai-embeddings.ts';
import { openAiResponses } from './openai-responses.ts';

/** All supported formats, in the order of their names. */
export const wireFormats: readonly WireFormat[] = [
  anthropicCountTokens,
  anthropicMessages,
  geminiGenerate,
  openAiChat,
  openAiCompletions,
  openAiEmbeddings,
  openAiResponses,
];
