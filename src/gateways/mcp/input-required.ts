import { CLIENT_CAPABILITIES_META_KEY, type Server, type ServerContext } from '@modelcontextprotocol/server';
import type { Json, JsonObject } from '../../core/types/index.ts';
import { guardContent, removeMeta } from './content.ts';
import { findElicitationCapability, isApprovalKey } from './elicitation.ts';
import type { GuardBlock } from './policy-guard.ts';
import type { StatefulRequest } from './request-state.ts';
import type { UpstreamServer } from './upstream-server.ts';

/** The additions to a request to a server: answers to its input requests, and its state. */
export interface ServerInput {
  readonly params: { readonly inputResponses?: object; readonly requestState?: string };
  /** The client's elicitation capability, as far as the proxy forwards it. */
  readonly meta: object;
}

const FOREIGN_STATE =
  'The `requestState` belongs to another request or client, or has expired. Make the call again without it.';

/** Judges a client's answers to a server, as a call of the tool `elicitation/create`. */
export async function guardServerInput(
  { guard, naming, states }: UpstreamServer,
  request: StatefulRequest,
  server: Server,
  context: ServerContext,
): Promise<ServerInput | GuardBlock> {
  const { inputResponses, requestState } = context.mcpReq;
  const given = Object.entries(inputResponses ?? {}).filter(([key]) => !isApprovalKey(key));
  let responses: Json = Object.fromEntries(given) as JsonObject;
  if (given.length > 0) {
    const judged = await guard.judgeRequest(naming.toPolicyName('elicitation/create'), responses, null);
    if ('blocked' in judged) return judged;
    responses = judged.value;
  }
  const signed = requestState<string>();
  const state = signed === undefined ? null : await states.verify(signed, request, context);
  if (signed !== undefined && state === null) return { blocked: FOREIGN_STATE };
  const elicitation = findElicitationCapability(server, context);
  return {
    params: {
      ...(given.length > 0 && { inputResponses: responses as object }),
      ...(state !== null && { requestState: state }),
    },
    meta: elicitation === undefined ? {} : { [CLIENT_CAPABILITIES_META_KEY]: { elicitation } },
  };
}

interface InputRequired {
  readonly resultType?: unknown;
  readonly inputRequests?: Readonly<Record<string, { readonly method?: unknown }>>;
  readonly requestState?: unknown;
}

/** Returns whether a server requires input before it answers. */
export function isInputRequired(answer: object): answer is InputRequired {
  return (answer as InputRequired).resultType === 'input_required';
}

const NOT_PASSED = 'The server asks for something that is not passed on: only questions to the person are.';

/** Judges the input requests of a server as a result of the tool. Returns the answer for the client. */
export async function guardInputRequired(
  { guard, states }: UpstreamServer,
  request: StatefulRequest,
  { inputRequests, requestState }: InputRequired,
  context: ServerContext,
): Promise<{ readonly answer: object } | GuardBlock> {
  const requests = removeMeta(inputRequests ?? {});
  for (const [key, question] of Object.entries(requests))
    if (question?.method !== 'elicitation/create' || isApprovalKey(key)) return { blocked: NOT_PASSED };
  const stop = await guardContent(guard, request.name, requests);
  if (stop !== null) return { blocked: stop };
  return {
    answer: {
      resultType: 'input_required',
      ...(Object.keys(requests).length > 0 && { inputRequests: requests }),
      ...(typeof requestState === 'string' && {
        requestState: await states.sign(requestState, request, context),
      }),
    },
  };
}
