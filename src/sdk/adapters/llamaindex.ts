/** Guards agents of LlamaIndex.TS: prompts, tool calls, tool results and answers, whole and streamed. */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import type { GuardVerdict } from '../types.ts';
import { type AdapterOptions, describeBlock, overrideMembers, runOrReportBlock } from './blocked-call.ts';
import { findRefusal, getHeldCalls, runHeldCall } from './held-calls.ts';
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
        () => runHeldCall(guard, { tool: name, input }, (allowed) => call.call(tool, allowed)),
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
  readonly exec: (params: unknown) => Promise<StructuredAnswer>;
  readonly streamExec: (params: unknown) => unknown;
}

interface StructuredAnswer {
  readonly object?: unknown;
  readonly toolCalls?: readonly ToolCall[];
}

interface CompletionParams {
  readonly prompt: unknown;
  readonly stream?: boolean;
}

interface ChatAnswer {
  readonly message: ChatMessage & { readonly options?: CallOptions };
}

/** The answer's member with its calls. */
interface CallOptions {
  readonly toolCall?: readonly ToolCall[];
}

interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** An object, or JSON, which may be incomplete while it arrives. */
  readonly input: unknown;
}

/** A piece of an answer: of a chat in `delta`, of a completion in `text`. */
interface Chunk {
  readonly delta?: string;
  readonly text?: string;
  /** The form of the provider. */
  readonly raw?: unknown;
  readonly options?: CallOptions;
}

async function protectAnswer(guard: Guard, answer: ChatAnswer): Promise<ChatAnswer> {
  const { message } = answer;
  const content = await mapTexts(message.content, (text) => guard.protect.output(text));
  const options = await holdCalls(guard, message.options);
  const isSame = content === message.content && options === message.options;
  // The provider's own form of the answer holds the text as it was.
  return {
    ...answer,
    ...(!isSame && { raw: null }),
    message: { ...message, content, ...(options && { options }) },
  };
}

/** Holds an answer's calls. A tool receives its arguments object and no id, so they are an object here. */
async function holdCalls(guard: Guard, options?: CallOptions): Promise<CallOptions | undefined> {
  if (options?.toolCall === undefined) return options;
  const { toolCall } = options;
  const held = await Promise.all(
    toolCall.map(async (call) => {
      const given = parseInput(call.input);
      const input = await getHeldCalls(guard).hold({ tool: call.name, input: given });
      return input === given ? call : { ...call, input };
    }),
  );
  return held.every((call, at) => call === toolCall[at]) ? options : { ...options, toolCall: held };
}

/** Input that is no JSON is judged as a text, and LlamaIndex refuses it. */
function parseInput(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  try {
    return JSON.parse(input);
  } catch {
    return { rawInput: input };
  }
}

/** Checks a structured answer. One that would be masked is blocked, because its masked form may break its schema. */
async function protectObject<Answer extends StructuredAnswer>(guard: Guard, answer: Answer): Promise<Answer> {
  if (answer.object === undefined) return answer;
  // A model gives such an answer as call arguments.
  for (const { name, input } of answer.toolCalls ?? []) {
    const error = findRefusal({ tool: name, input });
    if (error !== undefined) throw error;
  }
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
  // Calls can arrive in pieces, each with all earlier ones, so they are held until the end.
  const calls = new Map<string, ToolCall>();
  let last: Chunk = {};
  for await (const chunk of source) {
    const { toolCall = [], ...options } = chunk.options ?? {};
    last = { ...chunk, options, raw: null };
    for (const [at, call] of toolCall.entries()) calls.set(call.id || `${at}`, call);
    const { text, verdict } = await stream.push(chunk[member] ?? '');
    if (verdict?.decision === 'block') return yield* endBlocked(verdict, on_block, member);
    // LlamaIndex expects calls in the first chunk. The provider's own form holds text that is not checked.
    if (text !== '' || calls.size === 0) yield { ...last, [member]: text };
  }
  const { text, verdict } = await stream.end();
  if (verdict?.decision === 'block') return yield* endBlocked(verdict, on_block, member);
  if (calls.size === 0) {
    if (text !== '') yield { ...last, [member]: text };
    return;
  }
  const held = await holdCalls(guard, { ...last.options, toolCall: [...calls.values()] });
  yield { ...last, [member]: text, ...(held && { options: held }) };
}

async function* endBlocked(
  verdict: GuardVerdict,
  onBlock: 'return' | 'raise',
  member: 'delta' | 'text',
): AsyncGenerator<Chunk> {
  const error = new BlockedError(verdict);
  if (onBlock === 'raise') throw error;
  yield* streamReason(describeBlock(error), member);
}
