/** An agent of the OpenAI Agents SDK whose model calls a tool with a secret. The model is scripted: no network is needed. */
import assert from 'node:assert/strict';
import { Agent, run, setTracingDisabled, tool, Usage } from '@openai/agents';
import { quickstart } from 'agent-safety/sdk';
import { guardOpenAIModel, guardOpenAITools } from 'agent-safety/sdk/openai-agents';
import { z } from 'zod';

setTracingDisabled(true);
const call = { type: 'function_call', callId: '1', name: 'send', status: 'completed' };
const answer = [{ type: 'output_text', text: 'I could not, write to jane.doe@corp-mail.io.' }];
const scripted = {
  getResponse: async ({ input }) => ({
    usage: new Usage(),
    output: input.some?.(({ type }) => type === 'function_call_result')
      ? [{ type: 'message', role: 'assistant', status: 'completed', content: answer }]
      : [{ ...call, arguments: '{"key":"sk-ABCDEF1234567890"}' }],
  }),
};

let ran = 0;
const send = tool({
  name: 'send',
  description: 'Sends a key.',
  parameters: z.object({ key: z.string() }),
  execute: () => {
    ran += 1;
    return 'sent';
  },
});

const guard = quickstart();
const agent = new Agent({
  name: 'helper',
  model: guardOpenAIModel(scripted, guard),
  tools: guardOpenAITools([send], guard),
});
const { finalOutput } = await run(agent, 'Send the key.');
assert.equal(ran, 0);
assert.equal(finalOutput, 'I could not, write to [REDACTED].');
console.log('The secret was blocked, the tool did not run, and the answer was masked.');
