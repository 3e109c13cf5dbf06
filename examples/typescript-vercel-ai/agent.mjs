/** An agent of the AI SDK whose model calls a tool with a secret. The model is scripted, so no network is needed. */
import assert from 'node:assert/strict';
import { generateText, jsonSchema, tool, wrapLanguageModel } from 'ai';
import { quickstart } from 'customshouse/sdk';
import { createVercelMiddleware, guardVercelTools } from 'customshouse/sdk/vercel-ai';
import { model } from './scripted-model.mjs';

let ran = 0;
const send = tool({
  description: 'Sends a key.',
  inputSchema: jsonSchema({ type: 'object', properties: { key: { type: 'string' } } }),
  execute: () => {
    ran += 1;
    return 'sent';
  },
});

const guard = quickstart();
const { text } = await generateText({
  model: wrapLanguageModel({ model, middleware: createVercelMiddleware(guard) }),
  tools: guardVercelTools({ send }, guard),
  stopWhen: ({ steps }) => steps.length === 3,
  prompt: 'Send the key.',
});
assert.equal(ran, 0);
assert.equal(text, 'I could not, write to [REDACTED].');
console.log('The secret was blocked, the tool did not run, and the answer was masked.');
