/** An agent of LangChain whose model calls a tool with a secret. The model is scripted, so no network is needed. */
import assert from 'node:assert/strict';
import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { quickstart } from 'agent-safety/sdk';
import { createLangChainMiddleware } from 'agent-safety/sdk/langchain';
import * as langchain from 'langchain';
import { z } from 'zod';

const scripted = Object.assign(new FakeListChatModel({ responses: [''] }), {
  bindTools: () => scripted,
  _generate: async (messages) => {
    const message = messages.some(({ type }) => type === 'tool')
      ? new AIMessage('I could not, write to jane.doe@corp-mail.io.')
      : new AIMessage({
          content: '',
          tool_calls: [{ id: '1', name: 'send', args: { key: 'sk-ABCDEF1234567890' } }],
        });
    return { generations: [{ text: message.text, message }] };
  },
});

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
  model: scripted,
  tools: [send],
  middleware: [createLangChainMiddleware(langchain, guard)],
});
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Send the key.' }] });
assert.equal(ran, 0);
assert.equal(messages.at(-1).text, 'I could not, write to [REDACTED].');
console.log('The secret was blocked, the tool did not run, and the answer was masked.');
