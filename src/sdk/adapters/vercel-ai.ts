/**
 * Guards programs that use the AI SDK of Vercel, version 6 or later: prompts, tool calls, tool results and answers,
 * whole and streamed.
 */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import type { GuardStream } from '../types.ts';
import { type AdapterOptions, runOrReportBlock, waitForWhole } from './blocked-call.ts';

interface TextPart {
  readonly type: string;
  readonly text?: unknown;
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
 * @param specification_version - that of the models in use: `v4` for version 7 of the AI SDK, `v3` for version 6
 */
export function createVercelMiddleware(guard: Guard, specification_version = 'v4'): VercelMiddleware {
  const middleware = {
    specificationVersion: specification_version,
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
      const content = await Promise.all(result.content.map((part) => protectAnswer(guard, part)));
      const is_changed = content.some((part, at) => part.text !== result.content[at]?.text);
      // The body of the provider holds the text as it was.
      return { ...result, content, ...(is_changed && { response: { ...result.response, body: undefined } }) };
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
    const { execute } = tool;
    if (execute === undefined) return [name, tool] as const;
    const judged = (input: unknown, context: unknown) =>
      runOrReportBlock(
        options,
        () => guard.run(name, input, (allowed) => waitForWhole(execute.call(tool, allowed, context))),
        (reason) => reason,
      );
    return [name, { ...tool, execute: judged }] as const;
  });
  return Object.fromEntries(guarded) as Tools;
}

interface ExecutableTool {
  readonly execute?: (input: unknown, context: unknown) => unknown;
}

interface PromptMessage {
  readonly role: string;
  readonly content: unknown;
}

/** Checks the texts of users. Results of tools were checked when they were made. */
async function protectMessage(guard: Guard, message: PromptMessage): Promise<PromptMessage> {
  if (message.role !== 'user' || !Array.isArray(message.content)) return message;
  const content = await Promise.all(
    (message.content as TextPart[]).map(async (part) =>
      typeof part.text === 'string' ? { ...part, text: await guard.protect.input(part.text) } : part,
    ),
  );
  return { ...message, content };
}

async function protectAnswer(guard: Guard, part: TextPart): Promise<TextPart> {
  return typeof part.text === 'string' ? { ...part, text: await guard.protect.output(part.text) } : part;
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

/** Each text of a stream has its own guard. A block ends the stream with an error. */
function guardChunks(guard: Guard): TransformStream<unknown, unknown> {
  const open = new Map<string, GuardStream>();
  return new TransformStream<unknown, unknown>({
    transform: async (chunk, out) => {
      const { type, id = '', delta = '' } = chunk as StreamChunk & { id?: string; delta?: string };
      const [kind, phase] = splitType(type);
      if (UNCHECKED.has(type)) return;
      if (phase === null) return out.enqueue(chunk);
      const key = `${kind} ${id}`;
      const stream = open.get(key) ?? guard.openStream();
      open.set(key, stream);
      if (phase === 'start') return out.enqueue(chunk);
      const { text, verdict } = await (phase === 'end' ? stream.end() : stream.push(delta));
      if (verdict?.decision === 'block') throw new BlockedError(verdict);
      if (text !== '') out.enqueue({ type: `${kind}-delta`, id, delta: text });
      if (phase === 'end') {
        open.delete(key);
        out.enqueue(chunk);
      }
    },
  });
}

function splitType(type: string): readonly [kind: string, phase: 'start' | 'delta' | 'end' | null] {
  const [, kind = '', phase] = /^(text|reasoning)-(start|delta|end)$/.exec(type) ?? [];
  return [kind, (phase as 'start' | 'delta' | 'end' | undefined) ?? null];
}
