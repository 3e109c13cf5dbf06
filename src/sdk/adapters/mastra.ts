/**
 * Guards agents of Mastra, version 1.0 or later, by processors and tools: prompts, tool calls, tool results and answers,
 * whole and streamed.
 */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import type { GuardStream, StreamPiece } from '../types.ts';
import { type AdapterOptions, runOrReportBlock } from './blocked-call.ts';
import { getHeldCalls, isShown, runHeldCall } from './held-calls.ts';
import { mapPromptTexts } from './prompt-texts.ts';

interface MessagePart {
  readonly type: string;
  readonly text?: unknown;
  /** The text of a part of type `reasoning`, and the same in pieces. */
  readonly reasoning?: unknown;
  readonly details?: readonly MessagePart[];
}

interface MastraMessage {
  readonly role: string;
  readonly content: { readonly parts: readonly MessagePart[]; readonly content?: unknown };
}

interface ProcessorCall {
  readonly messages: readonly MastraMessage[];
  readonly abort: (reason?: string) => never;
}

interface StreamCall {
  readonly part: {
    readonly type: string;
    /** Absent in a part with the program's data. */
    readonly payload?: Readonly<Record<string, unknown>>;
  };
  readonly state: Record<string, unknown>;
  readonly abort: (reason?: string) => never;
}

/** A processor of Mastra, for `inputProcessors` and `outputProcessors`. */
export interface MastraProcessor {
  readonly id: string;
  readonly name: string;
  readonly processInput: (call: unknown) => Promise<never>;
  readonly processLLMResponse: (call: unknown) => Promise<never>;
  readonly processOutputStream: (call: unknown) => Promise<never>;
  readonly processOutputResult: (call: unknown) => Promise<never>;
}

/**
 * Returns the processor for `inputProcessors` and `outputProcessors` of an agent. A blocked prompt or answer trips the
 * wire of Mastra with the reason.
 */
export function createMastraProcessor(guard: Guard): MastraProcessor {
  const processor = {
    id: 'customshouse',
    name: 'customshouse',
    processInput: ({ messages, abort }: ProcessorCall) =>
      abortIfBlocked(abort, () => protectPrompts(messages, (text) => guard.protect.input(text))),
    processOutputResult: ({ messages, abort }: ProcessorCall) =>
      abortIfBlocked(abort, () => protectAnswers(messages, (text) => guard.protect.output(text))),
    // The provider's form holds the answer's text as it was. Mastra builds its result from this object.
    processLLMResponse: async ({ rawResponse }: { rawResponse?: { body?: unknown } }) => {
      if (rawResponse !== undefined) delete rawResponse.body;
    },
    processOutputStream: (call: StreamCall) => abortIfBlocked(call.abort, () => guardPart(guard, call)),
  };
  return processor as unknown as MastraProcessor;
}

/** Returns the same tools behind the guard. A blocked call does not run. */
export function guardMastraTools<Tools extends object>(
  tools: Tools,
  guard: Guard,
  options: AdapterOptions = {},
): Tools {
  const guarded = Object.entries(tools as Readonly<Record<string, MastraTool>>).map(([key, tool]) => {
    const { id = key, execute } = tool;
    if (execute === undefined) return [key, tool] as const;
    const judged: ExecuteFunction = (input, ...rest) =>
      runOrReportBlock(
        options,
        () => {
          const [context] = rest as [{ agent?: { toolCallId?: string } }?];
          const call = { id: context?.agent?.toolCallId, tool: id, input };
          return runHeldCall(guard, call, (allowed) => execute.call(tool, allowed, ...rest));
        },
        (reason) => reason,
      );
    return [
      key,
      Object.create(tool, { execute: { value: judged, enumerable: true } }) as MastraTool,
    ] as const;
  });
  return Object.fromEntries(guarded) as Tools;
}

type ExecuteFunction = (input: unknown, ...rest: unknown[]) => Promise<unknown>;

interface MastraTool {
  readonly id?: string;
  readonly execute?: ExecuteFunction;
}

async function abortIfBlocked<Value>(
  abort: (reason?: string) => never,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BlockedError) return abort(`Blocked by policy: ${error.reason}`);
    throw error;
  }
}

function protectPrompts(
  messages: readonly MastraMessage[],
  change: (text: string) => Promise<string>,
): Promise<readonly MastraMessage[]> {
  return Promise.all(
    messages.map(async (message) => {
      if (message.role !== 'user') return message;
      const { parts, content } = message.content;
      const checked = await mapPromptTexts(parts, change);
      const whole = typeof content === 'string' && { content: await change(content) };
      return { ...message, content: { ...message.content, parts: checked, ...whole } };
    }),
  );
}

