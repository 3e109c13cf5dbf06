import { type CallToolRequest, ProtocolError as TheirError, type Tool } from '@modelcontextprotocol/client';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { findSourceText } from '../../core/json/value-source.ts';
import { PACKAGE_NAME } from '../../core/names.ts';
import type { Json, JsonObject } from '../../core/types/index.ts';
import { guardToolAnswer, replaceUris, type ToolAnswer } from './content.ts';
import { guardRequestWithApproval } from './elicitation.ts';
import { buildSourceMeta } from './exact-numbers.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { guardInputRequired, guardServerInput, isInputRequired, type ServerInput } from './input-required.ts';
import type { PolicyGuard } from './policy-guard.ts';
import { PolicyRefusal } from './policy-refusal.ts';
import { classifyFailure } from './server-failure.ts';
import type { ToolCatalogueEntry } from './tool-catalogue.ts';
import type { UpstreamServer } from './upstream-server.ts';

const CALL_MS_MAX = 3_600_000;

/** A tool call of an agent. */
export interface ToolCallRequest {
  readonly name: string;
  /** The arguments. Their source is stored if parsing would change their numbers. */
  readonly input: JsonObject;
}

/**
 * Calls a tool by the name that agents use. A refusal is a tool result, so that the agent can read the reason and its
 * MCP client keeps the connection.
 */
export async function callUpstreamTool(
  call: ToolCallRequest,
  server: Server,
  context: ServerContext,
  { servers, logFailure }: GatewayParts,
): Promise<object> {
  const { name } = call;
  const target = servers.find(({ naming }) => name.startsWith(naming.toPolicyName('')));
  if (target === undefined) return buildErrorResult(NO_TOOL);
  try {
    // Checked with every call, because the definition may have changed after it was listed.
    const matching = await target.catalogue.findTools((tool) => target.naming.toAgentName(tool) === name);
    const reason = findBlockReason(matching);
    if (reason !== null) return buildErrorResult(reason);
    return await guardAndCall(target, matching[0]!.tool, call, server, context);
  } catch (error) {
    const [sentence, fault] = describeFailure(error);
    logFailure(target.name, 'a call could not be made', fault);
    return buildErrorResult(sentence);
  }
}

/** Returns the sentence for the agent, and the fault for the log. */
function describeFailure(error: unknown): [sentence: string, fault: unknown] {
  if (error instanceof PolicyRefusal) return [error.message, error.cause ?? error];
  const failure = classifyFailure(error);
  return [`The server behind the gateway has failed: nothing was passed on. ${failure.message}`, failure];
}

const NO_TOOL = 'No server behind the gateway has such a tool: see `tools/list`.';

function findBlockReason(matching: readonly ToolCatalogueEntry[]): string | null {
  const [only, other] = matching;
  if (only === undefined) return NO_TOOL;
  if (other !== undefined) return 'Several tools of the server have this name, and none of them is called.';
  if (only.held === null) return null;
  return `The tool is held back until an operator approves it: ${only.held} See \`customshouse mcp pins show\`.`;
}

async function guardAndCall(
  target: UpstreamServer,
  tool: Tool,
  { input }: ToolCallRequest,
  server: Server,
  context: ServerContext,
): Promise<object> {
  const { guard, naming } = target;
  const judgedName = naming.toPolicyName(tool.name);
  const request = await guardRequestWithApproval(guard, judgedName, input, server, context);
  if ('question' in request) return request.question;
  if ('blocked' in request) return buildErrorResult(request.blocked);
  const stateful = { server: target.name, name: judgedName, input };
  const given = await guardServerInput(target, stateful, server, context);
  if ('blocked' in given) return buildErrorResult(given.blocked);
  const answer = await sendCall(target, tool, { input: request.value, given }, context).catch(
    throwUnanswered,
  );
  if (isInputRequired(answer)) {
    const question = await guardInputRequired(target, stateful, answer, context);
    return 'blocked' in question ? buildErrorResult(question.blocked) : question.answer;
  }
  const marking = openMarkingGuard(guard);
  const judged = await guardToolAnswer(marking.guard, judgedName, answer);
  if ('blocked' in judged) return buildErrorResult(judged.blocked);
  return markAnswer(replaceUris(judged.answer, naming), marking.is_data());
}

/** Opens a guard that notes whether any value that it judged is to be shown to the model as data. */
function openMarkingGuard(guard: PolicyGuard): {
  readonly guard: PolicyGuard;
  readonly is_data: () => boolean;
} {
  let isData = false;
  const judgeResponse: PolicyGuard['judgeResponse'] = async (tool, output) => {
    const judged = await guard.judgeResponse(tool, output);
    isData ||= 'value' in judged && judged.is_data;
    return judged;
  };
  return { guard: { ...guard, judgeResponse }, is_data: () => isData };
}

/** The `_meta` key under which a result names its marks. */
const MARKS = `${PACKAGE_NAME}/marks`;

function markAnswer(answer: ToolAnswer, isData: boolean): ToolAnswer {
  return isData ? { ...answer, _meta: { ...answer._meta, [MARKS]: ['data'] } } : answer;
}

/** Throws a refusal for a call without an answer. The call may have run, so repeating it may run it twice. */
function throwUnanswered(error: unknown): never {
  const failure = classifyFailure(error);
  throw new PolicyRefusal(
    `The MCP server did not answer; the call may have run. ${failure.message}`,
    failure,
  );
}

/** A judged call. */
interface JudgedToolCall {
  readonly input: Json;
  readonly given: ServerInput;
}

async function sendCall(
  { upstream, call_ms }: UpstreamServer,
  tool: Tool,
  { input, given }: JudgedToolCall,
  { mcpReq: { signal, notify, _meta } }: ServerContext,
): Promise<ToolAnswer> {
  const progressToken = _meta?.progressToken;
  // Headers that mirror arguments follow the approved definition. Checking results against the output schema is left
  // to the agent.
  const { outputSchema: _unchecked, ...toolDefinition } = tool;
  const options = {
    signal,
    toolDefinition: toolDefinition as Tool,
    timeout: call_ms,
    // Input requests of the server are forwarded to the client.
    allowInputRequired: true,
    maxTotalTimeout: Math.max(call_ms, CALL_MS_MAX),
    ...(progressToken !== undefined && {
      resetTimeoutOnProgress: true,
      // Forwards the numbers only: the message next to them is text of the server that was not judged.
      onprogress: ({ progress, total }: { progress: number; total?: number | undefined }) =>
        void notify({
          method: 'notifications/progress',
          params: { progressToken, progress, ...(total !== undefined && { total }) },
        }).catch(() => {}),
    }),
  };
  const Source = buildSourceMeta(findSourceText(input))._meta;
  const call = {
    name: tool.name,
    arguments: input as Record<string, unknown>,
    ...given.params,
    _meta: { ...given.meta, ...Source },
  } as CallToolRequest['params'];
  try {
    return (await upstream.use((client) => client.callTool(call, options))) as ToolAnswer;
  } catch (error) {
    // The server's reason for an error goes to the agent, and is judged like any result.
    if (!(error instanceof TheirError)) throw error;
    return { isError: true, content: [{ type: 'text', text: error.message }] };
  }
}

function buildErrorResult(sentence: string): object {
  return { isError: true, content: [{ type: 'text', text: sentence }] };
}
