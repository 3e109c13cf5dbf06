/** Guards agents of LlamaIndex.TS: prompts, tool calls, tool results and answers, whole and streamed. */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import type { GuardVerdict } from '../types.ts';
import { type AdapterOptions, describeBlock, overrideMembers, runOrTell } from './blocked-call.ts';

/** Returns the same tools behind the guard. A blocked call does not run. */
export function guardLlamaIndexTools<Tool extends object>(
  tools: readonly Tool[],
  guard: Guard,
  options: AdapterOptions = {},
): Tool[] {
  return tools.map((tool) => {
    const { metadata, call } = tool as { metadata?: { name?: string }; call?: (input: unknown) => unknown };
    const { name } = metadata ?? {};
    if (name === undefined || call === undefined) return tool;
    const judged = (input: unknown) =>
      runOrTell(
        options,
        () => guard.run(name, input, (allowed) => call.call(tool, allowed)),
        (reason) => reason,
      );
    return overrideMembers(tool, { call: judged });
  });
}

interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
}

interface ChatParams {
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean;
}

/**
 * Returns the same model behind the guard. Prompts are checked before the model sees them, answers before the program
 * does. For a blocked prompt or answer the reason is the answer, because an error inside a workflow of LlamaIndex ends
 * the whole process; with `on_block: 'raise'` it is thrown nevertheless.
 */
export function guardLlamaIndexModel<Llm extends object>(
  llm: Llm,
  guard: Guard,
  options: AdapterOptions = {},
): Llm {
  const { chat } = llm as { chat: (params: ChatParams) => Promise<unknown> };
  return overrideMembers(llm, {
    chat: (params: ChatParams) =>
      runOrTell(
        options,
        async () => {
          const messages = await Promise.all(params.messages.map((message) => protectPrompt(guard, message)));
          const answer = await chat.call(llm, { ...params, messages });
          if (params.stream === true) return guardChunks(guard, answer as AsyncIterable<ChatChunk>, options);
          return protectAnswer(guard, answer as ChatAnswer);
        },
        (reason) =>
          params.stream === true
            ? streamReason(reason)
            : { message: { role: 'assistant', content: reason }, raw: null },
      ),
  });
}

interface ChatAnswer {
  readonly message: ChatMessage;
}

interface ChatChunk {
  readonly delta: string;
}

async function protectAnswer(guard: Guard, answer: ChatAnswer): Promise<ChatAnswer> {
  const { message } = answer;
  const content = await mapTexts(message.content, (text) => guard.protect.output(text));
  // The provider's own form of the answer holds the text as it was.
  return { ...answer, ...(content !== message.content && { raw: null }), message: { ...message, content } };
}

async function* streamReason(delta: string): AsyncGenerator<ChatChunk> {
  yield { delta, raw: null } as ChatChunk;
}

async function protectPrompt(guard: Guard, message: ChatMessage): Promise<ChatMessage> {
  if (message.role !== 'user') return message;
  return { ...message, content: await mapTexts(message.content, (text) => guard.protect.input(text)) };
}

async function mapTexts(content: unknown, change: (text: string) => Promise<string>): Promise<unknown> {
  if (typeof content === 'string') return content === '' ? content : change(content);
  if (!Array.isArray(content)) return content;
  return Promise.all(
    (content as { text?: unknown }[]).map(async (part) =>
      typeof part.text === 'string' ? { ...part, text: await change(part.text) } : part,
    ),
  );
}

async function* guardChunks(
  guard: Guard,
  source: AsyncIterable<ChatChunk>,
  { on_block = 'tell' }: AdapterOptions,
): AsyncGenerator<ChatChunk> {
  const stream = guard.openStream();
  let last: ChatChunk = { delta: '' };
  for await (const chunk of source) {
    last = chunk;
    const { text, verdict } = await stream.push(chunk.delta ?? '');
    if (verdict?.decision === 'block') return yield* endBlocked(verdict, on_block);
    // A chunk without text may carry calls of tools. The provider's own form of it holds text that is not checked.
    yield { ...chunk, delta: text, raw: null } as ChatChunk;
  }
  const { text, verdict } = await stream.end();
  if (verdict?.decision === 'block') return yield* endBlocked(verdict, on_block);
  if (text !== '') yield { ...last, delta: text, raw: null } as ChatChunk;
}

async function* endBlocked(verdict: GuardVerdict, on_block: 'tell' | 'raise'): AsyncGenerator<ChatChunk> {
  const error = new BlockedError(verdict);
  if (on_block === 'raise') throw error;
  yield* streamReason(describeBlock(error));
}
