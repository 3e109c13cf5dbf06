import { PICTURE, type WireSample } from './sample.ts';

const USAGE = {
  promptTokenCount: 20,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 3,
  cachedContentTokenCount: 12,
  toolUsePromptTokenCount: 2,
  totalTokenCount: 30,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 20 }],
};

const answer = (parts: unknown, more: object = {}, siblings: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  usageMetadata: USAGE,
  modelVersion: 'gemini-2.5-flash',
  responseId: 'mAitaLmkHPPlz7IPvtfUqQ4',
  ...siblings,
});

const LOGPROBS = {
  topCandidates: [{ candidates: [{ token: 'It rains', logProbability: -0.1, tokenId: 7 }] }],
  chosenCandidates: [{ token: 'It rains', logProbability: -0.1 }],
};
const GROUNDING = {
  webSearchQueries: ['rain in Oslo'],
  searchEntryPoint: { renderedContent: '<div>rain in Oslo</div>', sdkBlob: 'WwogIHs' },
  groundingChunks: [{ web: { uri: 'https://example.com', title: 'Rain today' } }],
  groundingSupports: [
    { segment: { startIndex: 0, endIndex: 9, text: 'It rains.' }, groundingChunkIndices: [0] },
  ],
};

/** Gemini: contents with every part, in both spellings. */
export const geminiGenerateSample: WireSample = {
  format: 'gemini.generate',
  requests: [
    {
      systemInstruction: { role: 'system', parts: [{ text: 'Be kind.' }] },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'Look at these.' },
            { inlineData: { mimeType: 'image/png', data: PICTURE, displayName: 'a cat' } },
            { fileData: { mimeType: 'application/pdf', fileUri: 'https://example.com/my plan' } },
          ],
        },
        {
          role: 'model',
          parts: [
            { text: 'Thinking of rain.', thought: true, thoughtSignature: 'CpwBAVSoXO4' },
            {
              functionCall: { id: 'fc_1', name: 'get_weather', args: { city: 'Oslo', 'odd key': ['a b'] } },
              thoughtSignature: 'CpwBAVSoXO4',
            },
            { executableCode: { language: 'PYTHON', code: 'print("a b")' } },
            { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'a b' } },
          ],
        },
        {
          role: 'user',
          parts: [
            {
              functionResponse: {
                id: 'fc_1',
                name: 'get_weather',
                response: { result: 'It rains.', id: 'no word here', type: 'wet' },
                parts: [{ inlineData: { mimeType: 'image/png', data: PICTURE } }],
              },
            },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            {
              name: 'get_weather',
              description: 'Tells the weather.',
              parameters: {
                type: 'OBJECT',
                properties: { city: { type: 'STRING', description: 'Where it is' } },
                required: ['city'],
              },
              parametersJsonSchema: { type: 'object', properties: { a: { type: 'string' } } },
            },
          ],
        },
        { googleSearch: {} },
        { codeExecution: {} },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['get_weather'] } },
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      generationConfig: {
        candidateCount: 2,
        maxOutputTokens: 300,
        stopSequences: ['the end'],
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
        thinkingConfig: { includeThoughts: true, thinkingBudget: 100 },
      },
      cachedContent: 'cachedContents/abc',
      labels: { team: 'the rain team' },
    },
    {
      system_instruction: { parts: { text: 'Be kind.' } },
      contents: {
        parts: [
          { text: 'Hello there' },
          { inline_data: { mime_type: 'image/png', data: PICTURE } },
          { function_response: { name: 'now', response: { output: 'ten past nine' } } },
        ],
      },
      generation_config: { max_output_tokens: 10, candidate_count: 1 },
    },
  ],
  answers: [
    answer(
      [
        { text: 'Thinking of rain.', thought: true },
        { text: 'It rains.', thoughtSignature: 'CpwBAVSoXO4' },
        { functionCall: { id: 'fc_1', name: 'get_weather', args: { city: 'New York' } } },
        { functionCall: { name: 'now' } },
        { executableCode: { language: 'PYTHON', code: 'print("a b")' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'a b' } },
        { inlineData: { mimeType: 'image/png', data: PICTURE } },
      ],
      {
        finishReason: 'STOP',
        safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE', blocked: false }],
        citationMetadata: {
          citations: [
            {
              startIndex: 0,
              endIndex: 4,
              uri: 'https://example.com',
              title: 'Rain today',
              license: 'mit or so',
            },
          ],
        },
        groundingMetadata: GROUNDING,
        logprobsResult: LOGPROBS,
        avgLogprobs: -0.1,
      },
      { promptFeedback: { blockReason: 'SAFETY', safetyRatings: [] } },
    ),
  ],
  streams: [
    [
      answer([{ text: 'Thinking', thought: true }]),
      answer([{ text: 'It rains' }], { logprobsResult: LOGPROBS }),
      answer([{ text: ' a lot.' }, { functionCall: { name: 'get_weather', args: { city: 'New York' } } }]),
      answer([{ text: '' }], { finishReason: 'STOP', groundingMetadata: GROUNDING }),
    ],
  ],
};
