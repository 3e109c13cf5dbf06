/** An agent of LangChain whose model calls a tool with a secret. The model is scripted, so no network is needed. */
import assert from 'node:assert/strict';
import { tool } from '@langchain/core/tools';
import { quickstart } from 'customshouse/sdk';
import { createLangChainMiddleware } from 'customshouse/sdk/langchain';
import * as langchain from 'langchain';
import { z } from 'zod';
import { model } from './scripted-model.mjs';

let ran = 0;
const send = tool(
  () => {
    ran += 1;
    return 'sent';
  },
  { name: 'send', description: 'Sends a key.', schema: z.object({ key: z.string() }) },
);

const guard = quickstart();
const agent = langchain.createAgent({
  model,
  tools: [send],
  middleware: [createLangChainMiddleware(langchain, guard)],
});
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Send the key.' }] });
assert.equal(ran, 0);
assert.equal(messages.at(-1).text, 'I could not, write to [REDACTED].');
console.log('The secret was blocked, the tool did not run, and the answer was masked.');
