/** Builds streams as providers write them from given pieces, and reads them as clients do. */
import { createSseReader } from '../../../core/wire/sse.ts';
import type { WireName } from '../../../core/wire/wire-format.ts';

/** A provider's stream format for a text and for a tool call. */
export interface StreamingApi {
  readonly wire: WireName;
  readonly text: (pieces: readonly string[]) => string[];
  /** `null` if the API has no tool calls. */
  readonly call: ((tool: string, pieces: readonly string[]) => string[]) | null;
  /** Returns the joined text that a client reads, from each place that contains it. */
  readonly read: (events: readonly StreamedEvent[]) => readonly string[];
  /** Returns the joined arguments that a client reads. */
  readonly readCall: (events: readonly StreamedEvent[]) => readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: events of seven shapes.
export type StreamedEvent = any;

/** Parses the events of a received stream, without `[DONE]`. Throws if one is invalid JSON. */
export function parseEvents(stream: string): StreamedEvent[] {
  const sse = createSseReader({ event_units_max: 1_000_000 });
  const { events } = sse.read(stream);
  const rest = sse.end().events;
  if (rest.length > 0) throw new Error('the stream ends within an event');
  return events
    .map(({ data }) => data)
    .filter((data) => data !== '' && data !== '[DONE]')
    .map((data) => JSON.parse(data));
}

function writeEvent(name: string, data: unknown): string {
  return `${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

function writeChunk(delta: unknown, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
  return writeEvent('', { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices });
}

const chat: StreamingApi = {
  wire: 'openai.chat',
  text: (pieces) => [
    writeChunk({ role: 'assistant', content: '' }),
    ...pieces.map((content) => writeChunk({ content })),
    writeChunk({}, 'stop'),
    'data: [DONE]\n\n',
  ],
  call: (name, pieces) => [
    writeChunk({
      role: 'assistant',
      content: null,
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: '' } }],
    }),
    ...pieces.map((each) => writeChunk({ tool_calls: [{ index: 0, function: { arguments: each } }] })),
    writeChunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ],
  read: (events) => [events.map((each) => each.choices?.[0]?.delta?.content ?? '').join('')],
  readCall: (events) => [
    events.map((each) => each.choices?.[0]?.delta?.tool_calls?.[0]?.function.arguments ?? '').join(''),
  ],
};

const completions: StreamingApi = {
  wire: 'openai.completions',
  text: (pieces) => [
    ...pieces.map((text, at) =>
      writeEvent('', {
        id: 'c1',
        object: 'text_completion',
        created: 1,
        model: 'm',
        choices: [
          { index: 0, text, logprobs: null, finish_reason: at === pieces.length - 1 ? 'stop' : null },
        ],
      }),
    ),
    'data: [DONE]\n\n',
  ],
  call: null,
  read: (events) => [events.map((each) => each.choices?.[0]?.text ?? '').join('')],
  readCall: () => [],
};

function writeAnthropicStream(block: unknown, deltas: readonly unknown[]): string[] {
  const usage = { input_tokens: 3, output_tokens: 1 };
  const message = {
    id: 'm1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
  };
  return [
    writeEvent('message_start', {
      type: 'message_start',
      message: { ...message, stop_sequence: null, usage },
    }),
    writeEvent('content_block_start', { type: 'content_block_start', index: 0, content_block: block }),
    writeEvent('ping', { type: 'ping' }),
    ...deltas.map((delta) =>
      writeEvent('content_block_delta', { type: 'content_block_delta', index: 0, delta }),
    ),
    writeEvent('content_block_stop', { type: 'content_block_stop', index: 0 }),
    writeEvent('message_delta', {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 9 },
    }),
    writeEvent('message_stop', { type: 'message_stop' }),
  ];
}

const messages: StreamingApi = {
  wire: 'anthropic.messages',
  text: (pieces) =>
    writeAnthropicStream(
      { type: 'text', text: '' },
      pieces.map((text) => ({ type: 'text_delta', text })),
    ),
  call: (name, pieces) =>
    writeAnthropicStream(
      { type: 'tool_use', id: 'toolu_1', name, input: {} },
      pieces.map((partialJson) => ({ type: 'input_json_delta', partial_json: partialJson })),
    ),
  read: (events) => [events.map((each) => each.delta?.text ?? '').join('')],
  readCall: (events) => [events.map((each) => each.delta?.partial_json ?? '').join('')],
};

function writeResponsesStream(
  item: StreamedEvent,
  deltas: readonly string[],
  done: readonly string[],
): string[] {
  const response = { id: 'r1', object: 'response', status: 'in_progress', model: 'm', output: [] };
  const usage = { input_tokens: 3, output_tokens: 9, total_tokens: 12 };
  let sequenceNumber = 0;
  const next = (type: string, more: object): string =>
    writeEvent(type, { type, sequence_number: sequenceNumber++, ...more });
  const numbered = (each: string) =>
    each.replace('"sequence_number":0', `"sequence_number":${sequenceNumber++}`);
  return [
    next('response.created', { response }),
    next('response.output_item.added', { output_index: 0, item: { ...item, content: [], arguments: '' } }),
    ...deltas.map(numbered),
    ...done.map(numbered),
    next('response.output_item.done', { output_index: 0, item }),
    next('response.completed', { response: { ...response, status: 'completed', output: [item], usage } }),
  ];
}

function writePart(type: string, more: object): string {
  return writeEvent(type, { type, sequence_number: 0, item_id: 'i1', output_index: 0, ...more });
}

const responsesStream: StreamingApi = {
  wire: 'openai.responses',
  text: (pieces) => {
    const text = pieces.join('');
    const content = { type: 'output_text', text, annotations: [] };
    return writeResponsesStream(
      { id: 'i1', type: 'message', role: 'assistant', status: 'completed', content: [content] },
      [
        writePart('response.content_part.added', { content_index: 0, part: { ...content, text: '' } }),
        ...pieces.map((delta) => writePart('response.output_text.delta', { content_index: 0, delta })),
      ],
      [
        writePart('response.output_text.done', { content_index: 0, text }),
        writePart('response.content_part.done', { content_index: 0, part: content }),
      ],
    );
  },
  call: (name, pieces) => {
    const text = pieces.join('');
    const item = { id: 'i1', type: 'function_call', call_id: 'call_1', name, status: 'completed' };
    return writeResponsesStream(
      { ...item, arguments: text },
      pieces.map((delta) => writePart('response.function_call_arguments.delta', { delta })),
      [writePart('response.function_call_arguments.done', { arguments: text })],
    );
  },
  read: (events) => {
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    const stated = events.flatMap(({ text, part, item, response }) => [
      text,
      part?.text === '' ? undefined : part?.text,
      item?.content?.[0]?.text,
      response?.output?.[0]?.content?.[0]?.text,
    ]);
    return [deltas.map(({ delta }) => delta).join(''), ...stated.filter((each) => each !== undefined)];
  },
  readCall: (events) => {
    const deltas = events.filter(({ type }) => type === 'response.function_call_arguments.delta');
    const stated = events
      .filter(({ type }) => !type.endsWith('.added'))
      .flatMap((each) => [each.arguments, each.item?.arguments, each.response?.output?.[0]?.arguments]);
    return [deltas.map(({ delta }) => delta).join(''), ...stated.filter((each) => each !== undefined)];
  },
};

const gemini: StreamingApi = {
  wire: 'gemini.generate',
  text: (pieces) => pieces.map((text, at) => writeGeminiChunk([{ text }], at === pieces.length - 1)),
  call: (name, pieces) => [
    writeGeminiChunk([{ functionCall: { name, args: JSON.parse(pieces.join('')) } }], true),
  ],
  read: (events) => [
    events
      .map(
        (each) =>
          each.candidates?.[0]?.content.parts.map((one: StreamedEvent) => one.text ?? '').join('') ?? '',
      )
      .join(''),
  ],
  readCall: (events) =>
    events
      .flatMap((each) => each.candidates?.[0]?.content.parts ?? [])
      .flatMap(({ functionCall }: StreamedEvent) =>
        functionCall ? [JSON.stringify(functionCall.args)] : [],
      ),
};

function writeGeminiChunk(parts: readonly unknown[], isLast: boolean): string {
  const candidate = { index: 0, content: { role: 'model', parts }, ...(isLast && { finishReason: 'STOP' }) };
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 9, totalTokenCount: 12 };
  return writeEvent('', { candidates: [candidate], usageMetadata, modelVersion: 'm', responseId: 'r1' });
}

/** All APIs with streams. */
export const STREAMING_APIS: readonly StreamingApi[] = [chat, completions, messages, responsesStream, gemini];
