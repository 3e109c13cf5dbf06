/** A model of LlamaIndex.TS that follows a script: it calls `send` with a secret, then answers with an address. */
import { ToolCallLLM } from 'llamaindex';

const call = { toolCall: [{ id: '1', name: 'send', input: '{"key":"sk-ABCDEF1234567890"}' }] };
export const model = Object.assign(Object.create(ToolCallLLM.prototype), {
  supportToolCall: true,
  metadata: { model: 'scripted', temperature: 0, topP: 1, contextWindow: 1_000 },
  chat: async ({ messages }) => {
    const hasResult = messages.some(({ options }) => options?.toolResult !== undefined);
    const texts = ['I could not, write to jane.doe@', 'corp-mail.io.'];
    return (async function* () {
      if (hasResult) for (const delta of texts) yield { delta, raw: null };
      else yield { delta: '', raw: null, options: call };
    })();
  },
});
