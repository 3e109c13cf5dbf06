/** A model of Mastra that follows a script: it calls `send` with a secret, then answers with an address. */

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const doStream = async ({ prompt }) => {
  const hasResult = prompt.some(({ role }) => role === 'tool');
  const chunks = hasResult
    ? [
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'I could not, write to jane.doe@' },
        { type: 'text-delta', id: '1', delta: 'corp-mail.io.' },
        { type: 'text-end', id: '1' },
      ]
    : [{ type: 'tool-call', toolCallId: '1', toolName: 'send', input: '{"key":"sk-ABCDEF1234567890"}' }];
  const finish = { type: 'finish', finishReason: hasResult ? 'stop' : 'tool-calls', usage };
  return { stream: ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...chunks, finish]) };
};
export const model = {
  specificationVersion: 'v2',
  provider: 'own',
  modelId: 'scripted',
  supportedUrls: {},
  doStream,
};
