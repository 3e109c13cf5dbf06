/** Valid answers in every format, with two texts and two calls of allowed tools. */
import type { OracleName } from '../clients/sight.ts';

/** JSON with ordered members, which may be repeated. */
export type Tree =
  | { readonly object: [key: string, value: Tree][] }
  | Tree[]
  | string
  | number
  | boolean
  | null;

export interface Baseline {
  readonly wire: OracleName;
  readonly is_stream: boolean;
  /** The body, or the events in their order. */
  readonly events: readonly { readonly name: string; readonly data: Tree | '[DONE]' }[];
  /** The tools that a client must see if nothing was changed. */
  readonly tools: readonly string[];
  readonly text: string;
}

/** Converts a JSON value to such a tree. */
export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return value.map(treeOf);
  if (typeof value !== 'object' || value === null) return value as Tree;
  return { object: Object.entries(value).map(([key, each]) => [key, treeOf(each)]) };
}

const FIRST = 'All is well here. ';
const SECOND = 'And it stays so today.';
const TEXT = FIRST + SECOND;
const TOOLS = ['safe', 'also_safe'];

const unnamed = (values: readonly unknown[]): Baseline['events'] =>
  values.map((data) => ({ name: '', data: data === '[DONE]' ? '[DONE]' : treeOf(data) }));
const typed = (values: readonly { readonly type: string }[]): Baseline['events'] =>
  values.map((data) => ({ name: data.type, data: treeOf(data) }));

const chunk = (delta: object, finishReason: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finishReason }],
});
const toolCall = (name: string, index: number) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name, arguments: '' },
});
const usage = { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 };

const chatStream: Baseline = {
  wire: 'openai.chat',
  is_stream: true,
  tools: TOOLS,
  text: TEXT,
  events: unnamed([
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: FIRST }),
    chunk({ content: SECOND }),
    chunk({ tool_calls: [toolCall('safe', 0)] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
    chunk({ tool_calls: [toolCall('also_safe', 1)] }),
    chunk({ tool_calls: [{ index: 1, function: { arguments: '{}' } }] }),
    chunk({}, 'tool_calls'),
    { ...chunk({}), choices: [], usage },
    '[DONE]',
  ]),
};

const chatWhole: Baseline = {
  wire: 'openai.chat',
  is_stream: false,
  tools: TOOLS,
  text: TEXT,
  events: unnamed([
    {
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: TEXT,
            refusal: null,
            tool_calls: TOOLS.map((name, index) => ({
              id: `call_${index}`,
              type: 'function',
              function: { name, arguments: '{"a":1}' },
            })),
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage,
    },
  ]),
};

const continued = (text: string, finishReason: string | null) => ({
  id: 'c1',
  object: 'text_completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, text, logprobs: null, finish_reason: finishReason }],
});
const completions: Baseline = {
  wire: 'openai.completions',
  is_stream: true,
  tools: [],
  text: TEXT,
  events: unnamed([continued(FIRST, null), continued(SECOND, null), continued('', 'stop'), '[DONE]']),
};

const message = {
  id: 'm1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [] as object[],
  stop_reason: null as string | null,
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
};
const toolUse = (name: string, input: object) => ({ type: 'tool_use', id: `toolu_${name}`, name, input });
const block = (index: number, contentBlock: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block: contentBlock },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const textBlock = (index: number, text: string) =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text });
const callBlock = (index: number, name: string) =>
  block(
    index,
    toolUse(name, {}),
    { type: 'input_json_delta', partial_json: '{"a":' },
    { type: 'input_json_delta', partial_json: '1}' },
  );
const messagesStream: Baseline = {
  wire: 'anthropic.messages',
  is_stream: true,
  tools: TOOLS,
  text: TEXT,
  events: typed([
    { type: 'message_start', message } as never,
    ...textBlock(0, FIRST),
    { type: 'ping' },
    ...textBlock(1, SECOND),
    ...callBlock(2, 'safe'),
    ...callBlock(3, 'also_safe'),
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 9 },
    } as never,
    { type: 'message_stop' },
  ]),
};
const messagesWhole: Baseline = {
  ...messagesStream,
  is_stream: false,
  events: unnamed([
    {
      ...message,
      content: [
        { type: 'text', text: FIRST },
        { type: 'text', text: SECOND },
        ...TOOLS.map((name) => toolUse(name, { a: 1 })),
      ],
      stop_reason: 'tool_use',
    },
  ]),
};

