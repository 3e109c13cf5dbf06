/** Guards agents of LangChain and graphs of LangGraph: prompts, tool calls, tool results and answers. */
import type { Guard } from '../guard.ts';
import { type AdapterOptions, runOrTell } from './blocked-call.ts';

/** The part of the package `langchain` that the middleware needs: pass `import * as langchain from 'langchain'`. */
export interface LangChainModule<Middleware> {
  readonly createMiddleware: (config: never) => Middleware;
  readonly ToolMessage: new (fields: never) => object;
}

interface Message {
  readonly content: unknown;
  readonly constructor: unknown;
}

interface ToolCallRequest {
  readonly toolCall: { readonly id?: string; readonly name: string; readonly args: unknown };
}

interface ModelRequest {
  readonly messages: readonly Message[];
}

/**
 * Returns the middleware for `createAgent`. Prompts are checked before the model sees them, tool calls before they run,
 * their results and the answers before the agent goes on. A blocked prompt or answer rejects with `BlockedError`.
 */
export function createLangChainMiddleware<Middleware>(
  { createMiddleware, ToolMessage }: LangChainModule<Middleware>,
  guard: Guard,
  options: AdapterOptions = {},
): Middleware {
  const tell = ({ toolCall }: ToolCallRequest, content: string) =>
    new ToolMessage({
      content,
      tool_call_id: toolCall.id ?? '',
      name: toolCall.name,
      status: 'error',
    } as never);
  const config = {
    name: 'AgentSafety',
    wrapModelCall: async (request: ModelRequest, handler: (request: ModelRequest) => Promise<Message>) => {
      const messages = await protectMessages(request.messages, guard);
      return protectAnswer(await handler({ ...request, messages }), guard);
    },
    wrapToolCall: (request: ToolCallRequest, handler: (request: ToolCallRequest) => Promise<Message>) =>
      runOrTell(
        options,
        async () => {
          const { toolCall } = request;
          const args = await guard.protect.tool(toolCall.name, toolCall.args);
          const result = await handler({ ...request, toolCall: { ...toolCall, args } });
          return protectResult(toolCall.name, result, guard);
        },
        (reason) => tell(request, reason),
      ),
  };
  return createMiddleware(config as never);
}

/**
 * Returns the same tools behind the guard, for `ToolNode` and for programs that call tools themselves. A blocked call
 * does not run.
 */
export function guardLangChainTools<Tool extends object>(
  tools: readonly Tool[],
  guard: Guard,
  options: AdapterOptions = {},
): Tool[] {
  return tools.map((tool) => {
    const inner = tool as {
      readonly name?: string;
      readonly _call?: CallFunction;
      readonly responseFormat?: string;
    };
    const { name, _call } = inner;
    if (name === undefined || _call === undefined) return tool;
    const judged: CallFunction = (input, ...rest) =>
      runOrTell(
        options,
        () => guard.run(name, input, (allowed) => _call.call(tool, allowed, ...rest)),
        (reason) => (inner.responseFormat === 'content_and_artifact' ? [reason, null] : reason),
      );
    return Object.create(tool, { _call: { value: judged, writable: true, configurable: true } }) as Tool;
  });
}

type CallFunction = (input: unknown, ...rest: unknown[]) => Promise<unknown>;

/** Returns messages in which what users say is checked, for the nodes of a graph that call a model. */
export function protectMessages<Given extends object>(
  messages: readonly Given[],
  guard: Guard,
): Promise<Given[]> {
  return Promise.all(
    messages.map((message) =>
      typeOf(message) === 'human' ? mapTexts(message as never, (text) => guard.protect.input(text)) : message,
    ) as Promise<Given>[],
  );
}

/** Returns the answer of a model in which its texts are checked, for the nodes of a graph that call a model. */
export function protectAnswer<Given extends object>(answer: Given, guard: Guard): Promise<Given> {
  return mapTexts(answer as never, (text) => guard.protect.output(text)) as Promise<Given>;
}

async function protectResult(tool: string, result: Message, guard: Guard): Promise<Message> {
  // A command changes the state of the graph; its messages are checked when the model reads them.
  if (typeOf(result) !== 'tool') return result;
  const content = await guard.protect.toolResult(tool, result.content);
  return content === result.content ? result : rebuild(result, content);
}

function typeOf(message: object): string {
  const { type, getType } = message as { type?: string; getType?: () => string };
  return type ?? getType?.call(message) ?? '';
}

async function mapTexts(message: Message, change: (text: string) => Promise<string>): Promise<Message> {
  const { content } = message;
  if (typeof content === 'string') {
    const text = content === '' ? '' : await change(content);
    return text === content ? message : rebuild(message, text);
  }
  if (!Array.isArray(content)) return message;
  let is_changed = false;
  const blocks = await Promise.all(
    (content as { text?: unknown }[]).map(async (block) => {
      if (typeof block.text !== 'string') return block;
      const text = await change(block.text);
      is_changed ||= text !== block.text;
      return { ...block, text };
    }),
  );
  return is_changed ? rebuild(message, blocks) : message;
}

/** Creates the same kind of message with other content. */
function rebuild(message: Message, content: unknown): Message {
  const build = message.constructor as new (fields: object) => Message;
  return new build({ ...message, content });
}
