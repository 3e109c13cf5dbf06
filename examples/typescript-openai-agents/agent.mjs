/** An agent of the OpenAI Agents SDK whose model calls a tool with a secret. The model is scripted: no network is needed. */
import assert from 'node:assert/strict';
import { Agent, run, tool } from '@openai/agents';
import { quickstart } from 'customshouse/sdk';
import { guardOpenAIModel, guardOpenAITools } from 'customshouse/sdk/openai-agents';
import { z } from 'zod';
import { model } from './scripted-model.mjs';

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
  model: guardOpenAIModel(model, guard),
  tools: guardOpenAITools([send], guard),
});
const { finalOutput } = await run(agent, 'Send the key.');
assert.equal(ran, 0);
assert.equal(finalOutput, 'I could not, write to [REDACTED].');
console.log('The secret was blocked, the tool did not run, and the answer was masked.');
