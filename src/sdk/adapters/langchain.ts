/**
 * Guards agents of LangChain and graphs of LangGraph: prompts, tool calls, tool results and answers, whole and
 * streamed.
 */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import { runChecked } from '../tool-error.ts';
import { type AdapterOptions, runOrReportBlock } from './blocked-call.ts';
import { findRefusal, getHeldCalls } from './held-calls.ts';
import { guardChatModel } from './langchain-model.ts';
import { protectAnswer, protectMessages, readMessageText, rebuildMessage } from './langchain-texts.ts';

/** The part of the package `langchain` that the middleware needs: pass `import * as langchain from 'langchain'`. */
export interface LangChainModule<Middleware> {
  readonly createMiddleware: (config: never) => Middleware;
  readonly ToolMessage: new (fields: never) => object;
}

interface Message {
  readonly content: unknown;
  readonly tool_calls?: readonly ToolCallRequest['toolCall'][];
}

interface ToolCallRequest {
  readonly toolCall: { readonly id?: string; readonly name: string; readonly args: unknown };
  readonly tool?: LangChainTool;
}

interface LangChainTool {
  readonly name?: string;
  readonly _call?: (input: unknown, ...rest: unknown[]) => Promise<unknown>;
  readonly responseFormat?: string;
}

interface ModelRequest {
  readonly messages: readonly Message[];
  readonly model: object;
}

/** An answer, or what an agent with `responseFormat` makes of it. */
type ModelAnswer = Message | { readonly structuredResponse: unknown; readonly messages: readonly Message[] };

/**
 * Returns the middleware for `createAgent`. Prompts are checked before the model sees them, tool calls before they run,
 * their results and the answers before the agent continues; every kind of stream shows tokens as far as they are checked.
 * A blocked prompt or answer rejects with `BlockedError`. Make it the last of the list, so that it checks what other
 * middleware sends to the model.
 */
export function createLangChainMiddleware<Middleware>(
  { createMiddleware, ToolMessage }: LangChainModule<Middleware>,
  guard: Guard,
  options: AdapterOptions = {},
): Middleware {
  const buildToolMessage = ({ toolCall }: ToolCallRequest, content: string) =>
    new ToolMessage({
      content,
      tool_call_id: toolCall.id ?? '',
      name: toolCall.name,
      status: 'error',
    } as never);
  const config = {
    name: 'Customshouse',
    wrapModelCall: async (
      request: ModelRequest,
      handler: (request: ModelRequest) => Promise<ModelAnswer>,
    ) => {
      const messages = await protectMessages(request.messages, guard);
      const checked = new Set<string>();
      const model = guardChatModel(request.model, guard, { onAnswer: (text) => checked.add(text) });
      return protectUnchecked(await handler({ ...request, model, messages }), guard, checked);
    },
    wrapToolCall: (request: ToolCallRequest, handler: (request: ToolCallRequest) => Promise<object>) =>
      runOrReportBlock(
        options,
        () => runToolCall(request, handler, guard),
        (reason) => buildToolMessage(request, reason),
      ),
  };
  return createMiddleware(config as never);
}

/**
 * Returns the same chat model behind the guard, for the nodes of a graph. Prompts are checked before the model sees
 * them, answers before the graph does; every kind of stream shows tokens as far as they are checked. A blocked prompt or
 * answer rejects with `BlockedError`. Throws if it is not a chat model, or a chat model with bound tools or settings.
 */
export function guardLangChainModel<Model extends object>(model: Model, guard: Guard): Model {
  return guardChatModel(model, guard, { checks_prompts: true });
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
    const { name, _call, responseFormat } = tool as LangChainTool;
    if (name === undefined || _call === undefined) return tool;
    return replaceCall(tool, (input, ...rest) =>
      runOrReportBlock(
        options,
        async () => {
          const [, config] = rest as [unknown, { toolCall?: { id?: string } }?];
          const call = { id: config?.toolCall?.id, tool: name, input };
          const allowed = await getHeldCalls(guard).decide(call);
          return runTool(name, () => _call.call(tool, allowed, ...rest), guard);
        },
        (reason) => (responseFormat === 'content_and_artifact' ? [reason, null] : reason),
      ),
    );
  });
}

function replaceCall<Tool extends object>(tool: Tool, call: NonNullable<LangChainTool['_call']>): Tool {
  return Object.create(tool, { _call: { value: call, writable: true, configurable: true } }) as Tool;
}

