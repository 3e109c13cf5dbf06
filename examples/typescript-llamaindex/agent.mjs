/** An agent of LlamaIndex.TS whose model calls a tool with a secret. The model is scripted, so no network is needed. */
import assert from 'node:assert/strict';
import { agent } from '@llamaindex/workflow';
import { quickstart } from 'customshouse/sdk';
import { guardLlamaIndexModel, guardLlamaIndexTools } from 'customshouse/sdk/llamaindex';
import { FunctionTool } from 'llamaindex';
import { z } from 'zod';
import { model } from './scripted-model.mjs';

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
  llm: guardLlamaIndexModel(model, guard),
  tools: guardLlamaIndexTools([send], guard),
});
const { data } = await helper.run('Send the key.');
assert.equal(ran, 0);
assert.equal(data.result, 'I could not, write to [REDACTED].');
console.log('The secret was blocked, the tool did not run, and the answer was masked.');
