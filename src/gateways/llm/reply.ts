import type { Verdict } from '../../core/types/index.ts';
import { getApiFamily } from '../../core/wire/families/index.ts';
import type { WireError, WireFormat } from '../../core/wire/wire-format.ts';
import type { JudgedCrossing, Ruling } from '../../runtime/enforcement/types.ts';
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
export function buildDenialReply({ format, describeDenial }: LlmCall, denial: JudgedCrossing): LlmReply {
  return buildErrorReply(format, describeDenial(denial), buildRulingHeaders(denial.ruling));
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
export function buildDecisionHeaders(decision: Verdict['decision'], event_id: string): readonly string[] {
  return ['x-service-decision', decision, 'x-service-event-id', event_id];
}

/** Selects the ruling to report: that on the answer, unless only the request was changed. */
export function selectReportedRuling(input: Ruling, output: Ruling): Ruling {
  return input.verdict.decision === 'modify' && output.verdict.decision === 'allow' ? input : output;
}

/**
 * Returns the provider's headers that are forwarded to the client. It drops headers about the exact bytes of the
 * body, which may change, and those that only this service may set: its own and the CORS headers.
 */
export function filterProviderHeaders(headers: readonly string[]): readonly string[] {
  return headers.filter((_each, at) => {
    const name = headers[at - (at % 2)]!.toLowerCase();
    return (
      !BODY_HEADERS.has(name) && !name.startsWith('x-service-') && !name.startsWith('access-control-allow-')
    );
  });
}

const BODY_HEADERS = new Set([
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'content-md5',
  'digest',
]);
