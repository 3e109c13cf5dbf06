/** Guards programs that use the OpenAI Agents SDK: prompts, tool calls, tool results and answers, whole and streamed. */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import type { GuardStream } from '../types.ts';
import { type AdapterOptions, overrideMembers, runOrReportBlock } from './blocked-call.ts';
import { getHeldCalls, runHeldCall } from './held-calls.ts';
import { mapPromptTexts } from './prompt-texts.ts';

type Item = Readonly<Record<string, unknown>>;

interface ModelRequest {
  readonly input: string | readonly Item[];
  readonly handoffs?: readonly { readonly toolName: string }[];
}

interface ModelResponse {
  readonly output: readonly Item[];
}

/** A model of the SDK: what `getResponse` and `getStreamedResponse` give is checked. */
interface AgentModel {
  getResponse(request: never): Promise<object>;
  getStreamedResponse(request: never): AsyncIterable<object>;
}

/**
 * Returns the same model behind the guard. Prompts are checked before the model sees them, answers before the program
 * does; what a rule masks is masked. A blocked prompt or answer rejects with `BlockedError`.
 */
export function guardOpenAIModel<Model extends AgentModel>(model: Model, guard: Guard): Model {
  const plain = model as unknown as {
    getResponse: (request: ModelRequest) => Promise<ModelResponse>;
    getStreamedResponse: (request: ModelRequest) => AsyncIterable<Item>;
  };
  return overrideMembers(model, {
    getResponse: async (request: ModelRequest) => {
      const response = await plain.getResponse(await protectRequest(guard, request));
      return protectResponse(guard, response, request);
    },
    getStreamedResponse: (request: ModelRequest) =>
      guardEvents(guard, plain.getStreamedResponse.bind(model), request),
  });
}

/**
 * Returns the same tools behind the guard. A blocked call does not run. The shell, the editor and the computer of local
 * tools are guarded too. Hosted tools run elsewhere and are unchanged.
 */
export function guardOpenAITools<Tool extends object>(
  tools: readonly Tool[],
  guard: Guard,
  options: AdapterOptions = {},
): Tool[] {
  return tools.map((tool) => {
    const { name, invoke } = tool as LocalTool;
    if (name === undefined) return tool;
    if (invoke === undefined) return guardLocalTool(tool as LocalTool, name, guard) as Tool;
    const judged: InvokeFunction = (context, input, details) =>
      runOrReportBlock(
        options,
        () => {
          const id = (details as { toolCall?: { callId?: string } } | undefined)?.toolCall?.callId;
          return runHeldCall(guard, { id, tool: name, input: parseArguments(input) }, (allowed) =>
            invoke.call(tool, context, JSON.stringify(allowed), details),
          );
        },
        (reason) => reason,
      );
    return { ...tool, invoke: judged };
  });
}

interface LocalTool {
  readonly name?: string;
  readonly invoke?: InvokeFunction;
  readonly shell?: object;
  readonly editor?: object;
  readonly computer?: unknown;
}

/** Members of a computer that are no actions. */
const NO_ACTIONS: ReadonlySet<string> = new Set(['environment', 'dimensions', 'initRun', 'screenshot']);

/** A blocked call of such a tool throws `BlockedError`, which the SDK passes to the model as the failure of the tool. */
function guardLocalTool<Tool extends LocalTool>(tool: Tool, name: string, guard: Guard): Tool {
  const guardMethods = <Owner extends object>(owner: Owner): Owner =>
    new Proxy(owner, {
      get: (target, member) => {
        const value: unknown = Reflect.get(target, member, target);
        if (typeof value !== 'function') return value;
        if (typeof member !== 'string' || NO_ACTIONS.has(member)) return value.bind(target);
        return (...given: unknown[]) =>
          runMethod(guard, member === 'run' ? name : `${name}.${member}`, given, value.bind(target));
      },
    });
  const guardComputer = (computer: unknown): unknown => {
    if (typeof computer === 'function')
      return async (...given: unknown[]) => guardComputer(await computer(...given));
    if (typeof computer !== 'object' || computer === null) return computer;
    const { create } = computer as { create?: unknown };
    return typeof create === 'function'
      ? { ...computer, create: guardComputer(create) }
      : guardMethods(computer);
  };
  if (tool.shell !== undefined) return { ...tool, shell: guardMethods(tool.shell) };
  if (tool.editor !== undefined) return { ...tool, editor: guardMethods(tool.editor) };
  return tool.computer === undefined ? tool : { ...tool, computer: guardComputer(tool.computer) };
}

