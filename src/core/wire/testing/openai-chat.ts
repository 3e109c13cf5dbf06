import { PICTURE, type WireSample } from './sample.ts';

const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather of a place.',
    strict: true,
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Where it is', enum: ['Oslo', 'Rome'], default: 'Oslo' },
        unit: { anyOf: [{ type: 'string', format: 'uri', pattern: '^[a-z ]+$' }, { type: 'null' }] },
      },
      required: ['city'],
      additionalProperties: false,
      $defs: { place: { type: 'object', title: 'A place' } },
    },
  },
};

const USAGE = {
  prompt_tokens: 82,
  completion_tokens: 17,
  total_tokens: 99,
  prompt_tokens_details: { cached_tokens: 64, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 4,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};

const chunk = (delta: unknown, more: object = {}, index = 0) => ({
  id: 'chatcmpl-9x',
  object: 'chat.completion.chunk',
  created: 1760000000,
  model: 'gpt-5-mini-2025-08-07',
  service_tier: 'default',
  system_fingerprint: 'fp_44709d6fcb',
  obfuscation: 'Xk2LmP0',
  choices: [{ index, delta, logprobs: null, finish_reason: null, ...more }],
});

/** Chat completions: every role, part and tool, and fields of compatible providers. */
export const openAiChatSample: WireSample = {
  format: 'openai.chat',
  requests: [
    {
      model: 'gpt-5-mini',
      stream: true,
      n: 2,
      max_completion_tokens: 300,
      temperature: 0.2,
      messages: [
        { role: 'developer', content: 'Answer in short words.', name: 'house' },
        {
          role: 'system',
          content: [{ type: 'text', text: 'Be kind.', prompt_cache_breakpoint: { mode: 'explicit' } }],
        },
        {
          role: 'user',
          name: 'ann lee',
          content: [
            { type: 'text', text: 'What is on these pictures?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}`, detail: 'low' } },
            { type: 'image_url', image_url: { url: 'https://example.com/a picture.png' } },
            { type: 'input_audio', input_audio: { data: PICTURE, format: 'wav' } },
            {
              type: 'file',
              file: { file_data: `data:application/pdf;base64,${PICTURE}`, filename: 'my plan.pdf' },
            },
            { type: 'file', file: { file_id: 'file-abc123' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me look.' },
            { type: 'refusal', refusal: 'I will not say who that is.' },
          ],
          reasoning_content: 'They want to know the weather.',
          refusal: null,
          audio: { id: 'audio_abc' },
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
            },
            { id: 'call_2', type: 'custom', custom: { name: 'shell', input: 'ls -l | wc' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'It rains in Oslo.' },
        { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'three files' }] },
        { role: 'assistant', content: null, function_call: { name: 'now', arguments: '{ "zone": "CET" }' } },
        { role: 'function', name: 'now', content: 'ten past nine' },
        { role: 'critic', content: 'A role of tomorrow.' },
      ],
      tools: [
        WEATHER,
        {
          type: 'custom',
          custom: {
            name: 'shell',
            description: 'Runs it.',
            format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a b"' } },
          },
        },
      ],
      functions: [
        { name: 'now', description: 'Tells the time.', parameters: { type: 'object', properties: {} } },
      ],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'answer',
          description: 'What to say',
          schema: { type: 'object', properties: { a: { type: 'string' } } },
        },
      },
      prediction: { type: 'content', content: [{ type: 'text', text: 'It rains there.' }] },
      metadata: { ticket: 'T 17', mail: 'a@example.com' },
      user: 'user 4711',
      stop: ['the end', 'fin'],
      logit_bias: { '50256': -100 },
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: 'wav' },
      web_search_options: { user_location: { type: 'approximate', approximate: { city: 'New York' } } },
    },
    { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello there' }] },
  ],
  answers: [
    {
      id: 'chatcmpl-9x',
      object: 'chat.completion',
      created: 1760000000,
      model: 'gpt-5-mini-2025-08-07',
      system_fingerprint: 'fp_44709d6fcb',
      service_tier: 'default',
      usage: USAGE,
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          logprobs: {
            content: [
              {
                token: 'It',
                bytes: [73, 116],
                logprob: -0.1,
                top_logprobs: [{ token: 'So', bytes: null, logprob: -2 }],
              },
            ],
            refusal: null,
          },
          message: {
            role: 'assistant',
            content: 'It rains, says https://example.com .',
            refusal: null,
            reasoning_content: 'Look out of the window.',
            annotations: [
              {
                type: 'url_citation',
                url_citation: { start_index: 1, end_index: 4, title: 'The sky', url: 'https://example.com' },
              },
            ],
            audio: { id: 'audio_1', data: PICTURE, expires_at: 1760000000, transcript: 'It rains.' },
          },
        },
        {
          index: 1,
          finish_reason: 'tool_calls',
          logprobs: null,
          message: {
            role: 'assistant',
            content: null,
            refusal: 'I would rather not.',
            function_call: { name: 'now', arguments: '{"zone":"UTC"}' },
            tool_calls: [
              {
                id: 'call_1',
                type: 'function',
                function: { name: 'get_weather', arguments: '{"city":"Rome"}' },
              },
              { id: 'call_2', type: 'custom', custom: { name: 'shell', input: 'ls -l' } },
            ],
          },
        },
      ],
    },
  ],
  streams: [
    [
      chunk({ role: 'assistant', content: '', refusal: null }),
      chunk({ reasoning_content: 'Hm, ' }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'so what', index: 0 }] }),
      chunk(
        { content: 'It rains' },
        {
          logprobs: {
            content: [{ token: 'It rains', logprob: -0.1, bytes: [1], top_logprobs: [] }],
            refusal: null,
          },
        },
      ),
      chunk({
        content: ' in Oslo.',
        annotations: [{ type: 'url_citation', url_citation: { title: 'The sky', url: 'https://e.com' } }],
      }),
      chunk({ audio: { id: 'audio_1', transcript: 'It rains' } }),
      chunk({ audio: { data: PICTURE } }),
      chunk({ refusal: 'No more.' }),
      chunk({
        tool_calls: [
          { index: 0, id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '' } },
        ],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
      chunk({
        tool_calls: [
          { index: 0, function: { arguments: '"Oslo"}' } },
          { index: 1, id: 'call_2', type: 'function', function: { name: 'now' } },
        ],
      }),
      chunk({ content: 'The other one.' }, {}, 1),
      chunk({ function_call: { name: 'now', arguments: '{}' } }, { finish_reason: 'function_call' }, 1),
      chunk({}, { finish_reason: 'tool_calls' }),
      { ...chunk({}), choices: [], usage: USAGE },
    ],
  ],
};
