/** Guards agents of LlamaIndex.TS: prompts, tool calls, tool results and answers, whole and streamed. */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import type { GuardVerdict } from '../types.ts';
import { type AdapterOptions, describeBlock, overrideMembers, runOrReportBlock } from './blocked-call.ts';
import { mapPromptTexts } from './prompt-texts.ts';

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
      runOrReportBlock(
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
  const { chat, complete, exec, streamExec } = llm as LlamaIndexModel;
  const guarded: Llm = overrideMembers(llm, {
    chat: (params: ChatParams) =>
      runOrReportBlock(
        options,
        async () => {
          const messages = await Promise.all(params.messages.map((message) => protectPrompt(guard, message)));
          const answer = await chat.call(llm, { ...params, messages });
          if (params.stream === true) return guardChunks(guard, answer as AsyncIterable<Chunk>, options);
          return protectAnswer(guard, answer as ChatAnswer);
        },
        (reason) =>
          params.stream === true
            ? streamReason(reason)
            : { message: { role: 'assistant', content: reason }, raw: null },
      ),
    complete: (params: CompletionParams) =>
      runOrReportBlock(
        options,
        async () => {
          const prompt = await mapTexts(params.prompt, (text) => guard.protect.input(text));
          const answer = await complete.call(llm, { ...params, prompt });
          if (params.stream === true)
            return guardChunks(guard, answer as AsyncIterable<Chunk>, options, 'text');
          const { text: whole } = answer as { text: string };
          const text = await guard.protect.output(whole);
          return { ...(answer as object), text, ...(text !== whole && { raw: null }) };
        },
        (reason) => (params.stream === true ? streamReason(reason, 'text') : { text: reason, raw: null }),
      ),
    // These call `chat`, so they must call the guarded one.
    exec: (params: unknown) =>
      runOrReportBlock(
        options,
        async () => protectObject(guard, await exec.call(guarded, params)),
        (reason) => ({ newMessages: [{ role: 'assistant', content: reason }], toolCalls: [] }),
      ),
    streamExec: (params: unknown) => streamExec.call(guarded, params),
  });
  return guarded;
}

/** The functions of a model that answer. */
interface LlamaIndexModel {
  readonly chat: (params: ChatParams) => Promise<unknown>;
  readonly complete: (params: CompletionParams) => Promise<unknown>;
  readonly exec: (params: unknown) => Promise<{ readonly object?: unknown }>;
  readonly streamExec: (params: unknown) => unknown;
}

interface CompletionParams {
  readonly prompt: unknown;
  readonly stream?: boolean;
}

interface ChatAnswer {
  readonly message: ChatMessage;
}

/** A piece of an answer: of a chat in `delta`, of a completion in `text`. */
interface Chunk {
  readonly delta?: string;
  readonly text?: string;
  /** The form of the provider. */
  readonly raw?: unknown;
}

async function protectAnswer(guard: Guard, answer: ChatAnswer): Promise<ChatAnswer> {
  const { message } = answer;
  const content = await mapTexts(message.content, (text) => guard.protect.output(text));
  // The provider's own form of the answer holds the text as it was.
  return { ...answer, ...(content !== message.content && { raw: null }), message: { ...message, content } };
}

/** Checks a structured answer. One that would be masked is blocked, because its masked form may break its schema. */
async function protectObject<Answer extends { readonly object?: unknown }>(
  guard: Guard,
  answer: Answer,
): Promise<Answer> {
  if (answer.object === undefined) return answer;
  const verdict = await guard.output(JSON.stringify(answer.object));
  if (verdict.decision !== 'allow') throw new BlockedError({ ...verdict, decision: 'block' });
  return answer;
}

async function* streamReason(reason: string, member: 'delta' | 'text' = 'delta'): AsyncGenerator<Chunk> {
  yield { [member]: reason, raw: null };
}

async function protectPrompt(guard: Guard, message: ChatMessage): Promise<ChatMessage> {
  if (message.role !== 'user') return message;
  return { ...message, content: await mapPromptTexts(message.content, (text) => guard.protect.input(text)) };
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
  source: AsyncIterable<Chunk>,
  { on_block = 'return' }: AdapterOptions,
  member: 'delta' | 'text' = 'delta',
): AsyncGenerator<Chunk> {
  const stream = guard.openStream();
  let last: Chunk = {};
  for await (const chunk of source) {
    last = chunk;
    const { text, verdict } = await stream.push(chunk[member] ?? '');
    if (verdict?.decision === 'block') return yield* endBlocked(verdict, on_block, member);
    // A chunk without text may carry calls of tools. The provider's own form of it holds text that is not checked.
    yield { ...chunk, [member]: text, raw: null } as Chunk;
  }
  const { text, verdict } = await stream.end();
  if (verdict?.decision === 'block') return yield* endBlocked(verdict, on_block, member);
  if (text !== '') yield { ...last, [member]: text, raw: null } as Chunk;
}

async function* endBlocked(
  verdict: GuardVerdict,
  on_block: 'return' | 'raise',
  member: 'delta' | 'text',
): AsyncGenerator<Chunk> {
  const error = new BlockedError(verdict);
  if (on_block === 'raise') throw error;
  yield* streamReason(describeBlock(error), member);
}
