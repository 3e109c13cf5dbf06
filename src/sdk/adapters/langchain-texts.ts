/** Checks the texts in messages, answers and streams of LangChain. */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import type { GuardStream, StreamPiece } from '../types.ts';
import { holdMessageCalls } from './langchain-calls.ts';
import { mapPromptTexts } from './prompt-texts.ts';

/** The part of a message that is read and changed. */
export interface ChatMessage {
  readonly content: unknown;
  readonly additional_kwargs?: Readonly<Record<string, unknown>>;
}

/** One answer of a model. */
export interface ChatGeneration {
  readonly text: string;
  readonly message: ChatMessage;
  readonly generationInfo?: Readonly<Record<string, unknown>>;
}

/** The answers of one call of a model. */
export interface ChatResult {
  readonly generations: readonly ChatGeneration[];
  readonly llmOutput?: unknown;
}

/** A part of an answer that is still arriving. */
export interface GenerationChunk extends ChatGeneration {
  readonly concat: (next: GenerationChunk) => GenerationChunk;
}

type Block = Readonly<Record<string, unknown>>;

/** Members of a block that hold what a model says or thinks. */
const TEXT_MEMBERS = ['text', 'thinking', 'reasoning'];
/** Members in `additional_kwargs` that repeat tool calls. */
const CALL_MEMBERS = ['tool_calls', 'function_call'];

/** Returns messages in which what users say is checked. */
export function protectMessages<Message extends ChatMessage>(
  messages: readonly Message[],
  guard: Guard,
): Promise<Message[]> {
  return Promise.all(
    messages.map(async (message) => {
      if (!['human', 'generic'].includes(readType(message))) return message;
      const { content } = message;
      const checked = await mapPromptTexts(content, (text) => guard.protect.input(text));
      return checked === content ? message : rebuildMessage(message, { content: checked });
    }),
  );
}

/** Returns the kind of a message: `human`, `generic` for a role of another name, `ai`, `tool` or `system`. */
function readType(message: object): string {
  const { type, getType } = message as { type?: string; getType?: () => string };
  return type ?? getType?.call(message) ?? '';
}

/** Returns all texts of a message as one. */
export function readMessageText({ content }: Pick<ChatMessage, 'content'>): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as Block[]).map((block) => String(block[findTextMember(block) ?? ''] ?? '')).join('');
}

/** Returns a model's answer with checked texts and held calls. If one changes, what else the provider sent is left out. */
export async function protectAnswer<Message extends ChatMessage>(
  message: Message,
  guard: Guard,
): Promise<Message> {
  const { content } = message;
  const checked = await mapTexts(content, (text) => guard.protect.output(text));
  const hasSameExtra = await protectExtra(message, guard);
  const calls = await holdMessageCalls({ ...message, content: checked }, guard);
  return checked === content && hasSameExtra && calls === null
    ? message
    : rebuildMessage(message, { ...WITHOUT_EXTRA, content: checked, ...calls });
}

/** The provider's own form of an answer holds the text as it was. */
const WITHOUT_EXTRA = { additional_kwargs: {}, response_metadata: {} };

/** Checks what a provider puts next to the content, such as reasoning. Returns `false` if it must be left out. */
async function protectExtra({ additional_kwargs = {} }: ChatMessage, guard: Guard): Promise<boolean> {
  const extra = Object.entries(additional_kwargs).filter(
    ([name, value]) => !CALL_MEMBERS.includes(name) && value !== undefined && value !== null && value !== '',
  );
  if (extra.length === 0) return true;
  const text = JSON.stringify(Object.fromEntries(extra));
  return (await guard.protect.output(text)) === text;
}

/** Returns the answers of a call with checked texts. */
export async function protectResult(result: ChatResult, guard: Guard): Promise<ChatResult> {
  const generations = await protectGenerations(result.generations, guard);
  const isSame = generations.every((each, at) => each === result.generations[at]);
  return isSame ? result : { ...result, generations, llmOutput: undefined };
}

/** Returns answers with checked texts. */
export function protectGenerations(
  generations: readonly ChatGeneration[],
  guard: Guard,
): Promise<readonly ChatGeneration[]> {
  return Promise.all(
    generations.map(async (generation) => {
      const message = await protectAnswer(generation.message, guard);
      if (message === generation.message) return generation;
      return { ...generation, message, text: readMessageText(message), generationInfo: {} };
    }),
  );
}

/**
 * Yields the parts of an answer as far as their texts are checked. All else of the answer, such as calls of tools and
 * the provider's own form, comes with the last part.
 */