/** Runs a method of a local tool. Its last argument may be the context of the run, which no model wrote. */
function runMethod(
  guard: Guard,
  name: string,
  given: readonly unknown[],
  method: (...given: unknown[]) => unknown,
): Promise<unknown> {
  const contextAt = given.findIndex(isContext);
  const values = contextAt < 0 ? given : given.slice(0, contextAt);
  const input = values.length === 1 && typeof values[0] === 'object' ? values[0] : { arguments: values };
  return guard.run(name, input, (allowed) => {
    const list = input === values[0] ? [allowed] : (allowed as { arguments: unknown[] }).arguments;
    return method(...list, ...given.slice(values.length));
  });
}

function isContext(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('runContext' in value || 'usage' in value);
}

type InvokeFunction = (context: unknown, input: string, details?: unknown) => Promise<unknown>;

/** Arguments that are no JSON are judged as a text, and the tool refuses them itself. */
function parseArguments(input: string): unknown {
  try {
    return JSON.parse(input === '' ? '{}' : input);
  } catch {
    return { input };
  }
}

/** Returns guardrails for agents whose model cannot be wrapped. They block; they cannot mask, so a `modify` blocks too. */
export function createOpenAIGuardrails(guard: Guard): {
  readonly inputGuardrails: {
    name: string;
    runInParallel: boolean;
    execute: (args: unknown) => Promise<GuardrailAnswer>;
  }[];
  readonly outputGuardrails: { name: string; execute: (args: unknown) => Promise<GuardrailAnswer> }[];
} {
  const answer = ({
    decision,
    rule,
    reason,
    event_id,
  }: Awaited<ReturnType<Guard['input']>>): GuardrailAnswer => ({
    tripwireTriggered: decision !== 'allow',
    outputInfo: { rule, reason, event_id },
  });
  const quiet = async (check: () => ReturnType<Guard['input']>): Promise<GuardrailAnswer> => {
    try {
      return answer(await check());
    } catch (error) {
      if (error instanceof BlockedError) return answer(error.verdict);
      throw error;
    }
  };
  const readInput = async (args: unknown) => {
    const { input } = args as { input: string | readonly Item[] };
    return quiet(() => guard.input(typeof input === 'string' ? input : collectTexts(input).join('\n')));
  };
  const readOutput = async (args: unknown) => {
    const { agentOutput } = args as { agentOutput: unknown };
    return quiet(() =>
      guard.output(typeof agentOutput === 'string' ? agentOutput : (JSON.stringify(agentOutput) ?? '')),
    );
  };
  return {
    inputGuardrails: [{ name: 'customshouse-input', runInParallel: false, execute: readInput }],
    outputGuardrails: [{ name: 'customshouse-output', execute: readOutput }],
  };
}

interface GuardrailAnswer {
  readonly tripwireTriggered: boolean;
  readonly outputInfo: unknown;
}

function collectTexts(items: readonly Item[]): readonly string[] {
  return items
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) =>
      typeof content === 'string' ? [content] : ((content ?? []) as Item[]).map(readText),
    );
}

function readText({ text }: Item): string {
  return typeof text === 'string' ? text : '';
}

async function protectRequest(guard: Guard, request: ModelRequest): Promise<ModelRequest> {
  const { input } = request;
  if (typeof input === 'string') return { ...request, input: await guard.protect.input(input) };
  const items = await Promise.all(
    input.map(async (item) => {
      if (item.role !== 'user') return item;
      const content = await mapPromptTexts(item.content, (text) => guard.protect.input(text));
      return content === item.content ? item : { ...item, content, providerData: undefined };
    }),
  );
  return { ...request, input: items };
}

