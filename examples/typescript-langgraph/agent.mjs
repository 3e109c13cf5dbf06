/** A graph of LangGraph whose model calls a tool with a secret. The model is scripted, so no network is needed. */
import assert from 'node:assert/strict';
import { tool } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { quickstart } from 'customshouse/sdk';
import { guardLangChainModel, guardLangChainTools } from 'customshouse/sdk/langchain';
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
const guarded = guardLangChainModel(model, guard).bindTools([send]);
const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: [await guarded.invoke(messages)] }))
  .addNode('tools', new ToolNode(guardLangChainTools([send], guard)))
  .addEdge(START, 'model')
  .addConditionalEdges('model', ({ messages }) => (messages.at(-1).tool_calls?.length ? 'tools' : END))
  .addEdge('tools', 'model')
  .compile();
const { messages } = await graph.invoke({ messages: [{ role: 'user', content: 'Send the key.' }] });
assert.equal(ran, 0);
assert.equal(messages.at(-1).text, 'I could not, write to [REDACTED].');
console.log('The secret was blocked, the tool did not run, and the answer was masked.');
