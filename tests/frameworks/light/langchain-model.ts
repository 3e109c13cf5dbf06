/** The scripted model and the tool of the agents of LangChain and LangGraph, and a program that shows their streams. */
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { tool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { z } from 'zod';
import { type Scene, type SceneResult, useTool, watchCall } from '../scenes.ts';

interface RunManager {
  readonly handleLLMNewToken: (token: string, ...rest: unknown[]) => Promise<void>;
}

/** Returns a model that follows a scene. It streams each letter, and calls its callbacks as models of providers do. */
export function scriptModel(scene: Scene, seen: SceneResult): FakeListChatModel {
  const answerTo = (messages: BaseMessage[]) => {
    seen.question = messages.find((each) => each.type === 'human')?.text ?? null;
    const result = messages.findLast((each) => each.type === 'tool');
    if (result !== undefined) seen.result = result.text;
    watchCall(scene, seen, 'messages', messages);
    return scene.city !== null && result === undefined
      ? { content: '', tool_calls: [{ id: 'c1', name: scene.tool, args: { city: scene.city } }] }
      : { content: scene.answer, response_metadata: { raw: scene.answer } };
  };
  const build = (): FakeListChatModel =>
    Object.assign(new FakeListChatModel({ responses: [''] }), {
      // Models of providers return a copy of themselves.
      bindTools: build,
      _generate: async (messages: BaseMessage[]) => {
        const message = new AIMessage(answerTo(messages));
        return { generations: [{ text: message.text, message }] };
      },
      async *_streamResponseChunks(messages: BaseMessage[], _options: object, run?: RunManager) {
        const { content, tool_calls = [], ...rest } = answerTo(messages);
        const toolCallChunks = tool_calls.map(({ args, ...call }) => ({
          ...call,
          args: JSON.stringify(args),
          index: 0,
        }));
        for (const text of [...content, '']) {
          const last = text === '' ? { tool_call_chunks: toolCallChunks, ...rest } : {};
          const chunk = new ChatGenerationChunk({
            text,
            message: new AIMessageChunk({ content: text, ...last }),
          });
          yield chunk;
          await run?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
        }
      },
    } as object);
  return build();
}

export function buildTool(scene: Scene, seen: SceneResult) {
  return tool(async ({ city }: { city: string }) => useTool(scene, seen, city), {
    name: scene.tool,
    description: 'Looks something up.',
    schema: z.object({ city: z.string() }),
  });
}

interface Graph {
  readonly streamEvents: (asked: object, options: object) => AsyncIterable<StreamEvent>;
}

interface StreamEvent {
  readonly event: string;
  readonly data: { readonly chunk?: BaseMessage | readonly [mode: string, event: unknown] };
}

/**
 * Shows the tokens of an agent as `stream` has them. `streamEvents`, which has the events of `stream` too, and callbacks
 * must show the same tokens, and no event may hold the secret.
 */
export async function showStreams(
  graph: Graph,
  asked: object,
  scene: Scene,
  seen: SceneResult,
): Promise<void> {
  const shown = { callback: '', messages: '', events: '' };
  const leaks = new Set<string>();
  const find = (kind: string, event: unknown) => {
    if (JSON.stringify(event)?.includes('p4ssw0rd')) leaks.add(kind);
  };
  const handleLLMNewToken = (token: string, _at: unknown, _run: string, ...[, , fields]: unknown[]) => {
    shown.callback += token;
    find('callback', fields);
  };
  const streamMode = ['messages', 'updates', 'values'];
  const options = { version: 'v2', streamMode, callbacks: [{ handleLLMNewToken }] };
  try {
    for await (const each of graph.streamEvents(asked, options)) {
      const { event, data } = each;
      find(event, each);
      watchCall(scene, seen, 'stream', data);
      if (event === 'on_chat_model_stream') shown.events += (data.chunk as BaseMessage).text;
      if (event !== 'on_chain_stream' || !Array.isArray(data.chunk) || data.chunk[0] !== 'messages') continue;
      const [message] = data.chunk[1] as [BaseMessage];
      if (message.type === 'ai') shown.messages += message.text;
    }
  } finally {
    seen.shown = shown.messages;
  }
  if (leaks.size > 0) throw new Error(`Events leaked: ${[...leaks].join()}`);
  if (new Set(Object.values(shown)).size > 1) throw new Error(`Streams differ: ${JSON.stringify(shown)}`);
  seen.answer = shown.messages;
}
