/**
 * Guards programs that use the AI SDK of Vercel, version 6 or later: prompts, tool calls, tool results and answers,
 * whole and streamed.
 */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import type { GuardStream } from '../types.ts';
import { type AdapterOptions, runOrReportBlock, waitForWhole } from './blocked-call.ts';
import { getHeldCalls, isShown, runHeldCall } from './held-calls.ts';
import { mapPromptTexts } from './prompt-texts.ts';

interface TextPart {
  readonly type: string;
  readonly text?: unknown;
  readonly providerMetadata?: unknown;
}

interface StreamChunk {
  readonly type: string;
}

interface ModelStream {
  readonly stream: ReadableStream<unknown>;
}

/** The part of the middleware of the AI SDK that the guard fills. */
export interface VercelMiddleware {
  readonly specificationVersion: never;
  readonly transformParams: (options: unknown) => Promise<never>;
  readonly wrapGenerate: (options: unknown) => Promise<never>;
  readonly wrapStream: (options: unknown) => Promise<never>;
}

/**
 * Returns the middleware for `wrapLanguageModel`. Prompts are checked before the model sees them, answers before the
 * program does; what a rule masks is masked. Streams give calls of tools as a whole and not in parts. A blocked prompt or
 * answer rejects with `BlockedError`.
 *
 * @param specificationVersion - that of the models in use: `v4` for version 7 of the AI SDK, `v3` for version 6
 */
export function createVercelMiddleware(guard: Guard, specificationVersion = 'v4'): VercelMiddleware {
  const middleware = {
    specificationVersion: specificationVersion,
    transformParams: async ({ params }: { params: { prompt: readonly PromptMessage[] } }) => ({
      ...params,
      prompt: await Promise.all(params.prompt.map((message) => protectMessage(guard, message))),
    }),
    wrapGenerate: async ({
      doGenerate,
    }: {
      doGenerate: () => PromiseLike<{ content: readonly TextPart[]; response?: object }>;
    }) => {
      const result = await doGenerate();
      const parts = await Promise.all(result.content.map((part) => protectPart(guard, part)));
      const isChanged = parts.some((part, at) => part !== result.content[at]);
      const content = parts.filter((part) => part !== null);
      // The other members, which the provider wrote, hold the text as it was.
      const own = { providerMetadata: undefined, response: { ...result.response, body: undefined } };
      return { ...result, content, ...(isChanged && own) };
    },
    wrapStream: async ({ doStream }: { doStream: () => PromiseLike<ModelStream> }) => {
      const result = await doStream();
      return { ...result, stream: result.stream.pipeThrough(guardChunks(guard)) };
    },
  };
  return middleware as unknown as VercelMiddleware;
}

/**
 * Returns the same tools behind the guard. A blocked call does not run. Tools without `execute` run elsewhere and are
 * returned as they are.
 */
export function guardVercelTools<Tools extends object>(
  tools: Tools,
  guard: Guard,
  options: AdapterOptions = {},
): Tools {
  const guarded = Object.entries(tools as Readonly<Record<string, ExecutableTool>>).map(([name, tool]) => {
    const { execute, onInputAvailable } = tool;
    if (execute === undefined) return [name, tool] as const;
    const work = async (input: unknown, context: object) => {
      // A tool could act on its input, so it receives it after the check.
      await onInputAvailable?.call(tool, { ...context, input });
      return waitForWhole(execute.call(tool, input, context));
    };
    const judged = async (input: unknown, context: object) => {
      const result = await runOrReportBlock(
        options,
        () => {
          // A program may run a tool itself, without a context.
          const id = (context as { toolCallId?: string } | undefined)?.toolCallId;
          return runHeldCall(guard, { id, tool: name, input }, (allowed) => work(allowed, context));
        },
        (reason) => reason,
      );
      getKnownResults(guard).add(result);
      return result;
    };
    return [
      name,
      { ...tool, execute: judged, ...(onInputAvailable && { onInputAvailable: undefined }) },
    ] as const;
  });
  return Object.fromEntries(guarded) as Tools;
}

interface ExecutableTool {
  readonly execute?: (input: unknown, context: object) => unknown;
  readonly onInputAvailable?: (options: object) => unknown;
}

/** Results that are checked: those of guarded tools, and those that were found in prompts. */
interface KnownResults {
  readonly add: (result: unknown) => void;
  readonly has: (result: unknown) => boolean;
}

/** Results that are remembered, and the size of the largest in characters. All others are checked again. */
const RESULTS_MAX = 1_000;
const RESULT_CHARACTERS_MAX = 10_000;
const knownResults = new WeakMap<Guard, KnownResults>();

function getKnownResults(guard: Guard): KnownResults {
  const known = knownResults.get(guard);
  if (known !== undefined) return known;
  const keys = new Set<string>();
  const made: KnownResults = {
    add: (result) => {
      const key = JSON.stringify(result) ?? '';
      if (key.length > RESULT_CHARACTERS_MAX) return;
      if (keys.size >= RESULTS_MAX) keys.clear();
      keys.add(key);
    },
    has: (result) => keys.has(JSON.stringify(result) ?? ''),
  };
  knownResults.set(guard, made);
  return made;
}

interface PromptMessage {
  readonly role: string;
  readonly content: unknown;
}

