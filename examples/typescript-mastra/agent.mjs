/** An agent of Mastra whose model calls a tool with a secret. The model is scripted, so no network is needed. */
import assert from 'node:assert/strict';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { quickstart } from 'customshouse/sdk';
import { createMastraProcessor, guardMastraTools } from 'customshouse/sdk/mastra';
import { z } from 'zod';
import { model } from './scripted-model.mjs';

let ran = 0;
const send = createTool({
  id: 'send',
  description: 'Sends a key.',
  inputSchema: z.object({ key: z.string() }),
  execute: async () => {
    ran += 1;
    return 'sent';
  },
});

const guard = quickstart();
const processor = createMastraProcessor(guard);
const agent = new Agent({
  id: 'helper',
  name: 'helper',
  instructions: 'Help.',
  model,
  tools: guardMastraTools({ send }, guard),
  inputProcessors: [processor],
  outputProcessors: [processor],
});
let text = '';
for await (const piece of (await agent.stream('Send the key.')).textStream) text += piece;
assert.equal(ran, 0);
assert.equal(text, 'I could not, write to [REDACTED].');
console.log('The secret was blocked, the tool did not run, and the stream was masked.');
process.exit(0);
