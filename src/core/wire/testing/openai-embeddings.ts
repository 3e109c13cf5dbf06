import type { WireSample } from './sample.ts';

/** Embeddings, as numbers and as base64. */
export const openAiEmbeddingsSample: WireSample = {
  format: 'openai.embeddings',
  requests: [
    {
      model: 'text-embedding-3-small',
      input: 'The quick fox',
      encoding_format: 'base64',
      dimensions: 256,
      user: 'u 1',
    },
    { model: 'text-embedding-3-small', input: ['The quick fox', 'jumps over'] },
  ],
  answers: [
    {
      object: 'list',
      model: 'text-embedding-3-small',
      data: [
        { object: 'embedding', index: 0, embedding: [0.25, -1e-3] },
        { object: 'embedding', index: 1, embedding: 'AACAPwAAAEA=' },
      ],
      usage: { prompt_tokens: 8, total_tokens: 8 },
    },
  ],
  streams: [],
};
