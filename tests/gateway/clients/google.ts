/** The official `@google/genai` package for JavaScript. */
import { ApiError, type Content, type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai';
import type { Ask, SeenError } from './ask.ts';
import { answerAsks, getResult, leaver, type SightProgram } from './program.ts';

answerAsks(async (ask, seeing) => {
  const client = new GoogleGenAI({
    apiKey: ask.key,
    httpOptions: {
      baseUrl: ask.base_url,
      headers: { ...ask.headers },
      timeout: ask.timeout_ms,
      retryOptions: { attempts: ask.max_retries + 1, initialDelay: 0.02 },
    },
  });
  const image: Part[] =
    ask.image_base64 === null ? [] : [{ inlineData: { mimeType: 'image/png', data: ask.image_base64 } }];
  const contents: Content[] = [{ role: 'user', parts: [...image, { text: ask.text }] }];
  const { signal, onEvent } = leaver(ask, seeing);
  for (;;) {
    const parts = await turn(client, { ask, seeing, contents, signal, onEvent });
    seeing.turns += 1;
    const calls = parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall]));
    contents.push({ role: 'model', parts });
    const results = calls.map((call): Part => {
      const result = getResult(ask, seeing, seeing.calls.length);
      seeing.calls.push({ tool: call.name ?? '', arguments: call.args });
      return { functionResponse: { name: call.name ?? '', response: { result } } };
    });
    contents.push({ role: 'user', parts: results });
    if (calls.length === 0 || ask.results.length === 0) return;
  }
}, describe);

interface Turn {
  readonly ask: Ask;
  readonly seeing: SightProgram;
  readonly contents: Content[];
  readonly signal: AbortSignal;
  readonly onEvent: () => void;
}

/** Reads one answer, whole or in pieces, and returns its parts. */
async function turn(client: GoogleGenAI, { ask, seeing, contents, signal, onEvent }: Turn): Promise<Part[]> {
  const functionDeclarations = ask.tools.map((name) => ({
    name,
    parametersJsonSchema: { type: 'object', additionalProperties: true },
  }));
  const config = {
    abortSignal: signal,
    ...(ask.instructions !== null && { systemInstruction: ask.instructions }),
    ...(ask.tools.length > 0 && { tools: [{ functionDeclarations }] }),
  };
  const request = { model: ask.model, contents, config };
  const answers: GenerateContentResponse[] = [];
  if (ask.is_stream) {
    for await (const chunk of await client.models.generateContentStream(request)) {
      answers.push(chunk);
      if (chunk.candidates?.[0]?.content?.parts?.some(({ text = '' }) => text !== '')) seeing.pieces += 1;
      onEvent();
    }
  } else answers.push(await client.models.generateContent(request));
  const parts = answers.flatMap((each) => each.candidates?.[0]?.content?.parts ?? []);
  const textOf = (isThought: boolean) =>
    parts.flatMap(({ text, thought = false }) => (thought === isThought ? [text ?? ''] : [])).join('') ||
    null;
  const last = answers.at(-1);
  seeing.text = textOf(false);
  seeing.thinking = textOf(true);
  seeing.finish = last?.candidates?.[0]?.finishReason ?? last?.promptFeedback?.blockReason ?? null;
  const { promptTokenCount = null, candidatesTokenCount = null } = last?.usageMetadata ?? {};
  seeing.usage = [promptTokenCount, candidatesTokenCount];
  return parts;
}

function describe(error: unknown): SeenError | null {
  const { name, message } = error as Error;
  if (!(error instanceof ApiError) && name !== 'AbortError') return null;
  const { status = null } = error as { status?: number };
  const body = bodyIn(message);
  const { details, status: type = null } = body?.error ?? {};
  return { name, status, code: details?.[0]?.reason ?? null, type, message, body };
}

/** Parses the body that the SDK includes in its message. */
function bodyIn(message: string): { error?: { status?: string; details?: { reason?: string }[] } } | null {
  try {
    return JSON.parse(message.slice(message.indexOf('{')));
  } catch {
    return null;
  }
}
