import { agent, agentStreamEvent } from '@llamaindex/workflow';
import { FunctionTool, ToolCallLLM } from 'llamaindex';
import { z } from 'zod';
import { guardLlamaIndexModel, guardLlamaIndexTools } from '../../../src/sdk/adapters/llamaindex.ts';
import { playAll, type Scene, type SceneResult, useTool, watchCall } from '../scenes.ts';

/** Returns a model that follows a scene. */
function scriptModel(scene: Scene, seen: SceneResult): ToolCallLLM {
  const metadata = { model: 'scripted', temperature: 0, topP: 1, contextWindow: 1_000, tokenizer: undefined };
  const answerTo = (
    messages: { role: string; content: unknown; options?: { toolResult?: { result: string } } }[],
  ) => {
    seen.question = String(messages.find(({ role }) => role === 'user')?.content);
    watchCall(scene, seen, 'messages', messages);
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

/** A model answers in four more ways, which must be guarded as an agent is. */
async function compareAnswers(llm: ToolCallLLM, prompt: string, expected: string): Promise<void> {
  const asked = { messages: [{ role: 'user' as const, content: prompt }] };
  const pieces = await llm.complete({ prompt, stream: true });
  const streamed = await llm.exec({ ...asked, stream: true });
  const answers = [
    (await llm.complete({ prompt })).text,
    (await llm.exec(asked)).newMessages[0]?.content,
    await collectText(pieces, ({ text }) => text),
    await collectText(streamed.stream, ({ delta }) => delta),
  ];
  for (const [at, answer] of answers.entries())
    if (answer !== expected) throw new Error(`Answer ${at} is ${answer}, and not ${expected}`);
}

async function collectText<Piece>(
  pieces: AsyncIterable<Piece>,
  read: (piece: Piece) => string,
): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += read(piece);
  return text;
}

await playAll(
  async (scene, seen, { guard, is_stream, guards_texts }) => {
    const lookUp = FunctionTool.from(({ city }: { city: string }) => useTool(scene, seen, city), {
      name: scene.tool,
      description: 'Looks something up.',
      parameters: z.object({ city: z.string() }) as never,
    });
    const plain = scriptModel(scene, seen);
    const llm = guards_texts ? guardLlamaIndexModel(plain, guard) : plain;
    const helper = agent({
      llm,
      tools: guardLlamaIndexTools([lookUp], guard),
    });
    if (!is_stream) {
      const { data } = await helper.run(scene.prompt);
      watchCall(scene, seen, 'result', data);
      seen.answer = String(data.result);
      if (scene.city === null && guards_texts) await compareAnswers(llm, scene.prompt, seen.answer);
      return;
    }
    for await (const event of helper.runStream(scene.prompt)) {
      watchCall(scene, seen, 'stream', event.data);
      if (JSON.stringify(event.data).includes('p4ssw0rd')) throw new Error('An event leaked.');
      if (agentStreamEvent.include(event)) seen.shown += event.data.delta;
    }
    seen.answer = seen.shown;
  },
  { streams: true },
);
