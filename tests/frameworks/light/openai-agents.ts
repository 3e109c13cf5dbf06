import { Agent, type Model, run, setTracingDisabled, tool, Usage } from '@openai/agents';
import { z } from 'zod';
import {
  createOpenAIGuardrails,
  guardOpenAIModel,
  guardOpenAITools,
} from '../../../src/sdk/adapters/openai-agents.ts';
import { playAll, type Scene, type SceneResult, useTool, watchCall } from '../scenes.ts';

setTracingDisabled(true);

function scriptModel(scene: Scene, seen: SceneResult): Model {
  // biome-ignore lint/suspicious/noExplicitAny: the model sees what the SDK makes of a prompt.
  const outputTo = (input: any) => {
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    const items: any[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
    const [question] = items.filter(({ role }) => role === 'user');
    seen.question = typeof question.content === 'string' ? question.content : question.content[0].text;
    const result = items.findLast(({ type }) => type === 'function_call_result');
    if (result !== undefined)
      seen.result = typeof result.output === 'string' ? result.output : result.output.text;
    watchCall(scene, seen, 'messages', items);
    if (scene.city !== null && result === undefined)
      return [
        {
          type: 'function_call',
          callId: 'c1',
          name: scene.tool,
          status: 'completed',
          arguments: JSON.stringify({ city: scene.city }),
        },
      ];
    const { answer } = scene;
    const content = [{ type: 'output_text', text: answer, providerData: { answer } }];
    return [
      { type: 'reasoning', content: [], rawContent: [{ type: 'reasoning_text', text: answer }] },
      {
        type: 'message',
        id: 'm1',
        role: 'assistant',
        status: 'completed',
        content,
        providerData: { answer },
      },
    ];
  };
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  return {
    getResponse: async ({ input }) => ({ usage: new Usage(), output: outputTo(input) }) as never,
    async *getStreamedResponse({ input }) {
      const output = outputTo(input);
      yield { type: 'response_started' } as never;
      if (output[0]?.type === 'reasoning') {
        const { answer } = scene;
        yield { type: 'of_a_later_version', answer } as never;
        for (const delta of answer) {
          yield { type: 'model', event: { type: 'response.output_text.delta', delta, answer } } as never;
          yield { type: 'output_text_delta', delta, providerData: { answer } } as never;
        }
      }
      yield { type: 'response_done', response: { id: 'r1', usage, output } } as never;
    },
  };
}

function assertNoSecret(event: unknown): void {
  if (JSON.stringify(event).includes('p4ssw0rd')) throw new Error('An event leaked.');
}

await playAll(
  async (scene, seen, { guard, is_stream, guards_texts }) => {
    const lookUp = tool({
      name: scene.tool,
      description: 'Looks something up.',
      parameters: z.object({ city: z.string() }),
      execute: async ({ city }) => useTool(scene, seen, city),
      // The SDK's own function returns a fixed sentence, whatever the error says.
      errorFunction: (_context, error) => String(error),
    });
    const model = scriptModel(scene, seen);
    const agent = new Agent({
      name: 'helper',
      model: guards_texts ? guardOpenAIModel(model, guard) : model,
      tools: guardOpenAITools([lookUp], guard),
      // Guardrails of the SDK cannot mask, so they are tried where only they can block.
      ...(scene.prompt.startsWith('Use key') && guards_texts && createOpenAIGuardrails(guard)),
    });
    if (!is_stream) {
      const result = await run(agent, scene.prompt);
      seen.answer = result.finalOutput ?? null;
      watchCall(scene, seen, 'result', [result.history, result.newItems, result.rawResponses]);
      if (guards_texts) assertNoSecret(result.rawResponses);
      return;
    }
    const streamed = await run(agent, scene.prompt, { stream: true });
    for await (const event of streamed) {
      watchCall(scene, seen, 'stream', event);
      if (guards_texts) assertNoSecret(event);
      if (event.type !== 'raw_model_stream_event') continue;
      if (event.data.type === 'output_text_delta') seen.shown += event.data.delta;
    }
    await streamed.completed;
    seen.answer = seen.shown;
    if (streamed.finalOutput !== seen.shown) throw new Error('The stream differs from the answer.');
  },
  { streams: true },
);
