import type { WireSample } from './sample.ts';

const chunk = (text: string, more: object = {}) => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1760000000,
  model: 'gpt-3.5-turbo-instruct',
  choices: [{ text, index: 0, logprobs: null, finish_reason: null, ...more }],
});

const LOGPROBS = {
  tokens: ['a ', 'lamb'],
  token_logprobs: [-1, -2],
  top_logprobs: [{ 'a ': -1 }],
  text_offset: [0, 2],
};

/** Completions with one prompt or several. */
export const openAiCompletionsSample: WireSample = {
  format: 'openai.completions',
  requests: [
    {
      model: 'gpt-3.5-turbo-instruct',
      prompt: 'Mary had',
      suffix: 'its fleece',
      max_tokens: 16,
      stream: true,
      echo: true,
    },
    {
      model: 'davinci-002',
      prompt: ['Mary had', 'Once upon'],
      n: 2,
      best_of: 3,
      stop: 'the end',
      user: 'u 1',
    },
  ],
  answers: [
    {
      ...chunk(''),
      choices: [
        { text: 'a little lamb', index: 0, logprobs: LOGPROBS, finish_reason: 'stop' },
        { text: 'a time', index: 1, logprobs: null, finish_reason: 'length' },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
    },
  ],
  streams: [
    [
      chunk('a little'),
      chunk(' lamb', { logprobs: LOGPROBS }),
      chunk('', { finish_reason: 'stop' }),
      { ...chunk(''), choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } },
    ],
  ],
};
