import type { Verdict } from '../../core/types/index.ts';
import { getApiFamily } from '../../core/wire/families/index.ts';
import type { WireError, WireFormat } from '../../core/wire/wire-format.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import { PASSIVE_HEADERS } from '../upstream/headers.ts';
import type { LlmCall, LlmReply } from './llm-call.ts';

/** Builds an error reply in the provider's format. */
export function buildErrorReply(
  format: Pick<WireFormat, 'errorBody' | 'family'>,
  error: WireError,
  headers: readonly string[] = [],
): LlmReply {
  return {
    status: error.status,
    headers: [
      'content-type',
      'application/json',
      ...buildRequestIdHeaders(format, error.request_id),
      ...headers,
    ],
    body: format.errorBody(error),
  };
}

/** Builds the reply to a call that the policy denies. */
export function buildDenialReply({ format, describeDenial }: LlmCall, denial: Ruling): LlmReply {
  return buildErrorReply(format, describeDenial(denial), buildRulingHeaders(denial));
}

/** Returns the headers in which clients of the API look for the request id. */
export function buildRequestIdHeaders({ family }: Pick<WireFormat, 'family'>, id: string): readonly string[] {
  const { request_id_header } = getApiFamily(family);
  return ['x-request-id', id, ...(request_id_header === undefined ? [] : [request_id_header, id])];
}

/** Returns the headers that report the decision and its audit event to the caller. */
export function buildRulingHeaders({ verdict, event_id }: Ruling): readonly string[] {
  return buildDecisionHeaders(verdict.decision, event_id);
}

/** Returns the same headers for a decision without a ruling, such as that of a budget. */
export function buildDecisionHeaders(decision: Verdict['decision'], eventId: string): readonly string[] {
  return ['x-service-decision', decision, 'x-service-event-id', eventId];
}

/** Selects the ruling to report: that on the answer, unless only the request was changed. */
export function selectReportedRuling(input: Ruling, output: Ruling): Ruling {
  return input.verdict.decision === 'modify' && output.verdict.decision === 'allow' ? input : output;
}

/**
 * Returns the headers of a provider's answer for the client: those that only inform it, the id of this request, and the
 * provider's id under another name. A type that a browser would run becomes plain text.
 */
export function buildProviderHeaders(headers: readonly string[], requestId: string): readonly string[] {
  const passed: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase();
    const value = headers[at + 1]!;
    if (!PASSIVE_HEADERS.test(name)) continue;
    if (name === 'x-request-id') passed.push('x-upstream-request-id', value);
    else if (name === 'content-type') passed.push(name, INERT_TYPES.test(value) ? value : 'text/plain');
    else passed.push(headers[at]!, value);
  }
  return [...passed, 'x-request-id', requestId, 'x-content-type-options', 'nosniff'];
}

const INERT_TYPES =
  /^(?:application\/(?:problem\+)?json|text\/event-stream|text\/plain)(?: ?; ?charset="?utf-8"?)?$/i;
