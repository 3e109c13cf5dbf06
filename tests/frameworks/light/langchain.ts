import * as langchain from 'langchain';
import { createLangChainMiddleware, guardLangChainTools } from '../../../src/sdk/adapters/langchain.ts';
import { playAll, watchCall } from '../scenes.ts';
import { buildTool, scriptModel, showStreams } from './langchain-model.ts';

await playAll(
  async (scene, seen, { guard, is_stream, guards_texts }) => {
    const lookUp = buildTool(scene, seen);
    const agent = langchain.createAgent({
      model: scriptModel(scene, seen),
      tools: guards_texts ? [lookUp] : guardLangChainTools([lookUp], guard),
      middleware: guards_texts ? [createLangChainMiddleware(langchain, guard)] : [],
    });
    const asked = { messages: [{ role: 'user', content: scene.prompt }] };
    if (is_stream) return showStreams(agent as never, asked, scene, seen);
    const { messages } = await agent.invoke(asked);
    watchCall(scene, seen, 'result', messages);
    seen.answer = messages.at(-1)?.text ?? '';
  },
  { streams: true },
);
