import type { Verdict } from '../../core/types/index.ts';
import type { WireError, WireFormat } from '../../core/wire/wire-format.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import type { CallDenial, LlmCall, LlmReply } from './llm-call.ts';

/** An error in the provider's own shape. */
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

/** What the policy does not let go on. */
export function buildDenialReply({ format, describeDenial }: LlmCall, denial: CallDenial): LlmReply {
  return buildErrorReply(format, describeDenial(denial), buildRulingHeaders(denial.ruling));
}

/** Names the request where clients of the API look for its name. */
export function buildRequestIdHeaders({ family }: Pick<WireFormat, 'family'>, id: string): readonly string[] {
  return ['x-request-id', id, ...(family === 'anthropic' ? ['request-id', id] : [])];
}

/** Tells the caller what was decided, and by which audit event. */
export function buildRulingHeaders({ verdict, event_id }: Ruling): readonly string[] {
  return buildDecisionHeaders(verdict.decision, event_id);
}

/** The same for a decision that no ruling stands for, such as a budget's. */
export function buildDecisionHeaders(decision: Verdict['decision'], event_id: string): readonly string[] {
  return ['x-service-decision', decision, 'x-service-event-id', event_id];
}

/** Which of two rulings is told of: the answer's, unless only the request was changed. */
export function selectReportedRuling(input: Ruling, output: Ruling): Ruling {
  return input.verdict.decision === 'modify' && output.verdict.decision === 'allow' ? input : output;
}

/**
 * The headers of a provider's answer that go back: not those of its bytes, which may change, nor what only this service
 * may say, of itself and of which web pages may read it.
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

/** The value of a header, the first of several; `null` where there is none. */
export function headerIn(headers: readonly string[], name: string): string | null {
  for (let at = 0; at + 1 < headers.length; at += 2)
    if (headers[at]!.toLowerCase() === name) return headers[at + 1]!;
  return null;
}