export async function* guardChunks(
  source: AsyncIterable<GenerationChunk>,
  guard: Guard,
): AsyncGenerator<GenerationChunk> {
  const texts = openTexts(guard);
  let rest: GenerationChunk | null = null;
  for await (const chunk of source) {
    const { content } = chunk.message;
    const shown = await texts.push(content);
    if (shown !== null) yield rebuildChunk(chunk, { ...WITHOUT_EXTRA, ...WITHOUT_REST, content: shown });
    const left = rebuildChunk(chunk, { content: removeTexts(content) }, chunk.generationInfo);
    rest = rest === null ? left : rest.concat(left);
  }
  if (rest === null) return;
  const { parts, is_same } = await texts.end();
  for (const content of parts) yield rebuildChunk(rest, { ...WITHOUT_EXTRA, ...WITHOUT_REST, content });
  const hasSameExtra = await protectExtra(rest.message, guard);
  const calls = await holdMessageCalls(rest.message, guard);
  yield is_same && hasSameExtra && calls === null ? rest : rebuildChunk(rest, { ...WITHOUT_EXTRA, ...calls });
}

/** Members of a chunk that must come once. */
const WITHOUT_REST = {
  tool_calls: [],
  tool_call_chunks: [],
  invalid_tool_calls: [],
  usage_metadata: undefined,
};

interface OpenText {
  readonly stream: GuardStream;
  /** Builds the content of a chunk from text that may be shown. */
  readonly wrap: (text: string) => unknown;
}

/** Guards the texts of an answer, each as a separate stream. */
function openTexts(guard: Guard) {
  const open = new Map<string, OpenText>();
  const pushOne = async (key: string, text: string, wrap: OpenText['wrap']): Promise<unknown> => {
    const known = open.get(key);
    const { stream } = known ?? { stream: guard.openStream() };
    if (known === undefined) open.set(key, { stream, wrap });
    const released = throwIfBlocked(await stream.push(text)).text;
    // The first part of a block, even an empty one, keeps its place before later blocks.
    return released === '' && (known !== undefined || key === '') ? null : wrap(released);
  };
  return {
    /** Takes the content of a chunk. Returns the content to show now; `null` if there is none. */
    push: async (content: unknown): Promise<unknown> => {
      if (typeof content === 'string') return content === '' ? null : pushOne('', content, (text) => text);
      if (!Array.isArray(content)) return null;
      const shown: unknown[] = [];
      for (const [at, block] of (content as Block[]).entries()) {
        const member = findTextMember(block);
        if (member === null || block[member] === '') continue;
        const { type, index } = block;
        const wrap = (text: string) => [{ type, ...(index !== undefined && { index }), [member]: text }];
        const part = await pushOne(`${member} ${index ?? at}`, String(block[member]), wrap);
        if (part !== null) shown.push(...(part as unknown[]));
      }
      return shown.length === 0 ? null : shown;
    },
    /** Ends all texts. Returns what was held back, and whether nothing was changed. */
    end: async (): Promise<{ parts: unknown[]; is_same: boolean }> => {
      const parts: unknown[] = [];
      let isSame = true;
      for (const { stream, wrap } of open.values()) {
        const { text, verdict } = throwIfBlocked(await stream.end());
        isSame &&= verdict?.decision === 'allow';
        if (text !== '') parts.push(wrap(text));
      }
      return { parts, is_same: isSame };
    },
  };
}

function throwIfBlocked(piece: StreamPiece): StreamPiece {
  if (piece.verdict?.decision === 'block') throw new BlockedError(piece.verdict);
  return piece;
}

/** Returns what is left of a content without its texts. */
function removeTexts(content: unknown): unknown {
  if (!Array.isArray(content)) return typeof content === 'string' ? '' : content;
  return (content as Block[]).flatMap((block) => {
    const member = findTextMember(block);
    if (member === null) return [block];
    const { type: _, index: __, [member]: ___, ...others } = block;
    return Object.keys(others).length === 0 ? [] : [{ ...block, [member]: '' }];
  });
}

function findTextMember(block: Block): string | null {
  return TEXT_MEMBERS.find((member) => typeof block[member] === 'string') ?? null;
}

async function mapTexts(content: unknown, change: (text: string) => Promise<string>): Promise<unknown> {
  if (typeof content === 'string') return content === '' ? content : change(content);
  if (!Array.isArray(content)) return content;
  let isSame = true;
  const blocks = await Promise.all(
    (content as Block[]).map(async (block) => {
      const member = findTextMember(block);
      if (member === null) return block;
      const text = await change(String(block[member]));
      isSame &&= text === block[member];
      return { ...block, [member]: text };
    }),
  );
  return isSame ? content : blocks;
}

/** Creates the same kind of message with other members. */
export function rebuildMessage<Message extends object>(message: Message, members: object): Message {
  const build = message.constructor as new (fields: object) => Message;
  // A message keeps its members a second time, for its JSON form.
  const { lc_kwargs: _, ...fields } = message as Message & { lc_kwargs?: unknown };
  return new build({ ...fields, ...members });
}

function rebuildChunk(
  chunk: GenerationChunk,
  members: object,
  generationInfo: GenerationChunk['generationInfo'] = {},
): GenerationChunk {
  const build = chunk.constructor as new (fields: object) => GenerationChunk;
  const message = rebuildMessage(chunk.message, members);
  return new build({ message, text: readMessageText(message), generationInfo });
}