function protectAnswers(
  messages: readonly MastraMessage[],
  change: (text: string) => Promise<string>,
): Promise<readonly MastraMessage[]> {
  return Promise.all(
    messages.map(async (message) => {
      if (message.role !== 'assistant') return message;
      const parts = await Promise.all(message.content.parts.map((part) => protectPart(part, change)));
      const { content } = message.content;
      const whole = typeof content === 'string' && { content: await change(content) };
      return { ...message, content: { ...message.content, parts, ...whole } };
    }),
  );
}

async function protectPart(
  part: MessagePart,
  change: (text: string) => Promise<string>,
): Promise<MessagePart> {
  const { text, reasoning, details = [] } = part;
  if (typeof text === 'string') return { ...part, text: await change(text) };
  if (part.type !== 'reasoning') return part;
  const pieces = details.map((each) => (typeof each.text === 'string' ? each.text : ''));
  const whole = typeof reasoning === 'string' && reasoning !== '' ? reasoning : pieces.join('');
  if (whole === '') return part;
  const checked = await change(whole);
  return checked === whole
    ? part
    : { ...part, reasoning: checked, details: [{ type: 'text', text: checked }] };
}

/** Parts that are left out, because nothing checks their text: those of the provider, and parts of the arguments of a call. */
const UNCHECKED: ReadonlySet<string> = new Set([
  'raw',
  'tool-call-delta',
  'tool-call-input-streaming-start',
  'tool-call-input-streaming-end',
]);

interface OpenText {
  readonly stream: GuardStream;
  /** The last part with text. */
  readonly delta: StreamCall['part'];
}

/** Releases text and reasoning as far as they are checked. The rest comes with the part that ends the text. */
async function guardPart(guard: Guard, { part, state }: StreamCall): Promise<unknown> {
  const { type, payload = {} } = part;
  if (UNCHECKED.has(type)) return null;
  if (type === 'tool-call') return holdCall(guard, part);
  const [, kind, phase] = /^(text|reasoning)-(delta|end)$/.exec(type) ?? [];
  const key = `customshouse ${kind} ${String(payload.id ?? '')}`;
  const open = state[key] as OpenText | undefined;
  if (phase === 'delta') {
    const { stream } = open ?? { stream: guard.openStream() };
    state[key] = { stream, delta: part } satisfies OpenText;
    const text = getReleased(await stream.push(String(payload.text ?? '')));
    return text === '' ? null : { ...part, payload: { ...payload, text } };
  }
  if (phase !== 'end') return withoutMetadata(guard, part);
  if (open === undefined) return part;
  delete state[key];
  const text = getReleased(await open.stream.end());
  return text === ''
    ? withoutMetadata(guard, part)
    : { ...open.delta, payload: { ...open.delta.payload, text } };
}

/** Leaves out what the provider says about an answer if an answer could not show it. Steps are changed in place. */
async function withoutMetadata(guard: Guard, part: StreamCall['part']): Promise<StreamCall['part']> {
  if (part.payload === undefined) return part;
  const { metadata, output, ...payload } = part.payload as MetadataHolder & {
    metadata?: MetadataHolder;
    output?: { steps?: readonly MetadataHolder[] };
  };
  const copies = [payload, { ...metadata }];
  for (const holder of [...copies, ...(output?.steps ?? [])])
    if (holder.providerMetadata !== undefined && !(await isShown(guard, holder.providerMetadata)))
      holder.providerMetadata = undefined;
  const [changed, changedMetadata] = copies;
  return {
    ...part,
    payload: { ...part.payload, ...changed, ...(metadata && { metadata: changedMetadata }) },
  };
}

interface MetadataHolder {
  providerMetadata?: unknown;
}

/** Holds a call. The provider has run its tools already, so their arguments are only left out. */
async function holdCall(guard: Guard, part: StreamCall['part']): Promise<StreamCall['part']> {
  const { toolCallId, toolName, args, providerExecuted } = (part.payload ?? {}) as Partial<CallPayload>;
  const kept =
    providerExecuted !== true
      ? await getHeldCalls(guard).hold({ id: toolCallId, tool: String(toolName), input: args })
      : (await isShown(guard, args))
        ? args
        : {};
  if (kept === args) return part;
  return { ...part, payload: { ...part.payload, args: kept, providerMetadata: undefined } };
}

interface CallPayload {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: unknown;
  readonly providerExecuted?: boolean;
}

function getReleased({ text, verdict }: StreamPiece): string {
  if (verdict?.decision === 'block') throw new BlockedError(verdict);
  return text;
}
