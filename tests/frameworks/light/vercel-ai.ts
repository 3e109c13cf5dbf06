import { generateText, isStepCount, jsonSchema, streamText, tool, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { createVercelMiddleware, guardVercelTools } from '../../../src/sdk/adapters/vercel-ai.ts';
import { playAll, type Scene, type SceneResult, useTool, watchCall } from '../scenes.ts';

const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };

// biome-ignore lint/suspicious/noExplicitAny: the model sees what the SDK makes of a prompt.
function answerTo(prompt: any, seen: SceneResult, scene: Scene) {
  const { tool: toolName, city, answer } = scene;
  watchCall(scene, seen, 'messages', prompt);
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const said = (role: string) => prompt.filter((each: any) => each.role === role);
  seen.question = said('user')[0].content[0].text;
  const results = said('tool');
  if (results.length > 0) seen.result = results.at(-1).content[0].output.value;
  return city !== null && results.length === 0
    ? { type: 'tool-call' as const, toolCallId: 'c1', toolName, input: JSON.stringify({ city }) }
    : { type: 'text' as const, text: answer };
}

/** A call as providers stream it: its arguments in pieces, and then the whole of it. */
function streamCall(call: { toolCallId: string; toolName: string; input: string }): object[] {
  const { toolCallId: id, toolName, input } = call;
  const pieces = [...input].map((delta) => ({ type: 'tool-input-delta', id, delta }));
  return [{ type: 'tool-input-start', id, toolName }, ...pieces, { type: 'tool-input-end', id }, call];
}

function scriptModel(scene: Scene, seen: SceneResult): MockLanguageModelV4 {
  const finish = (type: string) => ({ unified: type === 'text' ? 'stop' : 'tool-calls', raw: undefined });
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const content = answerTo(prompt, seen, scene);
      return { content: [content], finishReason: finish(content.type), usage, warnings: [] } as never;
    },
    doStream: async ({ prompt }) => {
      const content = answerTo(prompt, seen, scene);
      const pieces = [...scene.answer].map((delta) => ({ type: 'text-delta', id: '1', delta }));
      const chunks =
        content.type === 'text'
          ? [{ type: 'text-start', id: '1' }, ...pieces, { type: 'text-end', id: '1' }]
          : streamCall(content);
      const end = { type: 'finish', finishReason: finish(content.type), usage };
      return { stream: simulateReadableStream({ chunks: [...chunks, end] }) } as never;
    },
  });
}

await playAll(
  async (scene, seen, { guard, is_stream, guards_texts }) => {
    const lookUp = tool({
      description: 'Looks something up.',
      inputSchema: jsonSchema<{ city: string }>({
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      }),
      execute: async ({ city }) => useTool(scene, seen, city),
    });
    const model = scriptModel(scene, seen);
    const options = {
      model: guards_texts ? wrapLanguageModel({ model, middleware: createVercelMiddleware(guard) }) : model,
      tools: guardVercelTools({ [scene.tool]: lookUp }, guard),
      stopWhen: isStepCount(3),
      prompt: scene.prompt,
      maxRetries: 0,
    };
    if (!is_stream) {
      const result = await generateText(options);
      watchCall(scene, seen, 'result', [result.steps, result.response]);
      seen.answer = result.text;
      return;
    }
    let failed: unknown = null;
    const onError = ({ error }: { error: unknown }) => {
      failed = error;
    };
    for await (const part of streamText({ ...options, onError }).fullStream) {
      watchCall(scene, seen, 'stream', part);
      if (part.type === 'text-delta') seen.shown += part.text;
    }
    if (failed !== null) throw failed;
    seen.answer = seen.shown;
  },
  { streams: true },
);
