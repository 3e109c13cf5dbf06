import { agent, agentStreamEvent } from '@llamaindex/workflow';
import { FunctionTool, ToolCallLLM } from 'llamaindex';
import { z } from 'zod';
import { guardLlamaIndexModel, guardLlamaIndexTools } from '../../../src/sdk/adapters/llamaindex.ts';
import { playAll, type Scene, type SceneResult, useTool } from '../scenes.ts';

/** Returns a model that follows a scene. */
function scriptModel(scene: Scene, seen: SceneResult): ToolCallLLM {
  const metadata = { model: 'scripted', temperature: 0, topP: 1, contextWindow: 1_000, tokenizer: undefined };
  const answerTo = (
    messages: { role: string; content: unknown; options?: { toolResult?: { result: string } } }[],
  ) => {
    seen.question = String(messages.find(({ role }) => role === 'user')?.content);
    const result = messages.findLast(({ options }) => options?.toolResult !== undefined)?.options?.toolResult;
    if (result !== undefined) seen.result = result.result;
    const input = JSON.stringify({ city: scene.city });
    return scene.city !== null && result === undefined
      ? { delta: '', options: { toolCall: [{ id: 'c1', name: scene.tool, input }] } }
      : null;
  };
  return Object.assign(Object.create(ToolCallLLM.prototype), {
    metadata,
    supportToolCall: true,
    async chat({ messages, stream }: { messages: []; stream?: boolean }) {
      const call = answerTo(messages);
      if (stream !== true)
        return { message: { role: 'assistant', content: scene.answer, ...call }, raw: null };
      const chunks = call === null ? [...scene.answer].map((delta) => ({ delta, raw: { delta } })) : [call];
      return (async function* () {
        yield* chunks;
      })();
    },
  }) as ToolCallLLM;
}

await playAll(
  async (scene, seen, { guard, is_stream, guards_texts }) => {
    const look_up = FunctionTool.from(({ city }: { city: string }) => useTool(scene, seen, city), {
      name: scene.tool,
      description: 'Looks something up.',
      parameters: z.object({ city: z.string() }) as never,
    });
    const llm = scriptModel(scene, seen);
    const helper = agent({
      llm: guards_texts ? guardLlamaIndexModel(llm, guard) : llm,
      tools: guardLlamaIndexTools([look_up], guard),
    });
    if (!is_stream) {
      seen.answer = String((await helper.run(scene.prompt)).data.result);
      return;
    }
    let text = '';
    for await (const event of helper.runStream(scene.prompt)) {
      if (JSON.stringify(event.data).includes('p4ssw0rd')) throw new Error('An event leaked.');
      if (agentStreamEvent.include(event)) text += event.data.delta;
    }
    seen.answer = text;
  },
  { streams: true },
);
