import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { JsonObject } from '../../core/types/index.ts';
import type { GuardBlock, GuardResult, PolicyGuard } from './policy-guard.ts';

/** The outcome of a request: the judged value, a block, or a question for the client's user. */
export type ElicitationResult = GuardResult | { readonly question: object };

/**
 * Judges a request. If it needs approval and the client supports elicitation, the client shows its user the approval
 * request. The user's answer approves nothing, because the user is not known to be an operator. After the user
 * accepts, the call waits up to 30 seconds for the decision.
 */
export async function guardRequestWithApproval(
  guard: PolicyGuard,
  tool: string,
  input: JsonObject,
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

/** Returns whether a question, or the answer to one, belongs to this service. */
export function isApprovalKey(key: string): boolean {
  return key.startsWith('apr_');
}

/** Returns the client's elicitation capability; `undefined` if it has none. */
export function findElicitationCapability(
  server: Server,
  { mcpReq: { envelope } }: ServerContext,
): ClientCapabilities['elicitation'] {
  const stated = (envelope as Readonly<Record<string, unknown>> | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ] as ClientCapabilities | undefined;
  return (stated ?? server.getClientCapabilities())?.elicitation;
}

interface ElicitationAnswer {
  readonly request_id: string;
  readonly action: 'accept' | 'decline' | 'cancel';
}

/** Reads the user's answer. It names the approval request only; the current status comes from the store. */
function readAnswer({ mcpReq: { inputResponses } }: ServerContext): ElicitationAnswer | null {
  const requestId = Object.keys(inputResponses ?? {}).find((key) => REQUEST.test(key));
  if (requestId === undefined) return null;
  const response = inputResponse(inputResponses, requestId);
  return response.kind === 'elicit' ? { request_id: requestId, action: response.action } : null;
}

/** Returns whether the client can show a form. A capability without modes means forms, as in earlier revisions. */
function canElicit(server: Server, context: ServerContext): boolean {
  const elicitation = findElicitationCapability(server, context);
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function buildQuestion(
  tool: string,
  { request_id, why }: NonNullable<GuardBlock['pending']>,
): ElicitationResult {
  const message = `${tool}: ${why} An approver decides with \`customshouse approvals approve ${request_id}\` (or \`deny\`). Accept when that is done, or decline to cancel the request; accepting here approves nothing.`;
  const form = inputRequired.elicit({ message, requestedSchema: { type: 'object', properties: {} } });
  return { question: inputRequired({ inputRequests: { [request_id]: form } }) };
}
