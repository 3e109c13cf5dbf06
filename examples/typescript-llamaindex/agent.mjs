/** An agent of LlamaIndex.TS whose model calls a tool with a secret. The model is scripted, so no network is needed. */
import assert from 'node:assert/strict';
import { agent } from '@llamaindex/workflow';
import { quickstart } from 'agent-safety/sdk';
import { guardLlamaIndexModel, guardLlamaIndexTools } from 'agent-safety/sdk/llamaindex';
import { FunctionTool, ToolCallLLM } from 'llamaindex';
import { z } from 'zod';

const call = { toolCall: [{ id: '1', name: 'send', input: '{"key":"sk-ABCDEF1234567890"}' }] };
const scripted = Object.assign(Object.create(ToolCallLLM.prototype), {
  supportToolCall: true,
  metadata: { model: 'scripted', temperature: 0, topP: 1, contextWindow: 1_000 },
  chat: async ({ messages }) => {
    const has_result = messages.some(({ options }) => options?.toolResult !== undefined);
    const texts = ['I could not, write to jane.doe@', 'corp-mail.io.'];
    return (async function* () {
      if (has_result) for (const delta of texts) yield { delta, raw: null };
      else yield { delta: '', raw: null, options: call };
    })();
  },
});

let ran = 0;
const send = FunctionTool.from(
  () => {
    ran += 1;
    return 'sent';
  },
  { name: 'send', description: 'Sends a key.', parameters: z.object({ key: z.string() }) },
);

const guard = quickstart();
const helper = agent({
  llm: guardLlamaIndexModel(scripted, guard),
  tools: guardLlamaIndexTools([send], guard),
});
const { data } = await helper.run('Send the key.');
assert.equal(ran, 0);
assert.equal(data.result, 'I could not, write to [REDACTED].');
console.log('The secret was blocked, the tool did not run, and the answer was masked.');
