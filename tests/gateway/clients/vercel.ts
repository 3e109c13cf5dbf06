/** Vercel's `ai` with its providers for OpenAI and Anthropic. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import {
  AISDKError,
  APICallError,
  generateText,
  isStepCount,
  jsonSchema,
  RetryError,
  streamObject,
  streamText,
  type ToolSet,
  tool,
} from 'ai';
import type { Ask, SeenError } from './ask.ts';
import { answerAsks, getResult, leaver, type SightProgram } from './program.ts';

(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

answerAsks(async (ask, seeing) => {
  const { signal, onEvent } = leaver(ask, seeing);
  const options = {
    ...getOptions(ask, seeing),
    abortSignal: AbortSignal.any([signal, AbortSignal.timeout(ask.timeout_ms)]),
  };
  if (ask.is_structured) return streamStructured(ask, options, seeing);
  if (!ask.is_stream) return note(await generateText(options), seeing);
  let failed: { error: unknown } | null = null;
  const result = streamText({
    ...options,
    onError: ({ error }) => {
      failed ??= { error };
    },
  });
  for await (const part of result.fullStream) {
    if (part.type === 'text-delta') seeing.pieces += 1;
    onEvent();
  }
  if (failed !== null) throw (failed as { error: unknown }).error;
  const [text, reasoningText, finishReason, usage, steps] = await Promise.all([
    result.text,
    result.reasoningText,
    result.finishReason,
    result.usage,
    result.steps,
  ]);
  note({ text, reasoningText, finishReason, usage, steps }, seeing);
}, describe);

async function streamStructured(
  ask: Ask,
  { model, maxRetries, abortSignal }: StructuredOptions,
  seeing: SightProgram,
) {
  const schema = jsonSchema<unknown>({ type: 'object', additionalProperties: true });
  const result = streamObject({ model, schema, prompt: ask.text, maxRetries, abortSignal });
  for await (const _partial of result.partialObjectStream) seeing.pieces += 1;
  seeing.text = JSON.stringify(await result.object);
}

interface StructuredOptions extends Pick<ReturnType<typeof getOptions>, 'model' | 'maxRetries'> {
  readonly abortSignal: AbortSignal;
}

function getOptions(ask: Ask, seeing: SightProgram) {
  let called = 0;
  const execute = async (): Promise<string> => getResult(ask, seeing, called++);
  const inputSchema = jsonSchema<Record<string, unknown>>({ type: 'object', additionalProperties: true });
  const declared: ToolSet[string] =
    ask.results.length > 0 ? tool({ inputSchema, execute }) : tool({ inputSchema });
  const image = { type: 'file' as const, data: ask.image_base64 ?? '', mediaType: 'image/png' };
  const parts = [{ type: 'text' as const, text: ask.text }, ...(ask.image_base64 === null ? [] : [image])];
  return {
    model: getModel(ask),
    ...(ask.instructions !== null && { instructions: ask.instructions }),
    messages: [{ role: 'user' as const, content: parts }],
    tools: Object.fromEntries(ask.tools.map((name) => [name, declared])),
    stopWhen: isStepCount(5),
    maxRetries: ask.max_retries,
  };
}

function getModel({ api, base_url, key, headers, model }: Ask) {
  const settings = { baseURL: `${base_url}/v1`, apiKey: key, headers: { ...headers } };
  if (api === 'chat') return createOpenAI(settings).chat(model);
  return api === 'responses' ? createOpenAI(settings).responses(model) : createAnthropic(settings)(model);
}

interface Result {
  readonly text: string;
  readonly reasoningText: string | undefined;
  readonly finishReason: string;
  readonly usage: { readonly inputTokens: number | undefined; readonly outputTokens: number | undefined };
  readonly steps: readonly { readonly toolCalls: readonly { toolName: string; input: unknown }[] }[];
}

function note({ text, reasoningText, finishReason, usage, steps }: Result, seeing: SightProgram): void {
  seeing.text = text === '' ? null : text;
  seeing.thinking = reasoningText ?? null;
  seeing.finish = finishReason;
  seeing.usage = [usage.inputTokens ?? null, usage.outputTokens ?? null];
  seeing.turns = steps.length;
  seeing.calls = steps.flatMap(({ toolCalls }) =>
    toolCalls.map(({ toolName, input }) => ({ tool: toolName, arguments: input })),
  );
}

/** Errors of OpenAI and Anthropic. */
interface OpenError {
  readonly code?: string;
  readonly type?: string;
  readonly details?: { readonly error_code?: string } | null;
}

function describe(given: unknown): SeenError | null {
  const error = RetryError.isInstance(given) ? given.lastError : given;
  if (APICallError.isInstance(error)) {
    const body = (error.data ?? null) as { error?: OpenError } | null;
    return {
      name: error.name,
      status: error.statusCode ?? null,
      code: body?.error?.code ?? body?.error?.details?.error_code ?? null,
      type: body?.error?.type ?? null,
      message: error.message,
      body,
    };
  }
  const { name, message } = error as Error;
  const isOwn = AISDKError.isInstance(error) || name === 'TimeoutError' || name === 'AbortError';
  if (isOwn) return { name, status: null, code: null, type: null, message, body: null };
  // An error in a stream is passed on unchanged.
  const body = error as { type?: string; code?: string; message?: string };
  if (error instanceof Error) return null;
  return {
    name: 'stream',
    status: null,
    code: body.code ?? null,
    type: body.type ?? null,
    message: JSON.stringify(body),
    body,
  };
}
