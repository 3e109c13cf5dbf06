import { createHash } from 'node:crypto';
import { canonical } from '../../../core/compile/canonical.ts';
import type { Json } from '../../../core/types.ts';
import { operationNamed } from '../../../operations/index.ts';
import type { LocalRoad } from '../server/road.ts';

/** Whom the gateway speaks for. */
export interface Speaker {
  readonly agent_id: string;
  readonly session_id: string;
  readonly user_id: string;
  /** By which name the upstream server is known here. */
  readonly server: string;
}

/** What became of a value: what to go on with, or a sentence that says why it stops here. */
export type Judged = { readonly value: Json } | { readonly blocked: string };

/** Asks the policy about what goes to the upstream server and what comes back. Nothing here ever allows by itself. */
export interface Guard {
  readonly request: (tool: string, input: Json) => Promise<Judged>;
  readonly response: (tool: string, output: Json) => Promise<Judged>;
  /** Which of the definitions may be shown, by name, and why the others may not. */
  readonly definitions: (tools: readonly object[]) => Promise<ReadonlyMap<string, string | null>>;
}

interface Reply {
  readonly decision: string;
  readonly reason: string;
  readonly rule: string;
  readonly approval?: { readonly request_id: string; readonly status: string };
  readonly modified_input?: Json;
  readonly modified_output?: Json;
}

/** Calls whose request for approval is remembered, so that the same call again can use it. */
const ASKED_MAX = 1_000;

/** A guard for one connection: every question goes to the policy by the road of all operations. */
export function openGuard(road: LocalRoad, speaker: Speaker): Guard {
  const { agent_id, session_id, user_id, server } = speaker;
  const asked = new Map<string, string>();
  const intercept = operationNamed('intercept_tool')!;
  const check = operationNamed('mcp_tools_check')!;
  const about = { agent_id, session_id };

  return {
    request: async (tool, input) => {
      const key = callKey(tool, input);
      const approval_request_id = asked.get(key) ?? null;
      const question = { tool, input, ...about, approval_request_id };
      const reply = (await road.ask(intercept, question)) as Reply;
      asked.delete(key);
      if (reply.approval !== undefined && reply.decision === 'block') {
        if (asked.size >= ASKED_MAX) asked.delete(asked.keys().next().value!);
        if (reply.approval.status === 'pending' || reply.approval.status === 'approved')
          asked.set(key, reply.approval.request_id);
      }
      return judged(reply, input, reply.modified_input);
    },
    response: async (tool, output) => {
      const question = { tool, phase: 'response', output, ...about, data_tags: ['untrusted.mcp'] };
      const reply = (await road.ask(intercept, question)) as Reply;
      return judged(reply, output, reply.modified_output);
    },
    definitions: async (tools) => {
      const answer = (await road.ask(check, { server, user_id, ...about, tools })) as {
        tools: readonly { tool: string; status: string; reason: string | null }[];
      };
      return new Map(
        answer.tools.map(({ tool, status, reason }) => [
          tool,
          status === 'pinned' ? null : (reason ?? status),
        ]),
      );
    },
  };
}

function judged(reply: Reply, before: Json, after: Json | undefined): Judged {
  switch (reply.decision) {
    case 'allow':
      return { value: before };
    case 'modify':
      return after === undefined ? { blocked: 'The policy changes it, and says not how.' } : { value: after };
    default:
      return { blocked: sentence(reply) };
  }
}

function sentence({ reason, rule, approval }: Reply): string {
  const said = `Blocked by the policy (rule ${rule}): ${reason}`;
  if (approval === undefined) return said;
  if (approval.status === 'pending')
    return `${said} A person has to approve the request ${approval.request_id}; then make the same call again.`;
  return `${said} The request for approval ${approval.request_id} is ${approval.status}.`;
}

function callKey(tool: string, input: Json): string {
  return createHash('sha256')
    .update(`${tool}\n${canonical(input)}`)
    .digest('base64');
}