/** Checks the texts of users, and results of tools that ran elsewhere, such as in the browser of the user. */
async function protectMessage(guard: Guard, message: PromptMessage): Promise<PromptMessage> {
  if (message.role !== 'user') return protectResults(guard, message);
  return { ...message, content: await mapPromptTexts(message.content, (text) => guard.protect.input(text)) };
}

interface ResultPart {
  readonly type: string;
  readonly toolName: string;
  readonly output?: { readonly type: string; readonly value?: unknown };
}

async function protectResults(guard: Guard, message: PromptMessage): Promise<PromptMessage> {
  if (!Array.isArray(message.content)) return message;
  const known = getKnownResults(guard);
  const content = await Promise.all(
    (message.content as ResultPart[]).map(async (part) => {
      const { type, toolName, output } = part;
      if (type !== 'tool-result' || output?.value === undefined || known.has(output.value)) return part;
      const value = await guard.protect.toolResult(toolName, output.value);
      known.add(value);
      return value === output.value ? part : { ...part, output: { ...output, value } };
    }),
  );
  return { ...message, content };
}

/** Parts whose content is no text. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set(['file', 'reasoning-file']);

/** Checks a part of an answer. Returns `null` for one that would have to be masked and has no text of its own. */
async function protectPart<Part extends TextPart>(guard: Guard, part: Part): Promise<Part | null> {
  if (typeof part.text === 'string') {
    const text = await guard.protect.output(part.text);
    return text === part.text ? part : { ...part, text, providerMetadata: undefined };
  }
  if (WITHOUT_TEXT.has(part.type)) return part;
  if (part.type === 'tool-call') return holdCall(guard, part);
  const { type, toolName, result } = part as Part & { toolName?: string; result?: unknown };
  if (type === 'tool-result') {
    const checked = await guard.protect.toolResult(String(toolName), result);
    return checked === result ? part : { ...part, result: checked, providerMetadata: undefined };
  }
  return (await isShown(guard, part)) ? part : null;
}

/** Holds a call. The provider has run its tools already, so their arguments are only left out. */
async function holdCall<Part extends TextPart>(guard: Guard, part: Part): Promise<Part> {
  const { toolCallId: id, toolName: tool, input, providerExecuted } = part as Part & CallPart;
  const given = parseInput(input);
  const kept =
    providerExecuted !== true
      ? await getHeldCalls(guard).hold({ id, tool, input: given })
      : (await isShown(guard, given))
        ? given
        : {};
  return kept === given ? part : { ...part, input: JSON.stringify(kept), providerMetadata: undefined };
}

interface CallPart {
  readonly toolCallId: string;
  readonly toolName: string;
  /** JSON, as the model wrote it. */
  readonly input: string;
  readonly providerExecuted?: boolean;
}

/** Arguments that are no JSON are judged as a text. No tool runs with them. */
function parseInput(input: string): unknown {
  try {
    return JSON.parse(input === '' ? '{}' : input);
  } catch {
    return input;
  }
}

/**
 * Chunks that are left out, because nothing checks their text: those of the provider, and parts of the arguments of a
 * call, on which a tool could act before the whole call, which follows, is checked.
 */
const UNCHECKED: ReadonlySet<string> = new Set([
  'raw',
  'tool-input-start',
  'tool-input-delta',
  'tool-input-end',
]);

/** Chunks with a part of an answer that is whole. */
const PARTS: ReadonlySet<string> = new Set(['source', 'custom', 'tool-call', 'tool-result']);

/** Each text of a stream has its own guard. A block ends the stream with an error. */
function guardChunks(guard: Guard): TransformStream<unknown, unknown> {
  const open = new Map<string, GuardStream>();
  let isChanged = false;
  // The metadata of the provider hold the text as it was.
  const clean = (chunk: object) => (isChanged ? { ...chunk, providerMetadata: undefined } : chunk);
  return new TransformStream<unknown, unknown>({
    transform: async (chunk, out) => {
      const { type, id = '', delta = '' } = chunk as StreamChunk & { id?: string; delta?: string };
      const [kind, phase] = splitType(type);
      if (UNCHECKED.has(type)) return;
      if (PARTS.has(type)) {
        const part = await protectPart(guard, chunk as TextPart);
        isChanged ||= part !== chunk;
        if (part !== null) out.enqueue(part);
        return;
      }
      if (phase === null) return out.enqueue(type === 'finish' ? clean(chunk as object) : chunk);
      const key = `${kind} ${id}`;
      const stream = open.get(key) ?? guard.openStream();
      open.set(key, stream);
      if (phase === 'start') return out.enqueue(chunk);
      const { text, verdict } = await (phase === 'end' ? stream.end() : stream.push(delta));
      if (verdict?.decision === 'block') throw new BlockedError(verdict);
      if (text !== '') out.enqueue({ type: `${kind}-delta`, id, delta: text });
      isChanged ||= verdict?.decision === 'modify';
      if (phase === 'end') {
        open.delete(key);
        out.enqueue(clean(chunk as object));
      }
    },
  });
}

function splitType(type: string): readonly [kind: string, phase: 'start' | 'delta' | 'end' | null] {
  const [, kind = '', phase] = /^(text|reasoning)-(start|delta|end)$/.exec(type) ?? [];
  return [kind, (phase as 'start' | 'delta' | 'end' | undefined) ?? null];
}
