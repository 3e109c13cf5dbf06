import * as testing from 'ai/test';

// The AI SDK 6 has the version before.
const MockLanguageModel = testing.MockLanguageModelV4 ?? testing.MockLanguageModelV3;

const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
const say = (content, unified) => ({ content: [content], finishReason: { unified }, usage, warnings: [] });
export const model = new MockLanguageModel({
  doGenerate: async ({ prompt }) =>
    prompt.some(({ role }) => role === 'tool')
      ? say({ type: 'text', text: 'I could not, write to jane.doe@corp-mail.io.' }, 'stop')
      : say(
          { type: 'tool-call', toolCallId: '1', toolName: 'send', input: '{"key":"sk-ABCDEF1234567890"}' },
          'tool-calls',
        ),
});
