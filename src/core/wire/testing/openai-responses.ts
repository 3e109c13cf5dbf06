import { PICTURE, type WireSample } from './sample.ts';

const USAGE = {
  input_tokens: 36,
  input_tokens_details: { cached_tokens: 30, cache_write_tokens: 2 },
  output_tokens: 87,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 123,
};

const LOGPROBS = [
  { token: 'It ', bytes: [1], logprob: -0.1, top_logprobs: [{ token: 'So ', bytes: [2], logprob: -3 }] },
];
const LINK = {
  type: 'url_citation',
  start_index: 1,
  end_index: 2,
  title: 'The sky',
  url: 'https://example.com',
};

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  phase: 'final_answer',
  content: [
    { type: 'output_text', text: 'It rains.', annotations: [LINK], logprobs: LOGPROBS },
    { type: 'refusal', refusal: 'Not that.' },
  ],
};
const REASONING = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Thought about rain.' }],
  content: [{ type: 'reasoning_text', text: 'Rain is water.' }],
  encrypted_content: 'gAAAAABo',
};
const CALL = {
  id: 'fc_1',
  type: 'function_call',
  call_id: 'call_1',
  name: 'get_weather',
  arguments: '{"city":"Oslo"}',
  status: 'completed',
};
const CUSTOM = {
  id: 'ct_1',
  type: 'custom_tool_call',
  call_id: 'call_2',
  name: 'grep',
  input: 'rain in Oslo',
  status: 'completed',
};
const COMPUTER = {
  id: 'cu_1',
  type: 'computer_call',
  call_id: 'call_3',
  action: { type: 'type', text: 'my password' },
  pending_safety_checks: [{ id: 'sc_1', code: 'malicious_instructions', message: 'Look out.' }],
  status: 'completed',
};
const SHELL = {
  id: 'sh_1',
  type: 'shell_call',
  call_id: 'call_4',
  action: { commands: ['ls -l', 'rm -rf x'], timeout_ms: 5 },
  status: 'completed',
};
const MCP = {
  id: 'mcp_1',
  type: 'mcp_call',
  server_label: 'wiki',
  name: 'ask',
  arguments: '{"q":"why rain"}',
  output: 'Because of clouds',
  status: 'completed',
};
const CODE = {
  id: 'ci_1',
  type: 'code_interpreter_call',
  code: 'print("a b")',
  container_id: 'cntr_1',
  outputs: [{ type: 'logs', logs: 'a b' }],
  status: 'completed',
};
const SEARCH = {
  id: 'ws_1',
  type: 'web_search_call',
  status: 'completed',
  action: { type: 'search', query: 'rain in Oslo', sources: [{ type: 'url', url: 'https://example.com' }] },
};
const FILES = {
  id: 'fs_1',
  type: 'file_search_call',
  queries: ['rain report'],
  status: 'completed',
  results: [
    {
      file_id: 'file-1',
      filename: 'rain report.txt',
      score: 0.5,
      text: 'Much rain.',
      attributes: { 'the year': 'last one' },
    },
  ],
};
const IMAGE = {
  id: 'ig_1',
  type: 'image_generation_call',
  status: 'completed',
  result: PICTURE,
  revised_prompt: 'a wet cat',
};

const TOOLS = [
  {
    type: 'function',
    name: 'get_weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
    strict: true,
  },
  {
    type: 'mcp',
    server_label: 'wiki',
    server_url: 'https://example.com/mcp',
    headers: { 'X Key': 'a secret' },
    require_approval: 'never',
  },
  { type: 'web_search', user_location: { type: 'approximate', city: 'New York' } },
];

const response = (more: object) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1760000000,
  status: 'in_progress',
  error: null,
  incomplete_details: null,
  instructions: 'Be kind.',
  model: 'gpt-5-mini-2025-08-07',
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: 'low', summary: null },
  store: true,
  text: { format: { type: 'text' }, verbosity: 'low' },
  tool_choice: 'auto',
  tools: TOOLS,
  truncation: 'disabled',
  usage: null,
  metadata: { ticket: 'T 17' },
  ...more,
});

let sequenceNumber = 0;
const event = (type: string, more: object = {}) => ({
  type: `response.${type}`,
  sequence_number: sequenceNumber++,
  ...more,
});
const on = (outputIndex: number, more: object = {}) => ({
  item_id: `item_${outputIndex}`,
  output_index: outputIndex,
  ...more,
});

