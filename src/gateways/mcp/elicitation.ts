import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Json } from '../../core/types/index.ts';
import type { GuardBlock, GuardResult, PolicyGuard } from './policy-guard.ts';

/** What a request comes to: what to go on with, why it stops, or a question for the person at the client. */
export type ElicitationResult = GuardResult | { readonly question: object };

/**
 * Has a request judged. Where it waits for a person's approval and the client can put a question to whoever sits before
 * it, that one is asked to see to it: the answer approves nothing, for nobody there is known to be an operator. Once
 * they say that it is done, it is waited half a minute for the approval itself.
 */
export async function guardRequestWithApproval(
  guard: PolicyGuard,
  tool: string,
  input: Json,
  server: Server,
  context: ServerContext,
): Promise<ElicitationResult> {
  const answer = readAnswer(context);
  if (answer?.action === 'decline') {
    await guard.cancelApproval(answer.request_id);
    return {
      blocked: `The request for approval ${answer.request_id} was cancelled: it was declined at the client.`,
    };
  }
  if (answer?.action === 'accept') await guard.waitForDecision(answer.request_id);
  const judged = await guard.judgeRequest(tool, input, answer?.request_id ?? null);
  if (!('blocked' in judged) || judged.pending === undefined) return judged;
  return answer === null && canElicit(server, context) ? buildQuestion(tool, judged.pending) : judged;
}

const REQUEST = /^apr_[0-9a-f]{24}$/;

/** Whether a question, or an answer to one, is this service's own. */
export function isApprovalKey(key: string): boolean {
  return key.startsWith('apr_');
}

/** What the client says of the questions that it can put to a person; `undefined` if none. */
export function findElicitationCapability(
  server: Server,
  { mcpReq: { envelope } }: ServerContext,
): ClientCapabilities['elicitation'] {
  const said = (envelope as Readonly<Record<string, unknown>> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] as
    | ClientCapabilities
    | undefined;
  return (said ?? server.getClientCapabilities())?.elicitation;
}

interface ElicitationAnswer {
  readonly request_id: string;
  readonly action: 'accept' | 'decline' | 'cancel';
}

/** What the client brings of the person's answer. It names the request; what that is by now, only the store says. */
function readAnswer({ mcpReq: { inputResponses } }: ServerContext): ElicitationAnswer | null {
  const request_id = Object.keys(inputResponses ?? {}).find((key) => REQUEST.test(key));
  if (request_id === undefined) return null;
  const response = inputResponse(inputResponses, request_id);
  return response.kind === 'elicit' ? { request_id, action: response.action } : null;
}

/** Whether the client says that it can show a form. One without any words about how can, as in earlier revisions. */
function canElicit(server: Server, context: ServerContext): boolean {
  const elicitation = findElicitationCapability(server, context);
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function buildQuestion(
  tool: string,
  { request_id, why }: NonNullable<GuardBlock['pending']>,
): ElicitationResult {
  const message = `${tool}: ${why} An approver decides with \`service approvals approve ${request_id}\` (or \`deny\`). Accept when that is done, or decline to cancel the request; accepting here approves nothing.`;
  const form = inputRequired.elicit({ message, requestedSchema: { type: 'object', properties: {} } });
  return { question: inputRequired({ inputRequests: { [request_id]: form } }) };
}