/** Checks the items of an answer. If one changes, the provider's own form of the answer is left out. */
async function protectResponse(
  guard: Guard,
  response: ModelResponse,
  { handoffs = [] }: ModelRequest,
): Promise<ModelResponse> {
  const { output } = response;
  const handoffNames = new Set(handoffs.map(({ toolName }) => toolName));
  const checked = await Promise.all(
    output.map((item) =>
      item.type === 'function_call' && handoffNames.has(String(item.name))
        ? protectHandoff(guard, item)
        : item.type === 'function_call'
          ? holdCall(guard, item)
          : mapTexts(item, (text) => guard.protect.output(text)),
    ),
  );
  const isChanged = checked.some((item, at) => item !== output[at]);
  return { ...response, output: checked, ...(isChanged && { providerData: {} }) };
}

/** A handoff runs no tool, so its arguments, which the next agent reads, are checked with the answer. */
async function protectHandoff(guard: Guard, item: Item): Promise<Item> {
  const given = parseArguments(String(item.arguments ?? ''));
  const allowed = await guard.protect.tool(String(item.name), given);
  return allowed === given ? item : { ...item, arguments: JSON.stringify(allowed), providerData: undefined };
}

async function holdCall(guard: Guard, item: Item): Promise<Item> {
  const given = parseArguments(String(item.arguments ?? ''));
  const call = { id: String(item.callId), tool: String(item.name), input: given };
  const kept = await getHeldCalls(guard).hold(call);
  return kept === given ? item : { ...item, arguments: JSON.stringify(kept), providerData: undefined };
}

/** Members of an item that hold the text of the model and its reasoning. */
const CONTENT_MEMBERS = ['content', 'rawContent'];
const TEXT_MEMBERS = ['text', 'refusal', 'transcript'];

/**
 * Changes the texts of a message or of reasoning; calls of tools are judged when they run. If one changes, the
 * provider's own form of the item is left out.
 */
async function mapTexts(item: Item, change: (text: string) => Promise<string>): Promise<Item> {
  const changed: Record<string, unknown> = {};
  for (const member of CONTENT_MEMBERS) {
    const content = item[member];
    const checked = Array.isArray(content)
      ? await mapParts(content as Item[], change)
      : typeof content === 'string'
        ? await change(content)
        : content;
    if (checked !== content) changed[member] = checked;
  }
  return Object.keys(changed).length === 0 ? item : { ...item, ...changed, providerData: undefined };
}

async function mapParts(
  parts: readonly Item[],
  change: (text: string) => Promise<string>,
): Promise<readonly Item[]> {
  const checked = await Promise.all(
    parts.map(async (part) => {
      const member = TEXT_MEMBERS.find((each) => typeof part[each] === 'string');
      if (member === undefined) return part;
      const text = await change(String(part[member]));
      return text === part[member] ? part : { ...part, [member]: text, providerData: undefined };
    }),
  );
  return checked.every((part, at) => part === parts[at]) ? parts : checked;
}

/** Raw and unknown events are left out, because they hold text that is not checked yet. */
async function* guardEvents(
  guard: Guard,
  open: (request: ModelRequest) => AsyncIterable<Item>,
  request: ModelRequest,
): AsyncGenerator<Item> {
  let stream: GuardStream | null = null;
  for await (const event of open(await protectRequest(guard, request))) {
    if (event.type === 'output_text_delta') {
      stream ??= guard.openStream();
      const { text, verdict } = await stream.push(String(event.delta));
      if (verdict?.decision === 'block') throw new BlockedError(verdict);
      if (text !== '') yield { type: 'output_text_delta', delta: text };
      continue;
    }
    if (event.type === 'response_started') yield event;
    if (event.type !== 'response_done') continue;
    const { text, verdict } = (await stream?.end()) ?? { text: '', verdict: null };
    if (verdict?.decision === 'block') throw new BlockedError(verdict);
    if (text !== '') yield { type: 'output_text_delta', delta: text };
    yield {
      ...event,
      response: await protectResponse(guard, event.response as ModelResponse, request),
    };
  }
}
