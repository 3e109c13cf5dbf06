/** Builds answers of models with tool calls, as servers write them. */
import type { WireName } from '../../../core/wire/wire-format.ts';

const JSON_TYPE = 'application/json';

/** An answer of a model, whole or as the chunks of a stream. */
export interface CallAnswer {
  readonly wire: WireName;
  readonly name: string;
  readonly chunks: readonly string[];
  readonly type?: string;
}

export const sse = (...events: readonly (object | string)[]): string[] =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);

export const named = (...events: readonly object[]): string[] =>
  events.map((event) => `event: ${'type' in event ? event.type : ''}\ndata: ${JSON.stringify(event)}\n\n`);

export const delta = (part: object, finishReason: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  model: 'm',
  choices: [{ index: 0, delta: part, finish_reason: finishReason }],
});

export const call = (index: unknown, id: string | null, name: string, args = '{}') => ({
  ...(index !== undefined && { index }),
  ...(id !== null && { id }),
  type: 'function',
  function: { name, arguments: args },
});

/** Builds a stream of chat completions with each call in its own event. */
export const chat = (name: string, ...calls: readonly object[]): CallAnswer => ({
  wire: 'openai.chat',
  name: `stream: ${name}`,
  chunks: sse(...calls.map((each) => delta({ tool_calls: [each] })), delta({}, 'tool_calls'), '[DONE]'),
});

export const whole = (wire: WireName, name: string, body: object | string): CallAnswer => ({
  wire,
  name: `whole: ${name}`,
  type: JSON_TYPE,
  chunks: [typeof body === 'string' ? body : JSON.stringify(body)],
});

export const message = (part: object | string): object => ({
  id: 'c1',
  object: 'chat.completion',
  choices: [
    { index: 0, message: { role: 'assistant', content: null, tool_calls: part }, finish_reason: 'stop' },
  ],
});

export const text = (value: object): string => JSON.stringify(value);

export const use = (name: string) => ({ type: 'tool_use', id: 't1', name, input: {} });
export const start = (index: unknown, block: object) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
export const stop = (index: unknown) => ({ type: 'content_block_stop', index });
export const messages = (name: string, ...events: readonly object[]): CallAnswer => ({
  wire: 'anthropic.messages',
  name: `stream: ${name}`,
  chunks: named(
    {
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] },
    },
    ...events,
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    { type: 'message_stop' },
  ),
});

export const item = (name: string, more: object = {}) => ({
  type: 'function_call',
  id: 'f1',
  call_id: 'call_1',
  name,
  arguments: '{}',
  ...more,
});
export const response = (output: readonly object[]) => ({
  id: 'r',
  object: 'response',
  status: 'completed',
  output,
});
export const added = (at: number, of: object) => ({
  type: 'response.output_item.added',
  output_index: at,
  item: of,
});
export const done = (at: number, of: object) => ({
  type: 'response.output_item.done',
  output_index: at,
  item: of,
});
export const stated = (at: number, more: object = {}) => ({
  type: 'response.function_call_arguments.done',
  output_index: at,
  arguments: '{}',
  ...more,
});
export const completed = (...output: readonly object[]) => ({
  type: 'response.completed',
  response: response(output),
});
export const responses = (name: string, ...events: readonly object[]): CallAnswer => ({
  wire: 'openai.responses',
  name: `stream: ${name}`,
  chunks: named({ type: 'response.created', response: response([]) }, ...events),
});

export const candidate = (...parts: readonly object[]) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
});
export const gemini = (name: string) => ({ functionCall: { name, args: {} } });
