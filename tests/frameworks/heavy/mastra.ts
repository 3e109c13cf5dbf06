import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { createMastraProcessor, guardMastraTools } from '../../../src/sdk/adapters/mastra.ts';
import { playAll, type Scene, type SceneResult, useTool, watchCall } from '../scenes.ts';

/** A language model in the form of the AI SDK, version 5, that follows a scene. */
function scriptModel(scene: Scene, seen: SceneResult) {
  // biome-ignore lint/suspicious/noExplicitAny: the model sees what the framework makes of a prompt.
  const answerTo = (prompt: any[]) => {
    seen.question = prompt.find(({ role }) => role === 'user')?.content[0].text;
    watchCall(scene, seen, 'messages', prompt);
    const result = prompt.findLast(({ role }) => role === 'tool');
    if (result !== undefined) seen.result = String(result.content[0].output.value);
    return scene.city !== null && result === undefined
      ? {
          type: 'tool-call',
          toolCallId: 'c1',
          toolName: scene.tool,
          input: JSON.stringify({ city: scene.city }),
        }
      : { type: 'text', text: scene.answer };
  };
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  return {
    specificationVersion: 'v2',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: async ({ prompt }: { prompt: [] }) => {
      const content = answerTo(prompt);
      return {
        content: [content],
        finishReason: content.type === 'text' ? 'stop' : 'tool-calls',
        usage,
        warnings: [],
        response: { body: content },
      };
    },
    doStream: async ({ prompt }: { prompt: [] }) => {
      const content = answerTo(prompt);
      const pieces = [...scene.answer].map((delta) => ({ type: 'text-delta', id: '1', delta }));
      const chunks =
        content.type === 'text'
          ? [{ type: 'text-start', id: '1' }, ...pieces, { type: 'text-end', id: '1' }]
          : [content];
      const finishReason = content.type === 'text' ? 'stop' : 'tool-calls';
      const all = [
        { type: 'stream-start', warnings: [] },
        ...chunks,
        { type: 'finish', finishReason, usage },
      ];
      return { stream: simulateReadableStream(all) };
    },
  };
}

function simulateReadableStream(chunks: readonly object[]): ReadableStream<object> {
  return new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

await playAll(
  async (scene, seen, { guard, is_stream, guards_texts }) => {
    const lookUp = createTool({
      id: scene.tool,
      description: 'Looks something up.',
      inputSchema: z.object({ city: z.string() }) as never,
      execute: async (input) => useTool(scene, seen, (input as { city: string }).city),
    });
    const processors = guards_texts ? [createMastraProcessor(guard)] : [];
    const agent = new Agent({
      id: 'helper',
      name: 'helper',
      instructions: 'Help.',
      model: scriptModel(scene, seen) as never,
      tools: guardMastraTools({ [scene.tool]: lookUp }, guard),
      inputProcessors: processors,
      outputProcessors: processors,
    });
    if (!is_stream) {
      const result = await agent.generate(scene.prompt);
      watchCall(scene, seen, 'result', result);
      if (guards_texts && JSON.stringify(result.steps).includes('p4ssw0rd'))
        throw new Error('A step leaked.');
      if (result.tripwire) throw new Error(result.tripwire.reason);
      seen.answer = result.text;
      return;
    }
    const streamed = await agent.stream(scene.prompt);
    for await (const part of streamed.fullStream) {
      watchCall(scene, seen, 'stream', part);
      if (part.type === 'text-delta') seen.shown += part.payload.text;
    }
    if (streamed.tripwire) throw new Error(streamed.tripwire.reason);
    seen.answer = seen.shown;
  },
  { streams: true },
);
