import type { WireFormat } from '../types.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { openAiChat } from './openai-chat.ts';

/** All ways of asking a provider that can be guarded, by their names. */
export const formats: readonly WireFormat[] = [anthropicMessages, openAiChat];
