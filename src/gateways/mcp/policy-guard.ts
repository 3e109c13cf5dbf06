import type { Json, JsonObject } from '../../core/types/index.ts';
import { interceptTool } from '../../operations/intercept.ts';
import type { RunOperation } from '../../operations/operation.ts';
import type { VerdictReply } from '../../operations/reply.ts';
import { PolicyRefusal } from './policy-refusal.ts';

/** The operations that the guard runs. A feature's operation is a function here. */
export interface GuardPorts {
  readonly run: RunOperation;
  /** Compares tool definitions with the pinned ones. */
  readonly checkTools: (list: ToolListCheck) => Promise<{ readonly tools: readonly ToolPinReply[] }>;
  /** Resolves when an approval request is decided, or after 30 seconds. */
  readonly waitForApproval: (requestId: string) => Promise<void>;
  readonly cancelApproval: (requestId: string) => Promise<void>;
}

/** Tool definitions, as `mcp_tools_check` reads them. */
export interface ToolListCheck extends GuardSubject {
  readonly server: string;
  readonly tools: readonly object[];
}

/** The members that the guard reads in the answer on one tool. */
export interface ToolPinReply {
  readonly tool: string;
  readonly status: 'pinned' | 'quarantined';
  readonly reason: string | null;
  readonly definition?: object;
}

/** The agent, session and user on whose behalf the proxy calls. */
export interface GuardSubject {
  readonly agent_id: string | null;
  readonly session_id: string | null;
  readonly user_id: string;
}

/** The judged value with its source, or the reason why it is blocked. */
export type GuardResult = JudgedValue | GuardBlock;

/** A value that may pass. */
export interface JudgedValue {
  readonly value: Json;
  /** `true` if the value contains text that reads like instructions, and is to be shown to the model as data. */
  readonly is_data: boolean;
}

/** The reason of a block, as a sentence for the agent. */
export interface GuardBlock {
  readonly blocked: string;
  /** The pending approval request if that is the reason, and the reason without instructions. */
  readonly pending?: { readonly request_id: string; readonly why: string };
}

/** Evaluates the policy for requests to a server and for its responses. It never allows by itself. */
export interface PolicyGuard {
  /** @param requestId - an approval request that may be decided by now; `null` searches for one */
  readonly judgeRequest: (tool: string, input: JsonObject, requestId: string | null) => Promise<GuardResult>;
  readonly judgeResponse: (tool: string, output: Json) => Promise<GuardResult>;
  /** Judges what a server says about its tools. */
  readonly judgeInstructions: (tool: string, text: string) => Promise<GuardResult>;
  /**
   * Checks definitions. Returns for each tool name whether the tool may be listed.
   * @param server - the server's name in this proxy
   */
  readonly checkDefinitions: (
    server: string,
    tools: readonly object[],
  ) => Promise<ReadonlyMap<string, CheckedDefinition>>;
  /** Resolves when an approval request is decided, or after 30 seconds. */
  readonly waitForDecision: (requestId: string) => Promise<void>;
  /** Cancels a pending approval request. */
  readonly cancelApproval: (requestId: string) => Promise<void>;
}

/** The result of checking one tool definition. */
export interface CheckedDefinition {
  /** Why the tool must not be listed or called; `null` if it may. */
  readonly held: string | null;
  /** The definition to list instead; `null` lists the original. */
  readonly replacement: object | null;
}

/** Those members that the guard reads. */
type JudgedReply = Pick<
  VerdictReply,
  'decision' | 'reason' | 'help' | 'rule' | 'event_id' | 'approval' | 'marks'
>;

/** Opens the guard of one caller. Each evaluation runs as an ordinary operation. */
export function openPolicyGuard(
  { run, checkTools, waitForApproval, cancelApproval }: GuardPorts,
  { agent_id, session_id, user_id }: GuardSubject,
): PolicyGuard {
  const ask: RunOperation = (operation, input) => run(operation, input).catch(throwUnavailable);
  const about = { agent_id, session_id };
  const judgeAnswer = async (tool: string, output: Json, dataTags: readonly string[]) => {
    const question = { tool, phase: 'response', output, ...about, data_tags: dataTags } as const;
    const reply = await ask(interceptTool, question);
    return readReply(reply, output, reply.modified_output);
  };
  return {
    judgeRequest: async (tool, input, requestId) => {
      const approval = { approval_request_id: requestId, reuse_approval: true };
      const reply = await ask(interceptTool, { tool, input, ...about, ...approval });
      return readReply(reply, input, reply.modified_input);
    },
    judgeResponse: (tool, output) => judgeAnswer(tool, output, ['untrusted.mcp']),
    // The first tag is the label of the values.
    judgeInstructions: (tool, text) => judgeAnswer(tool, text, ['untrusted.tools', 'untrusted.mcp']),
    checkDefinitions: async (server, tools) => {
      const answer = await checkTools({ server, user_id, ...about, tools }).catch(throwUnavailable);
      return new Map(
        answer.tools.map(({ tool, status, reason, definition }) => [
          tool,
          { held: status === 'pinned' ? null : (reason ?? status), replacement: definition ?? null },
        ]),
      );
    },
    waitForDecision: (requestId) => waitForApproval(requestId).catch(throwUnavailable).catch(ignoreForbidden),
    cancelApproval: (requestId) => cancelApproval(requestId).catch(throwUnavailable),
  };
}

/** A credential without permission to read approvals does not wait for them. The call is judged anyway. */
function ignoreForbidden(error: unknown): void {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  if (cause?.code !== 'forbidden') throw error;
}

/** The names of expected errors. Their messages are written by this service and hold no judged text. */
const EXPECTED = ['Refusal', 'SocketFailure', 'StoreFailure'];

/** Fails closed: if the policy cannot be evaluated, the call is blocked. */
function throwUnavailable(error: unknown): never {
  const isExpected = error instanceof Error && EXPECTED.includes(error.name);
  const why = isExpected ? error.message : 'The service has a fault; its log says more.';
  throw new PolicyRefusal(`The policy cannot be evaluated, so the call is blocked. ${why}`, error);
}

function readReply(reply: JudgedReply, before: Json, after: Json | undefined): GuardResult {
  const isData = reply.marks?.includes('data') ?? false;
  switch (reply.decision) {
    case 'allow':
      return { value: before, is_data: isData };
    case 'modify':
      return after === undefined
        ? { blocked: 'The policy modifies it, but gave no new value.' }
        : { value: after, is_data: isData };
    default:
      return buildBlock(reply);
  }
}

function buildBlock({ reason, help, rule, event_id, approval }: JudgedReply): GuardBlock {
  const why = `Blocked by the policy (rule ${rule}, event ${event_id}): ${reason}`;
  const blocked = help === undefined ? why : `${why} ${help}`;
  if (approval === undefined) return { blocked };
  const { request_id, status } = approval;
  // The help names the command that decides on a pending request.
  if (status === 'pending') return { blocked, pending: { request_id, why } };
  return { blocked: `${blocked} The request for approval ${request_id} is ${status}.` };
}
