/** The official `openai` package for JavaScript. */
import OpenAI from 'openai';
import type { Ask, SeenError } from './ask.ts';
import { answerAsks, getResult, leaver, type SightProgram } from './program.ts';

answerAsks(async (ask, seeing) => {
  const client = new OpenAI({
    apiKey: ask.key,
    baseURL: `${ask.base_url}/v1`,
    maxRetries: ask.max_retries,
    timeout: ask.timeout_ms,
    defaultHeaders: ask.headers,
  });
  if (ask.is_structured) return streamStructured(client, ask, seeing);
  if (ask.api === 'chat') return chat(client, ask, seeing);
  if (ask.api === 'responses') return responses(client, ask, seeing);
  if (ask.api === 'completions') return completions(client, ask, seeing);
  if (ask.api === 'embeddings') {
    const { data, usage } = await client.embeddings.create({ model: ask.model, input: [ask.text] });
    seeing.list = data[0]!.embedding;
    seeing.usage = [usage.prompt_tokens, null];
    return;
  }
  if (ask.api === 'model') {
    const { id, object } = await client.models.retrieve(ask.model);
    seeing.list = [id, object];
    return;
  }
  seeing.list = (await client.models.list()).data.map(({ id }) => id);
}, describe);

async function streamStructured(client: OpenAI, ask: Ask, seeing: SightProgram): Promise<void> {
  const partials = new Set<string>();
  const stream = client.chat.completions.stream({
    model: ask.model,
    messages: [{ role: 'user', content: ask.text }],
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object', additionalProperties: true } },
    },
  });
  stream.on('content.delta', ({ parsed }) => partials.add(JSON.stringify(parsed)));
  seeing.text = (await stream.finalChatCompletion()).choices[0]!.message.content;
  seeing.pieces = partials.size;
}

const parameters = { type: 'object', properties: {}, additionalProperties: true };

async function chat(client: OpenAI, ask: Ask, seeing: SightProgram): Promise<void> {
  const imageUrl = `data:image/png;base64,${ask.image_base64}`;
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    ...(ask.instructions === null ? [] : [{ role: 'system' as const, content: ask.instructions }]),
    {
      role: 'user',
      content:
        ask.image_base64 === null
          ? ask.text
          : [
              { type: 'text', text: ask.text },
              { type: 'image_url', image_url: { url: imageUrl, detail: 'low' } },
            ],
    },
  ];
  const tools = ask.tools.map((name) => ({ type: 'function' as const, function: { name, parameters } }));
  const { signal, onEvent } = leaver(ask, seeing);
  for (;;) {
    const body = { model: ask.model, messages, ...(tools.length > 0 && { tools }) };
    let completion: OpenAI.ChatCompletion;
    if (ask.is_stream) {
      const usage = ask.has_usage && { stream_options: { include_usage: true } };
      const stream = client.chat.completions.stream({ ...body, ...usage }, { signal });
      for await (const chunk of stream) {
        if (chunk.choices[0]?.delta.content) seeing.pieces += 1;
        onEvent();
      }
      completion = await stream.finalChatCompletion();
    } else completion = await client.chat.completions.create(body, { signal });
    seeing.turns += 1;
    const [{ message, finish_reason }] = completion.choices as [OpenAI.ChatCompletion.Choice];
    seeing.text = message.content;
    seeing.refusal = message.refusal ?? null;
    seeing.finish = finish_reason;
    seeing.usage = completion.usage
      ? [completion.usage.prompt_tokens, completion.usage.completion_tokens]
      : null;
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
    messages.push(message);
    for (const call of calls) {
      const content = getResult(ask, seeing, seeing.calls.length);
      seeing.calls.push({ tool: call.function.name, arguments: JSON.parse(call.function.arguments) });
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
    if (calls.length === 0 || ask.results.length === 0) return;
  }
}

async function responses(client: OpenAI, ask: Ask, seeing: SightProgram): Promise<void> {
  const imageUrl = `data:image/png;base64,${ask.image_base64}`;
  const input: OpenAI.Responses.ResponseInput = [
    {
      role: 'user',
      content:
        ask.image_base64 === null
          ? ask.text
          : [
              { type: 'input_text', text: ask.text },
              { type: 'input_image', image_url: imageUrl, detail: 'low' },
            ],
    },
  ];
  const tools = ask.tools.map((name) => ({ type: 'function' as const, name, parameters, strict: false }));
  const { signal, onEvent } = leaver(ask, seeing);
  for (;;) {
    const instructions = ask.instructions !== null && { instructions: ask.instructions };
    const body = { model: ask.model, input, tools, ...instructions };
    let response: OpenAI.Responses.Response;
    if (ask.is_stream) {
      const stream = client.responses.stream(body, { signal });
      for await (const event of stream) {
        if (event.type === 'response.output_text.delta') seeing.pieces += 1;
        onEvent();
      }
      response = await stream.finalResponse();
    } else response = await client.responses.create(body, { signal });
    seeing.turns += 1;
    noteResponse(response, seeing);
    const calls = response.output.filter((item) => item.type === 'function_call');
    input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
    for (const call of calls) {
      const output = getResult(ask, seeing, seeing.calls.length);
      seeing.calls.push({ tool: call.name, arguments: JSON.parse(call.arguments) });
      input.push({ type: 'function_call_output', call_id: call.call_id, output });
    }
    if (calls.length === 0 || ask.results.length === 0) return;
  }
}

function noteResponse(response: OpenAI.Responses.Response, seeing: SightProgram): void {
  const parts = response.output.flatMap((item) => (item.type === 'message' ? item.content : []));
  const thoughts = response.output.flatMap((item) => (item.type === 'reasoning' ? item.summary : []));
  seeing.text = response.output_text === '' ? null : response.output_text;
  seeing.refusal = parts.find((part) => part.type === 'refusal')?.refusal ?? null;
  seeing.thinking = thoughts.map(({ text }) => text).join('') || null;
  seeing.finish = response.status ?? null;
  seeing.usage = response.usage ? [response.usage.input_tokens, response.usage.output_tokens] : null;
}

async function completions(client: OpenAI, ask: Ask, seeing: SightProgram): Promise<void> {
  const { signal, onEvent } = leaver(ask, seeing);
  const body = { model: ask.model, prompt: ask.text };
  if (!ask.is_stream) {
    const { choices, usage } = await client.completions.create(body, { signal });
    seeing.text = choices[0]!.text;
    seeing.finish = choices[0]!.finish_reason;
    seeing.usage = usage ? [usage.prompt_tokens, usage.completion_tokens] : null;
  } else {
    const usage = ask.has_usage && { stream_options: { include_usage: true } };
    const stream = await client.completions.create({ ...body, stream: true, ...usage }, { signal });
    seeing.text = '';
    for await (const chunk of stream) {
      seeing.text += chunk.choices[0]?.text ?? '';
      seeing.finish = chunk.choices[0]?.finish_reason ?? seeing.finish;
      if (chunk.usage) seeing.usage = [chunk.usage.prompt_tokens, chunk.usage.completion_tokens];
      seeing.pieces += chunk.choices[0]?.text ? 1 : 0;
      onEvent();
    }
  }
  seeing.turns += 1;
}

function describe(error: unknown): SeenError | null {
  if (!(error instanceof OpenAI.OpenAIError)) return null;
  const api = error instanceof OpenAI.APIError ? error : null;
  return {
    name: error.constructor.name,
    status: api?.status ?? null,
    code: api?.code ?? null,
    type: api?.type ?? null,
    message: error.message,
    body: api?.error ?? null,
  };
}
