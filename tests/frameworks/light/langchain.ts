import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import * as langchain from 'langchain';
import { z } from 'zod';
import {
  createLangChainMiddleware,
  guardLangChainTools,
  protectAnswer,
  protectMessages,
} from '../../../src/sdk/adapters/langchain.ts';
import { playAll, type Scene, type SceneOptions, type SceneResult, useTool } from '../scenes.ts';

/** Returns a model that follows a scene. */
function scriptModel(scene: Scene, seen: SceneResult): FakeListChatModel {
  const model = new FakeListChatModel({ responses: [''] });
  return Object.assign(model, {
    bindTools: () => model,
    _generate: async (messages: BaseMessage[]) => {
      seen.question = messages.find((each) => each.type === 'human')?.text ?? null;
      const result = messages.findLast((each) => each.type === 'tool');
      if (result !== undefined) seen.result = result.text;
      const calls = [{ id: 'c1', name: scene.tool, args: { city: scene.city } }];
      const message =
        scene.city !== null && result === undefined
          ? new AIMessage({ content: '', tool_calls: calls })
          : new AIMessage({ content: scene.answer });
      return { generations: [{ text: message.text, message }] };
    },
  } as object);
}

function buildTool(scene: Scene, seen: SceneResult) {
  return tool(async ({ city }: { city: string }) => useTool(scene, seen, city), {
    name: scene.tool,
    description: 'Looks something up.',
    schema: z.object({ city: z.string() }),
  });
}

/** An agent with the middleware. */
async function askAgent(
  scene: Scene,
  seen: SceneResult,
  { guard, guards_texts }: SceneOptions,
): Promise<string> {
  const look_up = buildTool(scene, seen);
  const agent = langchain.createAgent({
    model: scriptModel(scene, seen),
    tools: guards_texts ? [look_up] : guardLangChainTools([look_up], guard),
    middleware: guards_texts ? [createLangChainMiddleware(langchain, guard)] : [],
  });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: scene.prompt }] });
  return messages.at(-1)?.text ?? '';
}

/** A graph with a node for the model and one for the tools. */
async function askGraph(
  scene: Scene,
  seen: SceneResult,
  { guard, guards_texts }: SceneOptions,
): Promise<string> {
  const model = scriptModel(scene, seen);
  const callModel = async ({ messages }: typeof MessagesAnnotation.State) => {
    if (!guards_texts) return { messages: [await model.invoke(messages)] };
    const answer = await model.invoke(await protectMessages(messages, guard));
    return { messages: [await protectAnswer(answer, guard)] };
  };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', callModel)
    .addNode('tools', new ToolNode(guardLangChainTools([buildTool(scene, seen)], guard)))
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : END,
    )
    .addEdge('tools', 'model')
    .compile();
  const { messages } = await graph.invoke({ messages: [{ role: 'user', content: scene.prompt }] });
  if (messages.some((each) => each instanceof ToolMessage && each.text === '')) throw new Error('no result');
  return messages.at(-1)?.text ?? '';
}

// The scenes that are "streamed" are those of LangGraph: neither framework streams through a guard.
await playAll(
  async (scene, seen, setting) => {
    seen.answer = await (setting.is_stream ? askGraph : askAgent)(scene, seen, setting);
  },
  { streams: true },
);