const part = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const said = (...texts: string[]) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: texts.map(part),
});
const called = (name: string, args: string) => ({
  id: `fc_${name}`,
  type: 'function_call',
  call_id: `call_${name}`,
  name,
  arguments: args,
  status: 'completed',
});
const OUTPUT = [said(FIRST, SECOND), ...TOOLS.map((name) => called(name, '{"a":1}'))];
const response = (status: string, output: readonly object[]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  model: 'm',
  output,
  parallel_tool_calls: true,
  instructions: null,
  metadata: {},
  tools: [],
  usage: status === 'completed' ? { input_tokens: 3, output_tokens: 9, total_tokens: 12 } : null,
});
const onPart = (type: string, contentIndex: number, more: object) => ({
  type: `response.${type}`,
  item_id: 'msg_1',
  output_index: 0,
  content_index: contentIndex,
  ...more,
});
const getPart = (index: number, text: string) => [
  onPart('content_part.added', index, { part: part('') }),
  onPart('output_text.delta', index, { delta: text, logprobs: [] }),
  onPart('output_text.done', index, { text, logprobs: [] }),
  onPart('content_part.done', index, { part: part(text) }),
];
const getCall = (outputIndex: number, name: string) => {
  const about = { item_id: `fc_${name}`, output_index: outputIndex };
  return [
    { type: 'response.output_item.added', output_index: outputIndex, item: called(name, '') },
    { type: 'response.function_call_arguments.delta', ...about, delta: '{"a":' },
    { type: 'response.function_call_arguments.delta', ...about, delta: '1}' },
    { type: 'response.function_call_arguments.done', ...about, arguments: '{"a":1}' },
    { type: 'response.output_item.done', output_index: outputIndex, item: called(name, '{"a":1}') },
  ];
};
const responsesStream: Baseline = {
  wire: 'openai.responses',
  is_stream: true,
  tools: TOOLS,
  text: TEXT,
  events: typed(
    [
      { type: 'response.created', response: response('in_progress', []) },
      { type: 'response.output_item.added', output_index: 0, item: said() },
      ...getPart(0, FIRST),
      ...getPart(1, SECOND),
      { type: 'response.output_item.done', output_index: 0, item: said(FIRST, SECOND) },
      ...getCall(1, 'safe'),
      ...getCall(2, 'also_safe'),
      { type: 'response.completed', response: response('completed', OUTPUT) },
    ].map((event, sequenceNumber) => ({ ...event, sequence_number: sequenceNumber })),
  ),
};
const responsesWhole: Baseline = {
  ...responsesStream,
  is_stream: false,
  events: unnamed([response('completed', OUTPUT)]),
};

const generated = (parts: readonly object[], finishReason?: string) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 9, totalTokenCount: 12 },
  modelVersion: 'm',
  responseId: 'r1',
});
const functionCall = (name: string) => ({ functionCall: { name, args: { a: 1 } } });
const geminiStream: Baseline = {
  wire: 'gemini.generate',
  is_stream: true,
  tools: TOOLS,
  text: TEXT,
  events: unnamed([
    generated([{ text: 'Let me think.', thought: true }]),
    generated([{ text: FIRST }]),
    generated([functionCall('safe')]),
    generated([{ text: SECOND }, functionCall('also_safe')], 'STOP'),
  ]),
};
const geminiWhole: Baseline = {
  ...geminiStream,
  is_stream: false,
  events: unnamed([
    generated([{ text: FIRST }, functionCall('safe'), { text: SECOND }, functionCall('also_safe')], 'STOP'),
  ]),
};

/** All valid answers. */
export const baselines: readonly Baseline[] = [
  chatStream,
  chatWhole,
  completions,
  messagesStream,
  messagesWhole,
  responsesStream,
  responsesWhole,
  geminiStream,
  geminiWhole,
];
