import { type AIMessage, ToolMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { guardLangChainModel, guardLangChainTools } from '../../../src/sdk/adapters/langchain.ts';
import { playAll, watchCall } from '../scenes.ts';
import { buildTool, scriptModel, showStreams } from './langchain-model.ts';

await playAll(
  async (scene, seen, { guard, is_stream, guards_texts }) => {
    const lookUp = buildTool(scene, seen);
    const plain = scriptModel(scene, seen);
    const model = (guards_texts ? guardLangChainModel(plain, guard) : plain).bindTools([lookUp]);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('tools', new ToolNode(guardLangChainTools([lookUp], guard)))
      .addEdge(START, 'model')
      .addConditionalEdges('model', ({ messages }) =>
        (messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : END,
      )
      .addEdge('tools', 'model')
      .compile();
    const asked = { messages: [{ role: 'user', content: scene.prompt }] };
    if (is_stream) return showStreams(graph as never, asked, scene, seen);
    const { messages } = await graph.invoke(asked);
    watchCall(scene, seen, 'result', messages);
    if (messages.some((each) => each instanceof ToolMessage && each.text === ''))
      throw new Error('no result');
    seen.answer = messages.at(-1)?.text ?? '';
  },
  { streams: true },
);
