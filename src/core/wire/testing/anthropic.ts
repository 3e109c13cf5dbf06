import { PICTURE, type WireSample } from './sample.ts';

const CITED = {
  type: 'char_location',
  cited_text: 'It rains a lot.',
  document_index: 0,
  document_title: 'Of rain',
  start_char_index: 0,
  end_char_index: 15,
};
const SEARCHED = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [
    {
      type: 'web_search_result',
      title: 'Rain today',
      url: 'https://example.com',
      encrypted_content: 'EqgfCio',
      page_age: '2 days ago',
    },
  ],
};
const SEARCH = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'web_search',
  input: { query: 'rain in Oslo' },
};
const CALL = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'get_weather',
  input: { city: 'Oslo', 'odd key': ['a b', 3] },
};
const THINKING = {
  type: 'thinking',
  thinking: 'They ask about rain.',
  signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h',
};
const RAN = {
  type: 'bash_code_execution_tool_result',
  tool_use_id: 'srvtoolu_2',
  content: {
    type: 'bash_code_execution_result',
    stdout: 'a file',
    stderr: 'no such x',
    return_code: 1,
    content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }],
  },
};

const request = {
  model: 'claude-sonnet-4-5',
  system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral', ttl: '5m' } }],
  messages: [
    { role: 'user', content: 'Does it rain?' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look at these.', citations: [CITED] },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a b.png' } },
        {
          type: 'document',
          title: 'Of rain',
          context: 'From a book',
          citations: { enabled: true },
          source: { type: 'base64', media_type: 'application/pdf', data: PICTURE },
        },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'It rains a lot.' } },
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'more rain' }] } },
        {
          type: 'search_result',
          source: 'https://example.com',
          title: 'A find',
          content: [{ type: 'text', text: 'found rain' }],
        },
        { type: 'container_upload', file_id: 'file_9' },
      ],
    },
    {
      role: 'assistant',
      content: [
        THINKING,
        { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' },
        { type: 'text', text: 'Let me look.' },
        CALL,
        SEARCH,
        SEARCHED,
        RAN,
        {
          type: 'mcp_tool_use',
          id: 'mcptoolu_1',
          name: 'ask',
          server_name: 'wiki',
          input: { q: 'why rain' },
        },
        {
          type: 'mcp_tool_result',
          tool_use_id: 'mcptoolu_1',
          is_error: false,
          content: [{ type: 'text', text: 'Because of clouds' }],
        },
        {
          type: 'web_fetch_tool_result',
          tool_use_id: 'srvtoolu_3',
          content: {
            type: 'web_fetch_result',
            url: 'https://example.com',
            retrieved_at: '2026-01-01',
            content: {
              type: 'document',
              title: 'Of rain',
              citations: null,
              source: { type: 'text', media_type: 'text/plain', data: 'Rain, rain.' },
            },
          },
        },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          is_error: false,
          content: [
            { type: 'text', text: 'It rains.' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
          ],
        },
        { type: 'tool_result', tool_use_id: 'toolu_0', content: 'nothing at all' },
        { type: 'tool_result', tool_use_id: 'toolu_2' },
        { type: 'text', text: 'So does it?', cache_control: { type: 'ephemeral' } },
      ],
    },
  ],
  tools: [
    {
      name: 'get_weather',
      description: 'Tells the weather.',
      input_schema: {
        type: 'object',
        properties: { city: { type: 'string', description: 'Where it is' } },
        required: ['city'],
      },
      input_examples: [{ city: 'New York' }],
      cache_control: { type: 'ephemeral' },
    },
    {
      type: 'web_search_20250305',
      name: 'web_search',
      max_uses: 3,
      allowed_domains: ['example.com'],
      user_location: { type: 'approximate', city: 'New York' },
    },
  ],
  tool_choice: { type: 'tool', name: 'get_weather' },
  thinking: { type: 'enabled', budget_tokens: 2000 },
};

/** Messages with every type of block in the request and the answer. */
export const anthropicMessagesSample: WireSample = {
  format: 'anthropic.messages',
  requests: [
    {
      ...request,
      max_tokens: 4000,
      stream: true,
      metadata: { user_id: 'user 4711' },
      stop_sequences: ['the end'],
      container: 'container_1',
      mcp_servers: [
        { type: 'url', url: 'https://example.com/mcp', name: 'wiki', authorization_token: 'a secret' },
      ],
      output_config: {
        format: { type: 'json_schema', schema: { type: 'object', properties: { a: { type: 'string' } } } },
      },
    },
    {
      model: 'claude-haiku-4-5',
      max_tokens: 10,
      system: 'Be kind.',
      messages: [{ role: 'user', content: 'Hello there' }],
    },
  ],
  answers: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content: [
        THINKING,
        { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' },
        { type: 'text', text: 'It rains.', citations: [CITED] },
        SEARCH,
        SEARCHED,
        RAN,
        CALL,
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      stop_details: { type: 'refusal', category: 'bio', explanation: 'It is too much.' },
      container: { id: 'container_1', expires_at: '2026-01-01T00:00:00Z', skills: null },
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 0 },
        output_tokens: 7,
        service_tier: 'standard',
        server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
      },
    },
  ],
  streams: [
    [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-4-5-20250929',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: 10,
            cache_creation_input_tokens: 20,
            cache_read_input_tokens: 30,
            output_tokens: 1,
          },
        },
      },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      },
      { type: 'ping' },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'They ask' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: ' about rain.' } },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'signature_delta', signature: 'EqQBCgIYAhIM1gbc' },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'It rains' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation: CITED } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: ' a lot.' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { ...SEARCH, input: {} } },
      {
        type: 'content_block_delta',
        index: 2,
        delta: { type: 'input_json_delta', partial_json: '{"query":"rain in Oslo"}' },
      },
      { type: 'content_block_stop', index: 2 },
      { type: 'content_block_start', index: 3, content_block: SEARCHED },
      { type: 'content_block_stop', index: 3 },
      { type: 'content_block_start', index: 4, content_block: { ...CALL, input: {} } },
      { type: 'content_block_delta', index: 4, delta: { type: 'input_json_delta', partial_json: '' } },
      {
        type: 'content_block_delta',
        index: 4,
        delta: { type: 'input_json_delta', partial_json: '{"city":' },
      },
      {
        type: 'content_block_delta',
        index: 4,
        delta: { type: 'input_json_delta', partial_json: ' "Oslo"}' },
      },
      { type: 'content_block_stop', index: 4 },
      {
        type: 'content_block_start',
        index: 5,
        content_block: { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' },
      },
      { type: 'content_block_stop', index: 5 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { output_tokens: 89 },
      },
      { type: 'message_stop' },
    ],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded, come again' } }],
  ],
};

/** Token counting: the request of messages, answered with a number. */
export const anthropicCountTokensSample: WireSample = {
  format: 'anthropic.count_tokens',
  requests: [request],
  answers: [{ input_tokens: 2095, context_management: { original_input_tokens: 2095 } }],
  streams: [],
};
