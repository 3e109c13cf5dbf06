/** The official `@anthropic-ai/sdk` package for JavaScript. */
import Anthropic from '@anthropic-ai/sdk';
import type { Ask, SeenError } from './ask.ts';
import { answerAsks, getResult, leaver, type SightProgram } from './program.ts';

answerAsks(async (ask, seeing) => {
  const client = new Anthropic({
    apiKey: ask.key,
    baseURL: ask.base_url,
    maxRetries: ask.max_retries,
    timeout: ask.timeout_ms,
    defaultHeaders: ask.headers,
  });
  if (ask.api === 'count_tokens') {
    const messages = [{ role: 'user' as const, content: ask.text }];
    const { input_tokens } = await client.messages.countTokens({ model: ask.model, messages });
    seeing.list = [input_tokens];
    return;
  }
  if (ask.api === 'model') {
    const { id, type } = await client.models.retrieve(ask.model);
    seeing.list = [id, type];
    return;
  }
  if (ask.api === 'models') {
    seeing.list = (await client.models.list()).data.map(({ id }) => id);
    return;
  }
  await converse(client, ask, seeing);
}, describe);

async function converse(client: Anthropic, ask: Ask, seeing: SightProgram): Promise<void> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: getContent(ask) }];
  const inputSchema = { type: 'object' as const, properties: {}, additionalProperties: true };
  const tools = ask.tools.map((name) => ({ name, input_schema: inputSchema }));
  const { signal, onEvent } = leaver(ask, seeing);
  // The preview of an API has the same format at another URL.
  const resource =
    ask.api === 'beta' ? (client.beta.messages as unknown as Anthropic.Messages) : client.messages;
  for (;;) {
    const system = ask.instructions !== null && { system: ask.instructions };
    const body = {
      model: ask.model,
      max_tokens: 1024,
      messages,
      ...system,
      ...(tools.length > 0 && { tools }),
    };
    let message: Anthropic.Message;
    if (ask.is_stream) {
      const stream = resource.stream(body, { signal });
      stream.on('text', () => {
        seeing.pieces += 1;
      });
      for await (const _ of stream) onEvent();
      message = await stream.finalMessage();
    } else message = await resource.create(body, { signal });
    seeing.turns += 1;
    noteMessage(message, seeing);
    const calls = message.content.filter((block) => block.type === 'tool_use');
    messages.push({ role: 'assistant', content: message.content });
    const content = calls.map((call) => {
      const result = getResult(ask, seeing, seeing.calls.length);
      seeing.calls.push({ tool: call.name, arguments: call.input });
      return { type: 'tool_result' as const, tool_use_id: call.id, content: result };
    });
    messages.push({ role: 'user', content });
    if (calls.length === 0 || ask.results.length === 0) return;
  }
}

function getContent(ask: Ask): Anthropic.MessageParam['content'] {
  if (ask.image_base64 === null) return ask.text;
  const source = { type: 'base64' as const, media_type: 'image/png' as const, data: ask.image_base64 };
  return [
    { type: 'image', source },
    { type: 'text', text: ask.text },
  ];
}

function noteMessage(message: Anthropic.Message, seeing: SightProgram): void {
  const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const thoughts = message.content.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : []));
  seeing.text = texts.length === 0 ? null : texts.join('');
  seeing.thinking = thoughts.length === 0 ? null : thoughts.join('');
  seeing.finish = message.stop_reason;
  seeing.usage = [message.usage.input_tokens, message.usage.output_tokens];
}

function describe(error: unknown): SeenError | null {
  if (!(error instanceof Anthropic.AnthropicError)) return null;
  const api = error instanceof Anthropic.APIError ? error : null;
  const body = (api?.error ?? null) as {
    error?: { type?: string; details?: { error_code?: string } | null };
  } | null;
  return {
    name: error.constructor.name,
    status: api?.status ?? null,
    code: body?.error?.details?.error_code ?? null,
    type: body?.error?.type ?? null,
    message: error.message,
    body,
  };
}
