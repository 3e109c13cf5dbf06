import type { Json } from '../../core/types/index.ts';
import { mcpToolsCheck } from '../../features/tool-pins/operations.ts';
import { approvalsCancel, approvalsShow } from '../../operations/approvals.ts';
import { guardOutput } from '../../operations/guard.ts';
import { interceptTool } from '../../operations/intercept.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { PolicyRefusal } from './policy-refusal.ts';

/** Whom the gateway speaks for. */
export interface GuardSubject {
  readonly agent_id: string | null;
  readonly session_id: string | null;
  readonly user_id: string;
}

/** Has an operation run for whoever calls. */
export type RunOperation = (operation: AnyOperation, input: unknown) => Promise<unknown>;

/** What became of a value: what to go on with, or a sentence that says why it stops here. */
export type GuardResult = { readonly value: Json } | GuardBlock;

export interface GuardBlock {
  readonly blocked: string;
  /** The request that waits for a person, where that is why, and the sentence without what to do about it. */
  readonly pending?: { readonly request_id: string; readonly why: string };
}

/** Asks the policy about what goes to a server and what comes back. Nothing here ever allows by itself. */
export interface PolicyGuard {
  /** @param request_id - a request for approval that may be answered by now; `null` looks for one */
  readonly judgeRequest: (tool: string, input: Json, request_id: string | null) => Promise<GuardResult>;
  readonly judgeResponse: (tool: string, output: Json) => Promise<GuardResult>;
  /** Judges digits of arguments that are not in their value as it is judged. Gives the sentence where they stop here. */
  readonly judgeDigits: (digits: readonly string[]) => Promise<string | null>;
  /**
   * What of the definitions may be shown, by name, and why the others may not.
   * @param server - by which name the server is known here
   */
  readonly checkDefinitions: (
    server: string,
    tools: readonly object[],
  ) => Promise<ReadonlyMap<string, CheckedDefinition>>;
  /** Resolves when a request does not wait for people any more, or after half a minute. */
  readonly waitForDecision: (request_id: string) => Promise<void>;
  /** Takes a request back that waits. */
  readonly cancelApproval: (request_id: string) => Promise<void>;
}

export interface CheckedDefinition {
  /** Why it may be neither shown nor called; `null` if it may. */
  readonly held: string | null;
  /** What is shown instead; `null` if that is the definition itself. */
  readonly replacement: object | null;
}

interface Reply {
  readonly decision: string;
  readonly reason: string;
  readonly rule: string;
  readonly approval?: { readonly request_id: string; readonly status: string };
  readonly modified_input?: Json;
  readonly modified_output?: Json;
}

const WAIT = '30s';

/** A guard for one caller: every question goes to the policy by the road of all operations. */
export function openPolicyGuard(
  road: RunOperation,
  { agent_id, session_id, user_id }: GuardSubject,
): PolicyGuard {
  const ask: RunOperation = (operation, input) => road(operation, input).catch(throwUnavailable);
  const about = { agent_id, session_id };
  return {
    judgeRequest: async (tool, input, request_id) => {
      const approval = { approval_request_id: request_id, reuse_approval: true };
      const reply = (await ask(interceptTool, { tool, input, ...about, ...approval })) as Reply;
      return readReply(reply, input, reply.modified_input);
    },
    judgeResponse: async (tool, output) => {
      const question = { tool, phase: 'response', output, ...about, data_tags: ['untrusted.mcp'] };
      const reply = (await ask(interceptTool, question)) as Reply;
      return readReply(reply, output, reply.modified_output);
    },
    judgeDigits: async (digits) => {
      if (digits.length === 0) return null;
      const reply = (await ask(guardOutput, { text: digits.join('\n'), ...about })) as Reply;
      return reply.decision === 'allow' ? null : buildBlock(reply).blocked;
    },
    checkDefinitions: async (server, tools) => {
      const answer = (await ask(mcpToolsCheck, { server, user_id, ...about, tools })) as {
        tools: readonly { tool: string; status: string; reason: string | null; definition?: object }[];
      };
      return new Map(
        answer.tools.map(({ tool, status, reason, definition }) => [
          tool,
          { held: status === 'pinned' ? null : (reason ?? status), replacement: definition ?? null },
        ]),
      );
    },
    waitForDecision: async (request_id) => {
      await ask(approvalsShow, { request_id, wait: WAIT }).catch(ignoreForbidden);
    },
    cancelApproval: async (request_id) => {
      await ask(approvalsCancel, { request_id });
    },
  };
}

/** A credential that may not read requests does not wait for them; the call is judged all the same. */
function ignoreForbidden(error: unknown): void {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  if (cause?.code !== 'forbidden') throw error;
}

/** Errors that stand for an expected no, by name: their sentences are ours, and hold nothing that was asked about. */
const EXPECTED = ['Refusal', 'SocketFailure', 'StoreFailure'];

/** Where nobody can say what the policy says, nothing passes. */
function throwUnavailable(error: unknown): never {
  const is_expected = error instanceof Error && EXPECTED.includes(error.name);
  const why = is_expected ? error.message : 'The service has a fault; its log says more.';
  throw new PolicyRefusal(`The policy cannot be evaluated, so the call is blocked. ${why}`, error);
}

function readReply(reply: Reply, before: Json, after: Json | undefined): GuardResult {
  switch (reply.decision) {
    case 'allow':
      return { value: before };
    case 'modify':
      return after === undefined
        ? { blocked: 'The policy modifies it, but gave no new value.' }
        : { value: after };
    default:
      return buildBlock(reply);
  }
}

function buildBlock({ reason, rule, approval }: Reply): GuardBlock {
  const said = `Blocked by the policy (rule ${rule}): ${reason}`;
  if (approval === undefined) return { blocked: said };
  const { request_id, status } = approval;
  if (status !== 'pending')
    return { blocked: `${said} The request for approval ${request_id} is ${status}.` };
  return {
    blocked: `${said} The request ${request_id} needs approval; after it, make the same call again.`,
    pending: { request_id, why: said },
  };
}
