// Guards calls of Vercel's AI SDK: prompts, each tool call, each result, and answers.
//
//   import { generateText, wrapLanguageModel } from 'ai';
//   import { guardMiddleware, guardTools } from './service-vercel-ai.ts';
//
//   const model = wrapLanguageModel({ model: yours, middleware: guardMiddleware() });
//   const { text } = await generateText({ model, tools: guardTools({ lookUp, pay }), prompt });
//
// The model sees a refused call as a failed one; a refused prompt or answer throws Refused. A stream is
// held until it is whole; to have it guarded while it flows, have the model called through the service (docs/reference/llm-proxy.md).
// Tools without `execute` run elsewhere and are not seen here. Needs ai 7.0 or later. This file is yours to change.

import type { LanguageModelMiddleware, ToolSet } from 'ai';
import { openGuard } from './guard.ts';

const guard = openGuard({ agentId: 'vercel-ai' });

/** For wrapLanguageModel: what people say to the model and what it answers is judged. */
export function guardMiddleware(): LanguageModelMiddleware {
  return {
    specificationVersion: 'v4',
    transformParams: async ({ params }) => ({
      ...params,
      prompt: await Promise.all(params.prompt.map(question)),
    }),
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate();
      return { ...result, content: await Promise.all(result.content.map(answered)) };
    },
    wrapStream: async ({ doStream }) => {
      const { stream, ...rest } = await doStream();
      return { ...rest, stream: stream.pipeThrough(held<PartOf<typeof stream>>()) };
    },
  };
}

/** The same tools, each call and each result of which is judged. */
export function guardTools<Tools extends ToolSet>(tools: Tools): Tools {
  const guarded = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool;
    if (execute === undefined) return [name, tool];
    const judged: typeof execute = async (input, options) => {
      const result = execute(await guard.checkCall(name, input), options);
      return guard.checkResult(name, (await whole(result)) ?? null);
    };
    return [name, { ...tool, execute: judged }];
  });
  return Object.fromEntries(guarded) as Tools;
}

type PartOf<Stream> = Stream extends ReadableStream<infer Part> ? Part : never;

/** Some tools give results that are still growing; the last one counts. */
async function whole(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  for await (const each of result as AsyncIterable<unknown>) last = each;
  return last;
}

interface Texts {
  readonly type: string;
  readonly text?: unknown;
}

async function question<Message extends { role: string; content: unknown }>(
  message: Message,
): Promise<Message> {
  if (message.role !== 'user' || !Array.isArray(message.content)) return message;
  const content = await Promise.all(
    (message.content as Texts[]).map(async (part) =>
      typeof part.text === 'string' ? { ...part, text: await guard.checkInput(part.text) } : part,
    ),
  );
  return { ...message, content };
}

async function answered<Part extends Texts>(part: Part): Promise<Part> {
  return typeof part.text === 'string' ? { ...part, text: await guard.checkOutput(part.text) } : part;
}

/** Lets nothing out before all of it is judged. */
function held<Part extends { type: string }>(): TransformStream<Part, Part> {
  const parts: Part[] = [];
  return new TransformStream({
    transform: (part) => void parts.push(part),
    flush: async (out) => {
      const texts = new Map<string, string>();
      for (const part of parts)
        if (isDelta(part)) texts.set(keyOf(part), (texts.get(keyOf(part)) ?? '') + part.delta);
      for (const [key, text] of texts) texts.set(key, await guard.checkOutput(text));
      for (const part of parts) {
        if (!isDelta(part)) out.enqueue(part);
        else if (texts.has(keyOf(part))) {
          out.enqueue({ ...part, delta: texts.get(keyOf(part)) });
          texts.delete(keyOf(part));
        }
      }
    },
  });
}

interface Delta {
  readonly type: string;
  readonly id: string;
  readonly delta: string;
}

function isDelta<Part extends { type: string }>(part: Part): part is Part & Delta {
  return part.type === 'text-delta' || part.type === 'reasoning-delta';
}

function keyOf({ type, id }: Delta): string {
  return `${type} ${id}`;
}