/** Checks a call, runs the tool, and checks its result inside the tool, so that callbacks and streams have it checked. */
async function runToolCall(
  request: ToolCallRequest,
  handler: (request: ToolCallRequest) => Promise<object>,
  guard: Guard,
): Promise<object> {
  const { toolCall, tool } = request;
  const { id, name } = toolCall;
  const args = await getHeldCalls(guard).decide({ id, tool: name, input: toolCall.args });
  let isChecked = false;
  const given =
    tool?._call === undefined
      ? tool
      : replaceCall(tool, async (...call) => {
          const output = await runTool(name, () => tool._call!(...call), guard);
          isChecked = true;
          return output;
        });
  const work = () => handler({ ...request, toolCall: { ...toolCall, args }, ...(given && { tool: given }) });
  if (given === tool) return runTool(name, work, guard) as Promise<object>;
  const result = await work();
  return isChecked ? result : protectDirect(name, result, guard);
}

/** Runs a tool. Returns its checked result, or throws its checked error. */
function runTool(tool: string, work: () => Promise<unknown>, guard: Guard): Promise<unknown> {
  return runChecked(work, (value) => protectOutput(tool, value, guard) as Promise<typeof value>);
}

/** Checks an answer that is not that of the guarded model, because another middleware replaced it. */
async function protectUnchecked(
  answer: ModelAnswer,
  guard: Guard,
  checked: ReadonlySet<string>,
): Promise<ModelAnswer> {
  if ('structuredResponse' in answer) return protectStructured(answer, guard, checked);
  return checked.has(readMessageText(answer)) ? answer : protectAnswer(answer, guard);
}

/** A structured answer that would be masked is blocked, because its masked form may break its schema. */
async function protectStructured(
  answer: Extract<ModelAnswer, { structuredResponse: unknown }>,
  guard: Guard,
  checked: ReadonlySet<string>,
): Promise<ModelAnswer> {
  // A model gives such an answer as call arguments.
  const calls = answer.messages.flatMap(({ tool_calls = [] }) => tool_calls);
  for (const { id, name, args } of calls) {
    const error = findRefusal({ id, tool: name, input: args });
    if (error !== undefined) throw error;
  }
  const text = JSON.stringify(answer.structuredResponse) ?? '';
  const verdict = await guard.output(text);
  if (verdict.decision !== 'allow') throw new BlockedError({ ...verdict, decision: 'block' });
  const messages = await Promise.all(
    answer.messages.map((message) =>
      checked.has(readMessageText(message)) ? message : protectAnswer(message, guard),
    ),
  );
  return { ...answer, messages };
}

/** Returns the checked result of a tool: a value, a message, or a command that changes the state of a graph. */
async function protectOutput(tool: string, output: unknown, guard: Guard): Promise<unknown> {
  const isDirect = typeof output === 'object' && output !== null && 'lc_direct_tool_output' in output;
  return isDirect ? protectDirect(tool, output, guard) : guard.protect.toolResult(tool, output);
}

/** Checks the content of a message that a tool gave, or what a command changes in the state. */
async function protectDirect(tool: string, output: object, guard: Guard): Promise<object> {
  if (isMessage(output)) {
    const { content } = output;
    if (content === '') return output;
    const checked = await guard.protect.toolResult(tool, content);
    return checked === content ? output : rebuildMessage(output, { content: checked });
  }
  const { update } = output as { update?: object };
  // The state is changed by an object, or by pairs of a name and a value.
  const pairs = Array.isArray(update) ? (update as [string, unknown][]) : Object.entries(update ?? {});
  const checked = await Promise.all(
    pairs.map(async ([name, value]) => [name, await protectState(tool, value, guard)]),
  );
  const copy = Object.create(
    Object.getPrototypeOf(output) as object,
    Object.getOwnPropertyDescriptors(output),
  ) as object;
  return Object.assign(copy, { update: Array.isArray(update) ? checked : Object.fromEntries(checked) });
}

/** Checks a value that a tool puts into the state, from where it can reach a prompt. */
async function protectState(tool: string, value: unknown, guard: Guard): Promise<unknown> {
  if (isMessage(value)) return protectDirect(tool, value, guard);
  if (Array.isArray(value) && value.some(isMessage))
    return Promise.all(value.map((each) => protectState(tool, each, guard)));
  return guard.protect.toolResult(tool, value);
}

function isMessage(value: unknown): value is Message {
  return typeof (value as { _getType?: unknown } | null)?._getType === 'function';
}