/** The Responses API: all items, in the request and the answer. */
export const openAiResponsesSample: WireSample = {
  format: 'openai.responses',
  requests: [
    {
      model: 'gpt-5-mini',
      input: 'Does it rain?',
      instructions: 'Be kind.',
      max_output_tokens: 200,
      stream: true,
    },
    {
      model: 'gpt-5-mini',
      instructions: 'Be kind.',
      input: [
        { role: 'developer', content: 'Short words.' },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look at it.' },
            { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${PICTURE}` },
            { type: 'input_image', detail: 'auto', image_url: 'https://example.com/a b.png' },
            {
              type: 'input_file',
              filename: 'my plan.pdf',
              file_data: `data:application/pdf;base64,${PICTURE}`,
            },
          ],
        },
        MESSAGE,
        REASONING,
        CALL,
        { type: 'function_call_output', call_id: 'call_1', output: 'It rains.' },
        CUSTOM,
        {
          type: 'custom_tool_call_output',
          call_id: 'call_2',
          output: [{ type: 'input_text', text: 'found it' }],
        },
        COMPUTER,
        {
          type: 'computer_call_output',
          call_id: 'call_3',
          output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${PICTURE}` },
          acknowledged_safety_checks: [{ id: 'sc_1', message: 'I know.' }],
        },
        SHELL,
        {
          type: 'shell_call_output',
          call_id: 'call_4',
          output: [{ stdout: 'a file', stderr: 'no such x', outcome: { type: 'exit', exit_code: 0 } }],
        },
        {
          type: 'local_shell_call',
          id: 'ls_1',
          call_id: 'call_5',
          status: 'completed',
          action: { type: 'exec', command: ['ls', 'my dir'], env: { 'A B': 'c d' } },
        },
        { type: 'local_shell_call_output', id: 'ls_1', output: 'my file' },
        {
          type: 'apply_patch_call',
          call_id: 'call_6',
          status: 'completed',
          operation: { type: 'create_file', path: 'a b.txt', diff: '+ new line' },
        },
        { type: 'apply_patch_call_output', call_id: 'call_6', status: 'completed', output: 'all done' },
        MCP,
        {
          type: 'mcp_list_tools',
          id: 'ml_1',
          server_label: 'wiki',
          tools: [{ name: 'ask', description: 'Asks it.', input_schema: { type: 'object' } }],
        },
        { type: 'mcp_approval_response', approval_request_id: 'mr_1', approve: false, reason: 'too risky' },
        CODE,
        SEARCH,
        FILES,
        IMAGE,
        { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAAABo' },
        { type: 'item_reference', id: 'msg_9' },
      ],
      tools: TOOLS,
      text: {
        format: {
          type: 'json_schema',
          name: 'a',
          schema: { type: 'object', properties: { b: { type: 'string' } } },
        },
      },
      prompt: {
        id: 'pmpt_1',
        version: '2',
        variables: { who: 'Ann Lee', what: { type: 'input_text', text: 'the rain' } },
      },
      metadata: { ticket: 'T 17' },
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['message.output_text.logprobs'],
      safety_identifier: 'user 4711',
      previous_response_id: 'resp_0',
    },
  ],
  answers: [
    response({
      status: 'completed',
      output: [
        MESSAGE,
        REASONING,
        CALL,
        CUSTOM,
        COMPUTER,
        SHELL,
        MCP,
        CODE,
        SEARCH,
        FILES,
        IMAGE,
        {
          type: 'mcp_approval_request',
          id: 'mr_1',
          server_label: 'wiki',
          name: 'ask',
          arguments: '{"q":"all of it"}',
        },
      ],
      usage: USAGE,
    }),
  ],
  streams: [
    [
      event('created', { response: response({}) }),
      event('in_progress', { response: response({}) }),
      event('output_item.added', {
        output_index: 0,
        item: { ...REASONING, summary: [], content: [], encrypted_content: null },
      }),
      event(
        'reasoning_summary_part.added',
        on(0, { summary_index: 0, part: { type: 'summary_text', text: '' } }),
      ),
      event(
        'reasoning_summary_text.delta',
        on(0, { summary_index: 0, delta: 'Thought ', obfuscation: 'aBc' }),
      ),
      event('reasoning_summary_text.delta', on(0, { summary_index: 0, delta: 'about rain.' })),
      event('reasoning_summary_text.done', on(0, { summary_index: 0, text: 'Thought about rain.' })),
      event(
        'reasoning_summary_part.done',
        on(0, { summary_index: 0, part: { type: 'summary_text', text: 'Thought about rain.' } }),
      ),
      event('reasoning_text.delta', on(0, { content_index: 0, delta: 'Rain is water.' })),
      event('reasoning_text.done', on(0, { content_index: 0, text: 'Rain is water.' })),
      event('output_item.done', { output_index: 0, item: REASONING }),
      event('output_item.added', {
        output_index: 1,
        item: { ...MESSAGE, status: 'in_progress', content: [] },
      }),
      event(
        'content_part.added',
        on(1, { content_index: 0, part: { type: 'output_text', text: '', annotations: [], logprobs: [] } }),
      ),
      event('output_text.delta', on(1, { content_index: 0, delta: 'It ', logprobs: LOGPROBS })),
      event('output_text.delta', on(1, { content_index: 0, delta: 'rains.', logprobs: [] })),
      event(
        'output_text.annotation.added',
        on(1, { content_index: 0, annotation_index: 0, annotation: LINK }),
      ),
      event('output_text.done', on(1, { content_index: 0, text: 'It rains.', logprobs: LOGPROBS })),
      event('content_part.done', on(1, { content_index: 0, part: MESSAGE.content[0] })),
      event('refusal.delta', on(1, { content_index: 1, delta: 'Not that.' })),
      event('refusal.done', on(1, { content_index: 1, refusal: 'Not that.' })),
      event('output_item.done', { output_index: 1, item: MESSAGE }),
      event('output_item.added', {
        output_index: 2,
        item: { ...CALL, arguments: '', status: 'in_progress' },
      }),
      event('function_call_arguments.delta', on(2, { delta: '{"city":' })),
      event('function_call_arguments.delta', on(2, { delta: '"Oslo"}' })),
      event('function_call_arguments.done', on(2, { arguments: '{"city":"Oslo"}' })),
      event('output_item.done', { output_index: 2, item: CALL }),
      event('output_item.added', { output_index: 3, item: { ...CUSTOM, input: '', status: 'in_progress' } }),
      event('custom_tool_call_input.delta', on(3, { delta: 'rain in ' })),
      event('custom_tool_call_input.delta', on(3, { delta: 'Oslo' })),
      event('custom_tool_call_input.done', on(3, { input: 'rain in Oslo' })),
      event('output_item.done', { output_index: 3, item: CUSTOM }),
      event('output_item.added', {
        output_index: 4,
        item: { ...SHELL, status: 'in_progress', action: { commands: [] } },
      }),
      event('shell_call_command.added', { output_index: 4, command_index: 0, command: '' }),
      event('shell_call_command.delta', { output_index: 4, command_index: 0, delta: 'ls -l' }),
      event('shell_call_command.done', { output_index: 4, command_index: 0, command: 'ls -l' }),
      event('output_item.done', { output_index: 4, item: SHELL }),
      event('output_item.done', { output_index: 5, item: COMPUTER }),
      event('output_item.added', { output_index: 6, item: { ...MCP, arguments: '', output: null } }),
      event('mcp_call_arguments.delta', on(6, { delta: '{"q":"why rain"}' })),
      event('mcp_call_arguments.done', on(6, { arguments: '{"q":"why rain"}' })),
      event('output_item.added', { output_index: 7, item: { ...CODE, code: '', outputs: [] } }),
      event('code_interpreter_call_code.delta', on(7, { delta: 'print("a b")' })),
      event('code_interpreter_call_code.done', on(7, { code: 'print("a b")' })),
      event('web_search_call.searching', on(8)),
      event(
        'image_generation_call.partial_image',
        on(9, { partial_image_b64: PICTURE, partial_image_index: 0 }),
      ),
      event('audio.transcript.delta', { delta: 'It rains' }),
      event('audio.delta', { delta: PICTURE }),
      event('shell_call_output_content.delta', on(4, { command_index: 0, delta: { stdout: 'a file' } })),
      event('something.new.delta', on(10, { delta: 'what is this' })),
      event('completed', {
        response: response({
          status: 'completed',
          output: [REASONING, MESSAGE, CALL, CUSTOM, SHELL, COMPUTER],
          usage: USAGE,
        }),
      }),
    ],
    [
      event('failed', {
        response: response({ status: 'failed', error: { code: 'server_error', message: 'It broke.' } }),
      }),
    ],
    [{ type: 'error', code: 'ERR', message: 'Something went wrong', param: null, sequence_number: 1 }],
  ],
};
